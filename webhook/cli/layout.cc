#include "cli/layout.h"

#include <algorithm>

#include "core/text.h"

namespace podium {

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string Painted(std::string_view text, std::string_view color, bool has_color) {
  if (!has_color) return std::string(text);
  return std::string(color).append(text).append("\x1b[0m");
}

std::string Wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > indent && column + 1 + Width(word) > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out.push_back(' ');
      ++column;
    }
    out.append(word);
    column += Width(word);
  }
  return out;
}

std::string Counted(std::int64_t count, std::string_view noun) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, ",");
  return digits.append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string PrintableLines(std::string_view text) {
  std::string out;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += Printable(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  return out + Printable(text);
}

}  // namespace podium
