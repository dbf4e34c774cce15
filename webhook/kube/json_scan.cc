#include "kube/json_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace podium {
namespace {

constexpr std::size_t kBlock = 64;

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Which bytes stand behind an active backslash: of a run of backslashes every second one is itself escaped.
// Source: simdjson, generic/stage1/json_escape_scanner.h (the subtraction carries through a run).
struct Escapes {
  std::uint64_t escaped = 0;
  std::uint64_t active = 0;  // the backslashes that escape something
};

Escapes FindEscapes(std::uint64_t backslashes, std::uint64_t first_is_escaped) {
  if (backslashes == 0) return {first_is_escaped, 0};
  constexpr std::uint64_t kOdd = 0xAAAA'AAAA'AAAA'AAAA;
  const std::uint64_t candidates = backslashes & ~first_is_escaped;
  const std::uint64_t codes = (((candidates << 1) | kOdd) - candidates) ^ kOdd;
  return {codes ^ (backslashes | first_is_escaped), codes & backslashes};
}

// Bit i of the result: an odd number of bits up to and with i.
std::uint64_t PrefixXor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto tail = [&out, code](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Reads what stands behind "\u" and moves `text` behind it; a pair of surrogates is one character.
std::optional<std::uint32_t> TakeHex(std::string_view& text) {
  std::uint32_t code = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  text.remove_prefix(4);
  return code;
}

std::optional<std::uint32_t> TakeCodePoint(std::string_view& text) {
  const std::optional<std::uint32_t> high = TakeHex(text);
  if (!high || *high < 0xD800 || *high > 0xDFFF) return high;
  if (*high > 0xDBFF || !text.starts_with("\\u")) return std::nullopt;
  text.remove_prefix(2);
  const std::optional<std::uint32_t> low = TakeHex(text);
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
  return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
}

// Appends the escape that `text` begins with, behind its backslash, and moves `text` behind it.
bool AppendEscape(std::string& out, std::string_view& text) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (text.empty()) return false;
  const char name = text.front();
  text.remove_prefix(1);
  if (name == 'u') {
    const std::optional<std::uint32_t> code = TakeCodePoint(text);
    if (code) AppendUtf8(out, *code);
    return code.has_value();
  }
  const std::size_t index = kNames.find(name);
  if (index == std::string_view::npos) return false;
  out += kMeanings[index];
  return true;
}

}  // namespace

BlockMasks ReadMasksPortably(const char* block) {
  BlockMasks masks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') masks.quotes |= bit;
    if (c == '\\') masks.backslashes |= bit;
    if (c == '{' || c == '[') masks.opens |= bit;
    if (c == '}' || c == ']') masks.closes |= bit;
  }
  return masks;
}

#if defined(__SSE2__)
BlockMasks ReadMasks(const char* block) {
  BlockMasks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // '[' becomes '{', ']' becomes '}'
    const auto bits = [i](__m128i equal) { return std::uint64_t(unsigned(_mm_movemask_epi8(equal))) << (16 * i); };
    masks.quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    masks.backslashes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    masks.opens |= bits(_mm_cmpeq_epi8(lower, _mm_set1_epi8('{')));
    masks.closes |= bits(_mm_cmpeq_epi8(lower, _mm_set1_epi8('}')));
  }
  return masks;
}
#else
BlockMasks ReadMasks(const char* block) { return ReadMasksPortably(block); }
#endif

// --- ContainerScanner -----------------------------------------------------------------------------------------------

std::size_t ContainerScanner::Feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::kOpen) {
    const std::size_t size = std::min(kBlock, bytes.size() - used);
    if (size == kBlock) {
      used += FeedBlock(bytes.data() + used, kBlock);
      continue;
    }
    char padded[kBlock];
    std::memset(padded, ' ', kBlock);  // blanks change nothing
    std::memcpy(padded, bytes.data() + used, size);
    used += FeedBlock(padded, size);
  }
  return used;
}

