// One well-formed UTF-8 sequence at a time (RFC 3629, section 4). Only for wire's own sources: core/text.h says whether
// a whole text is well-formed, this says where it is not.
#pragma once

#include <cstddef>
#include <string_view>

namespace podium {

constexpr bool IsContinuation(unsigned char byte, unsigned char low = 0x80, unsigned char high = 0xbf) {
  return byte >= low && byte <= high;
}

// Length of the sequence of two to four bytes that `text` begins with, or 0. Requires: text is not empty.
constexpr std::size_t MultiByteLength(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char lead = at(0);
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return IsContinuation(at(1)) ? 2 : 0;
  if (lead < 0xf0) {
    const bool second = IsContinuation(at(1), lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && IsContinuation(at(2)) ? 3 : 0;
  }
  const bool second = IsContinuation(at(1), lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
  return second && IsContinuation(at(2)) && IsContinuation(at(3)) ? 4 : 0;
}

}  // namespace podium
