#include "podium/quantity.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>

#include "core/text.h"

namespace podium {
namespace {

constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr int kNanoDigits = 9;
constexpr std::int64_t kMaxUnits = std::numeric_limits<std::int64_t>::max();
constexpr Int128 kMaxNano = kMaxUnits * kNanoPerUnit;
constexpr std::int64_t kMaxNanoDigits = 28;  // of kMaxNano: 9'223'372'036'854'775'807'000'000'000

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What stands behind the digits: 10^decimal, or 2^binary.
struct Scale {
  std::int64_t decimal = 0;
  std::optional<int> binary;
};

struct Number {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& rest) {
  const std::size_t length =
      static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), IsDigit) - rest.begin());
  const std::string_view digits = rest.substr(0, length);
  rest.remove_prefix(length);
  return digits;
}

Number Split(std::string_view text) {
  Number number;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    number.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  number.whole = TakeDigits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    number.fraction = TakeDigits(text);
  }
  number.suffix = text;
  return number;
}

// Kubernetes reads the exponent into 64 bits and then cuts it to 32. We cut alike: "1e4294967297" is 10 there, and
// whoever takes it for something small lets ten GPUs through.
std::optional<std::int64_t> ParseExponent(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(exponent));
}

std::optional<Scale> ParseSuffix(std::string_view suffix) {
  struct Row {
    std::string_view suffix;
    Scale scale;
  };
  static constexpr Row kSuffixes[] = {
      {"", {0, {}}},   {"n", {-9, {}}}, {"u", {-6, {}}}, {"m", {-3, {}}}, {"k", {3, {}}},  {"M", {6, {}}},
      {"G", {9, {}}},  {"T", {12, {}}}, {"P", {15, {}}}, {"E", {18, {}}}, {"Ki", {0, 10}}, {"Mi", {0, 20}},
      {"Gi", {0, 30}}, {"Ti", {0, 40}}, {"Pi", {0, 50}}, {"Ei", {0, 60}},
  };
  for (const Row& row : kSuffixes)
    if (row.suffix == suffix) return row.scale;
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  const std::optional<std::int64_t> exponent = ParseExponent(suffix.substr(1));
  if (!exponent) return std::nullopt;
  return Scale{*exponent, {}};
}

// The digits of `whole` and `fraction` read as one number without leading zeros.
class Digits {
 public:
  explicit Digits(const Number& number) : whole_(number.whole), fraction_(number.fraction) {
    while (first_ < total() && at(first_) == '0') ++first_;
  }
  [[nodiscard]] std::int64_t size() const { return total() - first_; }
  [[nodiscard]] char operator[](std::int64_t i) const { return at(first_ + i); }

 private:
  [[nodiscard]] std::int64_t total() const { return static_cast<std::int64_t>(whole_.size() + fraction_.size()); }
  [[nodiscard]] char at(std::int64_t i) const {
    const auto index = static_cast<std::size_t>(i);
    return index < whole_.size() ? whole_[index] : fraction_[index - whole_.size()];
  }

  std::string_view whole_;
  std::string_view fraction_;
  std::int64_t first_ = 0;
};

// Digits * 10^scale in nano, rounded up, at most kMaxNano. Linear in the number of digits, whatever the exponent.
Int128 DecimalNano(const Number& number, std::int64_t scale) {
  const Digits digits(number);
  if (digits.size() == 0) return 0;
  const std::int64_t shift = scale - static_cast<std::int64_t>(number.fraction.size()) + kNanoDigits;
  const std::int64_t kept = digits.size() + shift;  // digits of the result
  if (kept > kMaxNanoDigits) return kMaxNano;
  Int128 nano = 0;
  for (std::int64_t i = 0; i < kept; ++i) nano = nano * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  for (std::int64_t i = std::max<std::int64_t>(kept, 0); i < digits.size(); ++i)
    if (digits[i] != '0') return std::min(nano + 1, kMaxNano);
  return std::min(nano, kMaxNano);
}

// Digits * 2^power in nano, rounded up, at most kMaxNano.
Int128 BinaryNano(const Number& number, int power) {
  const Int128 unit = kNanoPerUnit << power;
  Int128 whole = 0;
  for (const char c : number.whole) {
    whole = whole * 10 + (c - '0');
    if (whole > kMaxUnits) return kMaxNano;
  }
  // From the last digit to the first: rounding up after each division by ten gives what rounding once at the end would.
  Int128 fraction = 0;
  for (auto digit = number.fraction.rbegin(); digit != number.fraction.rend(); ++digit)
    fraction = ((*digit - '0') * unit + fraction + 9) / 10;
  if (whole > kMaxNano / unit) return kMaxNano;
  return std::min(whole * unit + fraction, kMaxNano);
}

Int128 DivideAwayFromZero(Int128 value, Int128 divisor) {
  const Int128 quotient = value / divisor;
  if (value % divisor == 0) return quotient;
  return value < 0 ? quotient - 1 : quotient + 1;
}

std::int64_t Saturate(Int128 value) {
  constexpr Int128 kLowest = std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(std::clamp<Int128>(value, kLowest, kMaxUnits));
}

Error NotAQuantity(std::string_view text) {
  return {ErrorKind::kInvalidInput,
          Quoted(text) +
              " is not a quantity; allowed is a decimal number with at most one suffix, n u m k M G T P E "
              "Ki Mi Gi Ti Pi Ei or an exponent: 2, 0.5, 500m, 16Gi, 2e3"};
}

}  // namespace

std::int64_t Quantity::CeilUnits() const { return Saturate(DivideAwayFromZero(nano_, kNanoPerUnit)); }

// Takes what Kubernetes takes, also where its own documented grammar does not: "", " 1" and "1K" are refused; "+", "."
// and "m" are zero. A text that the API server stores and we refuse to read would be a way around the policy.
Result<Quantity> ParseQuantity(std::string_view text) {
  if (text.empty()) return NotAQuantity(text);
  const Number number = Split(text);
  const std::optional<Scale> scale = ParseSuffix(number.suffix);
  if (!scale) return NotAQuantity(text);
  const Int128 nano = scale->binary ? BinaryNano(number, *scale->binary) : DecimalNano(number, scale->decimal);
  return Quantity::FromNano(number.negative ? -nano : nano);
}

std::string FormatQuantity(Quantity quantity) {
  std::string reversed;
  const auto append = [&reversed](Int128 digit) { reversed += static_cast<char>('0' + (digit < 0 ? -digit : digit)); };
  Int128 rest = quantity.nano();
  bool significant = false;  // zeros at the end of the fraction are left out
  for (int i = 0; i < kNanoDigits; ++i, rest /= 10) {
    significant = significant || rest % 10 != 0;
    if (significant) append(rest % 10);
  }
  if (significant) reversed += '.';
  do {
    append(rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (quantity.nano() < 0) reversed += '-';
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace podium