std::size_t ContainerScanner::FeedBlock(const char* block, std::size_t size) {
  const BlockMasks masks = ReadMasks(block);
  const Escapes escapes = FindEscapes(masks.backslashes, next_escaped_);
  next_escaped_ = (escapes.active >> (size - 1)) & 1;
  const std::uint64_t in_string = PrefixXor(masks.quotes & ~escapes.escaped) ^ in_string_;
  in_string_ = (in_string >> 63) != 0 ? ~std::uint64_t{0} : 0;
  const std::uint64_t opens = masks.opens & ~in_string;
  const std::uint64_t closes = masks.closes & ~in_string;
  const auto opened = static_cast<std::size_t>(std::popcount(opens));
  const auto closed = static_cast<std::size_t>(std::popcount(closes));
  // In most blocks neither the end nor the depth limit can be reached: their brackets need not be walked.
  if (closed < depth_ && depth_ + opened <= max_depth_) {
    depth_ += opened;
    depth_ -= closed;
    return size;
  }
  const std::size_t end = Walk(opens, closes);
  return state_ == State::kOpen ? size : end;
}

// Bracket by bracket. Returns the position behind the one that ended it.
std::size_t ContainerScanner::Walk(std::uint64_t opens, std::uint64_t closes) {
  for (std::uint64_t rest = opens | closes; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    if (((opens >> bit) & 1) != 0) {
      if (++depth_ > max_depth_) state_ = State::kTooDeep;
    } else if (--depth_ == 0) {
      state_ = State::kClosed;
    }
    if (state_ != State::kOpen) return static_cast<std::size_t>(bit) + 1;
  }
  return 0;
}

// --- reading members ------------------------------------------------------------------------------------------------

std::size_t EndOfString(std::string_view text) {
  for (std::size_t quote = text.find('"', 1); quote != std::string_view::npos; quote = text.find('"', quote + 1)) {
    std::size_t backslashes = 0;
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;  // ends at the opening quote at the latest
    if (backslashes % 2 == 0) return quote + 1;
  }
  return std::string_view::npos;
}

void ObjectReader::SkipBlanks() {
  while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
}

bool ObjectReader::Take(char wanted) {
  SkipBlanks();
  if (!rest_.starts_with(wanted)) return false;
  rest_.remove_prefix(1);
  return true;
}

std::optional<std::string_view> ObjectReader::TakeValue() {
  constexpr std::size_t kMaxDepth = 128;
  SkipBlanks();
  std::size_t size = 0;
  if (rest_.starts_with('"')) {
    size = EndOfString(rest_);
    if (size == std::string_view::npos) return std::nullopt;
  } else if (rest_.starts_with('{') || rest_.starts_with('[')) {
    ContainerScanner scanner(kMaxDepth);
    size = scanner.Feed(rest_);
    if (scanner.state() != ContainerScanner::State::kClosed) return std::nullopt;
  } else {
    size = std::min(rest_.find_first_of(",}] \n\r\t"), rest_.size());
    if (size == 0) return std::nullopt;
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

bool ObjectReader::Next() {
  if (complete_ || (!started_ && !Take('{'))) return false;
  const bool first = !std::exchange(started_, true);
  if (Take('}')) {
    SkipBlanks();
    complete_ = rest_.empty();
    return false;
  }
  if (!first && !Take(',')) return false;
  SkipBlanks();
  const std::optional<std::string_view> key = rest_.starts_with('"') ? TakeValue() : std::nullopt;
  if (!key || !Take(':')) return false;
  const std::optional<std::string_view> value = TakeValue();
  if (!value) return false;
  key_ = key->substr(1, key->size() - 2);
  value_ = *value;
  return true;
}

std::optional<std::string_view> MemberOf(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  ObjectReader in(object);
  while (in.Next())
    if (in.key() == key) found = in.value();
  return in.complete() ? found : std::nullopt;
}

std::optional<std::string> TextOf(std::string_view json) {
  if (!json.starts_with('"') || EndOfString(json) != json.size()) return std::nullopt;
  json = json.substr(1, json.size() - 2);
  std::string text;
  while (!json.empty()) {
    const std::size_t plain = std::min(json.find('\\'), json.size());
    text += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) break;
    json.remove_prefix(1);
    if (!AppendEscape(text, json)) return std::nullopt;
  }
  return text;
}

std::optional<std::int64_t> IntegerOf(std::string_view json) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
  if (json.empty() || error != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return number;
}

std::string MemberText(std::string_view object, std::string_view key) {
  const std::optional<std::string_view> value = MemberOf(object, key);
  return value ? TextOf(*value).value_or("") : "";
}

}  // namespace podium
