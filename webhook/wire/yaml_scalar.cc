#include "wire/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace podium {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsNull(std::string_view text) { return IsOneOf(text, {"", "~", "null", "Null", "NULL"}); }

// go-yaml 2.4 reads "y" and "n" as booleans too (2.3 did not).
std::optional<bool> Boolean(std::string_view text) {
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
  return std::nullopt;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view SkipDigits(std::string_view text) {
  while (!text.empty() && IsDigit(text.front())) text.remove_prefix(1);
  return text;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::string_view rest = SkipDigits(text);
  const bool whole_part = rest.size() < text.size();
  if (!rest.empty() && rest.front() == '.') {
    const std::string_view fraction = rest.substr(1);
    rest = SkipDigits(fraction);
    if (!whole_part && rest.size() == fraction.size()) return false;
  } else if (!whole_part) {
    return false;
  }
  if (rest.empty()) return true;
  if (rest.front() != 'e' && rest.front() != 'E') return false;
  rest.remove_prefix(1);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  return !rest.empty() && SkipDigits(rest).empty();
}

template <typename Float>
std::string Print(Float number, std::chars_format format) {
  std::array<char, 400> digits{};  // the smallest double in fixed notation takes 345
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number, format);
  return {digits.begin(), end};
}

// Nothing when the number is beyond double.
std::optional<std::string> FloatJson(const std::string& text) {
  const double number = std::strtod(text.c_str(), nullptr);  // no locale is ever set: the point is a point
  if (!std::isfinite(number)) return std::nullopt;
  const double size = std::fabs(number);
  // Go's encoding/json goes on in digits up to 1e21; from 1e18 on simdjson would refuse such an integer.
  const bool exponent = size != 0 && (size < 1e-6 || size >= 1e18);
  return Print(number, exponent ? std::chars_format::scientific : std::chars_format::fixed);
}

struct Digits {
  bool negative = false;
  bool has_sign = false;
  int base = 10;
  std::string_view text;
};

// Base by prefix, as Go's strconv.ParseInt with base 0; a bare leading 0 is octal.
Digits SplitInteger(std::string_view text) {
  Digits digits;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    digits.has_sign = true;
    digits.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const char mark = text.size() > 1 && text.front() == '0' ? text[1] : '\0';
  if (mark == 'x' || mark == 'X') digits.base = 16;
  if (mark == 'o' || mark == 'O') digits.base = 8;
  if (mark == 'b' || mark == 'B') digits.base = 2;
  if (digits.base != 10) {
    text.remove_prefix(2);
  } else if (mark != '\0') {
    digits.base = 8;
    text.remove_prefix(1);
  }
  digits.text = text;
  return digits;
}

bool AllDigitsOf(const Digits& digits) {
  const auto is_digit = [&](char c) {
    if (digits.base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return true;
    return c >= '0' && c < '0' + std::min(digits.base, 10);
  };
  return !digits.text.empty() && std::all_of(digits.text.begin(), digits.text.end(), is_digit);
}

// Within 64 bits; a sign halves the range upwards, as in Go.
std::optional<std::string> IntegerJson(const Digits& digits) {
  if (!AllDigitsOf(digits)) return std::nullopt;
  std::uint64_t size = 0;
  const char* end = digits.text.data() + digits.text.size();
  if (std::from_chars(digits.text.data(), end, size, digits.base).ec != std::errc()) return std::nullopt;
  constexpr std::uint64_t kMinInt64 = std::uint64_t{1} << 63;
  if (digits.has_sign && size > kMinInt64 - (digits.negative ? 0 : 1)) return std::nullopt;
  return (digits.negative && size != 0 ? "-" : "") + std::to_string(size);
}

// An unsigned hexadecimal, octal or binary number beyond 64 bits.
std::optional<std::string> BigIntegerJson(const Digits& digits) {
  if (digits.has_sign || !AllDigitsOf(digits)) return std::nullopt;
  double number = 0;
  for (const char c : digits.text) number = number * digits.base + (IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  if (!std::isfinite(number)) return std::nullopt;
  return Print(number, std::chars_format::scientific);
}

PlainScalar ResolveNumber(std::string_view text) {
  std::string plain(text);
  if (text.front() != '.') plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  const Digits digits = SplitInteger(plain);
  if (auto json = IntegerJson(digits)) return {PlainType::kInteger, std::move(*json)};
  if (LooksLikeFloat(plain)) {
    auto json = FloatJson(plain);
    return json ? PlainScalar{PlainType::kFloat, std::move(*json)} : PlainScalar{};
  }
  if (auto json = BigIntegerJson(digits)) return {PlainType::kFloat, std::move(*json)};
  return {};
}

}  // namespace

PlainScalar ResolvePlain(std::string_view text) {
  if (IsNull(text)) return {PlainType::kNull, "null"};
  if (const auto value = Boolean(text)) return {PlainType::kBool, *value ? "true" : "false"};
  const char first = text.front();
  if (!IsDigit(first) && first != '-' && first != '+' && first != '.') return {};
  return ResolveNumber(text);
}

// Go prints a float key as a 32-bit %g: digits for exponents from -4 to 5.
std::string PlainKey(std::string_view text) {
  PlainScalar scalar = ResolvePlain(text);
  if (scalar.type == PlainType::kString) return std::string(text);
  if (scalar.type != PlainType::kFloat) return std::move(scalar.json);
  const auto number = static_cast<float>(std::strtod(scalar.json.c_str(), nullptr));
  if (!std::isfinite(number)) return number < 0 ? "-.inf" : ".inf";
  const std::string scientific = Print(number, std::chars_format::scientific);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  return exponent < -4 || exponent >= 6 ? scientific : Print(number, std::chars_format::fixed);
}

}  // namespace podium
