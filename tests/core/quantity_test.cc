#include "podium/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace podium {
namespace {

using Int = std::int64_t;

// The nano value as text: 128 bits do not print on their own.
std::string NanoText(std::string_view text) {
  const Result<Quantity> quantity = ParseQuantity(text);
  if (!quantity) return "error";
  Int128 rest = quantity->nano();
  const bool negative = rest < 0;
  if (negative) rest = -rest;
  std::string reversed;
  for (; reversed.empty() || rest != 0; rest /= 10) reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (negative) reversed += '-';
  return {reversed.rbegin(), reversed.rend()};
}

const std::string kCap = "9223372036854775807000000000";

struct Row {
  std::string name;
  std::string text;
  std::string nano;
};

class QuantityValue : public testing::TestWithParam<Row> {};

TEST_P(QuantityValue, IsWhatKubernetesReads) { EXPECT_EQ(NanoText(GetParam().text), GetParam().nano); }

const Row kRows[] = {
    {"plain", "2", "2000000000"},
    {"exponent_of_zero", "2e0", "2000000000"},
    {"milli", "2000m", "2000000000"},
    {"leading_zero_is_not_octal", "02", "2000000000"},
    {"plus_sign", "+2", "2000000000"},
    {"one_in_milli", "1000m", "1000000000"},
    {"one_with_a_fraction", "1.0", "1000000000"},
    {"nothing_behind_the_point", "1.", "1000000000"},
    {"nothing_before_the_point", ".5", "500000000"},
    {"exa", "1E", "1000000000000000000000000000"},
    {"capital_exponent", "1E3", "1000000000000"},
    {"exponent_with_plus", "1e+3", "1000000000000"},
    {"exponent_with_zeros", "1e0003", "1000000000000"},
    {"negative_exponent", "1E-3", "1000000"},
    {"exa_binary", "1Ei", "1152921504606846976000000000"},
    {"fraction_of_a_binary_unit", "0.3Mi", "314572800000000"},
    {"negative_fraction_of_a_binary_unit", "-0.3Mi", "-314572800000000"},
    {"nano", "1n", "1"},
    {"finer_than_nano_rounds_up", "1.5n", "2"},
    {"much_finer_than_nano_rounds_up", "0.00000000000000000000000000000000000000001", "1"},
    {"negative_rounds_away_from_zero", "-0.0000000001", "-1"},
    {"zero_stays_zero", "0.000e5", "0"},
    {"negative_zero", "-0", "0"},
    {"binary_zero", "0Ki", "0"},
    {"largest", "9223372036854775807", kCap},
    {"over_the_largest", "9223372036854775808", kCap},
    {"decimal_over_the_cap", "10E", kCap},
    {"binary_over_the_cap", "8Ei", kCap},
    {"negative_over_the_cap", "-9Ei", "-" + kCap},
    {"binary_just_under_the_cap", "7.9Ei", "9108079886394091110400000000"},
    {"enormous_exponent", "1e999999999", kCap},
    {"enormous_negative_exponent", "1e-999999999", "1"},
    {"enormous_exponent_of_zero", "0e999999999", "0"},
    {"exponent_is_cut_to_32_bits", "1e4294967298", "100000000000"},
    {"negative_exponent_is_cut_to_32_bits", "1e-4294967294", "100000000000"},
    {"sign_alone", "+", "0"},
    {"point_alone", ".", "0"},
    {"suffix_alone", "m", "0"},
    {"exa_alone", "E", "0"},
    {"empty", "", "error"},
    {"exponent_and_suffix", "8e3m", "error"},
    {"small_e_alone", "1e", "error"},
    {"exponent_without_digits", "1e-", "error"},
    {"exponent_with_two_signs", "1e+-3", "error"},
    {"exponent_with_a_fraction", "1e1.5", "error"},
    {"exponent_over_64_bits", "1e9223372036854775808", "error"},
    {"blank_before", " 1", "error"},
    {"blank_behind", "1 ", "error"},
    {"newline_behind", "1\n", "error"},
    {"nul_behind", std::string("1\0", 2), "error"},
    {"capital_kilo", "1K", "error"},
    {"small_binary_kilo", "1ki", "error"},
    {"small_binary_mega", "1mi", "error"},
    {"hexadecimal", "0x10", "error"},
    {"separator", "1_000", "error"},
    {"two_points", "1.1.1", "error"},
    {"two_signs", "--1", "error"},
    {"two_suffixes", "1kk", "error"},
    {"digits_behind_the_suffix", "1Mi1", "error"},
    {"signed_digits_behind_the_suffix", "1m-5", "error"},
    {"digits_of_another_script", "\u0663", "error"},
    {"word", "many", "error"},
    {"not_a_number", "NaN", "error"},
    {"infinity", "inf", "error"},
};

INSTANTIATE_TEST_SUITE_P(Rows, QuantityValue, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

TEST(Quantity, ReadsRandomTextsAsKubernetesRecordedThem) {
  std::ifstream file(PODIUM_TEST_DIR "/core/quantity_rows.txt");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    EXPECT_EQ(NanoText(line.substr(0, tab)), line.substr(tab + 1)) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 280);
}

TEST(Quantity, ErrorsSayWhatWasFoundAndWhatIsAllowed) {
  const std::string allowed =
      " is not a quantity; allowed is a decimal number with at most one suffix, n u m k M G T P E Ki Mi Gi Ti Pi Ei or "
      "an "
      "exponent: 2, 0.5, 500m, 16Gi, 2e3";
  EXPECT_EQ(ParseQuantity("8e3m").error(), (Error{ErrorKind::kInvalidInput, "'8e3m'" + allowed}));
  EXPECT_EQ(ParseQuantity("").error(), (Error{ErrorKind::kInvalidInput, "''" + allowed}));
  EXPECT_EQ(ParseQuantity("1\n2\xFF").error(), (Error{ErrorKind::kInvalidInput, "'1?2?'" + allowed}));
  EXPECT_EQ(ParseQuantity(std::string(50, 'x')).error(),
            (Error{ErrorKind::kInvalidInput, "'" + std::string(40, 'x') + "...'" + allowed}));
}

// With a quadratic reader these take minutes.
TEST(Quantity, LongTextsAreReadInLinearTime) {
  const std::string digits(1'000'000, '7');
  EXPECT_EQ(NanoText(digits), kCap);
  EXPECT_EQ(NanoText(digits + "Ei"), kCap);
  EXPECT_EQ(NanoText("0." + digits), "777777778");
  EXPECT_EQ(NanoText("0." + digits + "Ki"), "796444444445");
  EXPECT_EQ(NanoText(std::string(1'000'000, '0') + "2"), "2000000000");
  EXPECT_EQ(NanoText("1e" + digits), "error");
  EXPECT_EQ(NanoText(digits + "e-999999"), "7777777778");
}

TEST(Quantity, RoundsUpAwayFromZeroOnce) {
  struct Rounding {
    std::string text;
    Int units;
  };
  const Rounding rows[] = {
      {"500m", 1},        {"1", 1},      {"1.000000001", 2}, {"100u", 1},
      {"0", 0},           {"-500m", -1}, {"-1.1", -2},       {"9E", 9'000'000'000'000'000'000},
      {"10E", INT64_MAX},
  };
  for (const Rounding& row : rows) EXPECT_EQ(ParseQuantity(row.text)->CeilUnits(), row.units) << row.text;
}

TEST(Quantity, SumsAreExact) {
  const Quantity half_milli = *ParseQuantity("500u");
  EXPECT_EQ(half_milli + half_milli, *ParseQuantity("1m"));
  Quantity large;
  for (int i = 0; i < 1000; ++i) large += *ParseQuantity("8Ei");
  EXPECT_EQ(large.CeilUnits(), INT64_MAX);
  for (int i = 0; i < 2000; ++i) large += *ParseQuantity("-8Ei");
  EXPECT_EQ(large.CeilUnits(), INT64_MIN);
}

TEST(Quantity, FormatsAsTheShortestDecimal) {
  const std::pair<std::string, std::string> rows[] = {
      {"2", "2"},       {"2000m", "2"},
      {"0.50", "0.5"},  {"1500m", "1.5"},
      {"0", "0"},       {"1n", "0.000000001"},
      {"-0.5", "-0.5"}, {"100", "100"},
      {"1Ki", "1024"},  {"99Ei", "9223372036854775807"},
  };
  for (const auto& [text, formatted] : rows) EXPECT_EQ(FormatQuantity(*ParseQuantity(text)), formatted) << text;
}

TEST(Quantity, WhatWasFormattedReadsBackTheSame) {
  EXPECT_TRUE(rc::check("format, then parse", [](Int units, Int nano) {
    const Quantity quantity = Quantity::FromNano(static_cast<Int128>(units) * 1'000'000'000 + nano % 1'000'000'000);
    if (units == INT64_MIN || units == INT64_MAX) return;  // at the cap
    RC_ASSERT(*ParseQuantity(FormatQuantity(quantity)) == quantity);
  }));
}

TEST(Quantity, AnyTextIsReadOrRefused) {
  const std::string alphabet = "0123456789.+-eEinumkKMGTP ";
  EXPECT_TRUE(rc::check("any text of the alphabet", [&](const std::vector<std::uint8_t>& picks) {
    std::string text;
    for (const std::uint8_t pick : picks) text += alphabet[pick % alphabet.size()];
    const Result<Quantity> quantity = ParseQuantity(text);
    if (!quantity) RC_SUCCEED("refused");
    const Quantity cap = *ParseQuantity("10E");
    RC_ASSERT(*quantity <= cap);
    RC_ASSERT(quantity->nano() >= -cap.nano());
  }));
}

}  // namespace
}  // namespace podium
