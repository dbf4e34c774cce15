#include "core/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace podium {
namespace {

using std::chrono::microseconds;
using std::chrono::sys_days;

TEST(MatchesPattern, StarStandsForAnyRun) {
  struct Row {
    std::string pattern;
    std::string text;
    bool matches;
  };
  const Row rows[] = {
      {"nvidia.com/gpu", "nvidia.com/gpu", true},
      {"nvidia.com/gpu", "nvidia.com/gpu.shared", false},
      {"nvidia.com/gpu", "nvidia-com/gpu", false},
      {"nvidia.com/mig-*", "nvidia.com/mig-1g.10gb", true},
      {"nvidia.com/mig-*", "nvidia.com/mig-", true},
      {"nvidia.com/mig-*", "nvidia.com/mig", false},
      {"*", "", true},
      {"*", "anything", true},
      {"**", "x", true},
      {"", "", true},
      {"", "x", false},
      {"*gpu", "amd.com/gpu", true},
      {"*gpu", "amd.com/gpus", false},
      {"a*b*c", "abc", true},
      {"a*b*c", "a-b-b-c", true},
      {"a*b*c", "acb", false},
      {"ab*ba", "aba", false},
      {"ab*ba", "abba", true},
      {"a*aa*a", "aaa", false},
      {"a*aa*a", "aaaa", true},
      {"*a*", "bbb", false},
      {"team-?", "team-a", false},
      {"team-[ab]", "team-a", false},
      {"*:default", "nlp:default", true},
      {"Team-*", "team-a", false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(MatchesPattern(row.pattern, row.text), row.matches) << row.pattern << " on " << row.text;
}

// The definition, word by word; exponential.
bool SlowMatch(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return SlowMatch(pattern.substr(1), text) || (!text.empty() && SlowMatch(pattern, text.substr(1)));
  return !text.empty() && text.front() == pattern.front() && SlowMatch(pattern.substr(1), text.substr(1));
}

std::string Spell(const std::vector<std::uint8_t>& picks, std::string_view alphabet) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(picks.size(), 10); ++i)
    text += alphabet[picks[i] % alphabet.size()];
  return text;
}

TEST(MatchesPattern, AgreesWithItsDefinition) {
  EXPECT_TRUE(rc::check("as the slow one", [](const std::vector<std::uint8_t>& p, const std::vector<std::uint8_t>& t) {
    const std::string pattern = Spell(p, "ab*");
    const std::string text = Spell(t, "ab");
    RC_ASSERT(MatchesPattern(pattern, text) == SlowMatch(pattern, text));
  }));
}

TEST(MatchesPattern, DoesNotBlowUp) {
  std::string stars;
  for (int i = 0; i < 2000; ++i) stars += "*a";
  EXPECT_FALSE(MatchesPattern(stars + "*b", std::string(100'000, 'a')));
  EXPECT_FALSE(MatchesPattern("*" + std::string(5'000, 'a') + "b*", std::string(200'000, 'a')));
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string_view> names = {"interactive", "training", "batch", "name", "mode"};
  struct Row {
    std::string word;
    std::optional<std::string_view> nearest;
  };
  const Row rows[] = {
      {"interactiv", "interactive"},
      {"nmae", "name"},
      {"moed", "mode"},
      {"trainnig", "training"},
      {"batch", "batch"},
      {"bacth", "batch"},
      {"batches", "batch"},
      {"cat", std::nullopt},
      {"", std::nullopt},
      {"something-else", std::nullopt},
      {std::string(100'000, 'x'), std::nullopt},
  };
  for (const Row& row : rows) EXPECT_EQ(NearestName(row.word, names), row.nearest) << row.word.substr(0, 40);
}

TEST(NearestName, TheFirstOfEquallyNearOnesCounts) {
  const std::vector<std::string_view> names = {"bats", "cats", "rats"};
  EXPECT_EQ(NearestName("hats", names), "bats");
  EXPECT_EQ(NearestName("hats", {}), std::nullopt);
}

TEST(NearestName, LongCandidatesAreNoSuggestions) {
  const std::string longest(64, 'a');
  const std::string too_long(65, 'a');
  const std::vector<std::string_view> names = {too_long, longest};
  EXPECT_EQ(NearestName(std::string(63, 'a'), names), longest);
}

TEST(Quoted, IsOnePrintableLineOfBoundedLength) {
  EXPECT_EQ(Quoted("batch"), "'batch'");
  EXPECT_EQ(Quoted("a\r\nb\x1b[31m \xC3\xA4"), "'a??b?[31m \xC3\xA4'");
  EXPECT_EQ(Quoted(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(Quoted(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(Quoted("12\xC3\xA4", 3), "'12...'");
}

TEST(CutUtf8, NeverCutsACharacter) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("abcd", 3), "abc");
  EXPECT_EQ(CutUtf8("ab\xC3\xA9", 3), "ab");
  EXPECT_EQ(CutUtf8("a\xF0\x9F\x98\x80", 4), "a");
  EXPECT_EQ(CutUtf8("a\xF0\x9F\x98\x80", 5), "a\xF0\x9F\x98\x80");
  EXPECT_EQ(CutUtf8("\xC3\xA9", 1), "");
  EXPECT_EQ(CutUtf8(std::string(10, '\x80'), 9), std::string(6, '\x80')) << "no character is that long";
}

TEST(Printable, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\x1b[31m\nb\x7f"), "a?[31m?b?");
  EXPECT_EQ(Printable("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(Printable("x\xC2\x9By\xC2\xA0"), "x?y\xC2\xA0");
  EXPECT_EQ(Printable("\xFFz\xC3\xA9"), "?z??");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a?b");
}

TEST(FormatRfc3339, HasSixDigitsAndIsUtc) {
  EXPECT_EQ(FormatRfc3339(TimePoint{}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatRfc3339(TimePoint{std::chrono::seconds(1795971513) + microseconds(123456)}),
            "2026-11-29T16:58:33.123456Z");
  EXPECT_EQ(FormatRfc3339(TimePoint{microseconds(-1)}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(FormatRfc3339(TimePoint{sys_days(std::chrono::year(2028) / 2 / 29)}), "2028-02-29T00:00:00.000000Z");
  EXPECT_EQ(FormatRfc3339(TimePoint::min()).size(), std::string("1970-01-01T00:00:00.000000Z").size());
  EXPECT_EQ(FormatRfc3339(TimePoint::max()), "2262-04-11T23:47:16.854775Z");
}

TEST(ParseDate, ReadsExistingDaysOnly) {
  EXPECT_EQ(*ParseDate("2027-01-31"), TimePoint(sys_days(std::chrono::year(2027) / 1 / 31)));
  EXPECT_EQ(*ParseDate("2028-02-29"), TimePoint(sys_days(std::chrono::year(2028) / 2 / 29)));
  EXPECT_EQ(*ParseDate("1970-01-01"), TimePoint{});
  EXPECT_EQ(*ParseDate("2261-12-31"), TimePoint(sys_days(std::chrono::year(2261) / 12 / 31)));
  for (const std::string_view text :
       {"2027-02-30", "2027-02-29", "2027-13-01", "2027-00-10", "2027-1-31", "27-01-31", "2027-01-31 ", " 2027-01-31",
        "2027/01/31", "2027-01-31T00:00:00Z", "31.01.2027", "2027-01-+1", "-027-01-01", "2027-01-0x", "tomorrow", ""}) {
    const Result<TimePoint> date = ParseDate(text);
    ASSERT_FALSE(date) << text;
    EXPECT_EQ(date.error(), (Error{ErrorKind::kInvalidInput, "'" + std::string(text) +
                                                                 "' is not a date; write an existing day as "
                                                                 "year-month-day: 2027-01-31"}));
  }
}

TEST(ParseDate, RefusesYearsThatTheClockCannotCount) {
  for (const std::string_view text : {"9999-12-31", "2262-01-01", "1969-12-31", "0000-01-01"}) {
    const Result<TimePoint> date = ParseDate(text);
    ASSERT_FALSE(date) << text;
    EXPECT_EQ(date.error().message, "'" + std::string(text) + "' is out of range; allowed are the years 1970 to 2261");
  }
}

TEST(ParseDate, IsTheInverseOfFormatting) {
  EXPECT_TRUE(rc::check("any day", [](std::uint16_t days) {
    const TimePoint day{std::chrono::days(days)};
    RC_ASSERT(*ParseDate(FormatRfc3339(day).substr(0, 10)) == day);
  }));
}

TEST(IsUtf8, TakesWellFormedSequences) {
  for (const std::string_view text :
       {"", "ascii", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBD",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"})
    EXPECT_TRUE(IsUtf8(text)) << text;
  EXPECT_TRUE(IsUtf8(std::string_view("\0", 1)));
}

TEST(IsUtf8, RefusesEverythingElse) {
  struct Row {
    std::string name;
    std::string_view text;
  };
  const Row rows[] = {
      {"continuation alone", "\x80"},
      {"overlong slash", "\xC0\xAF"},
      {"overlong in three bytes", "\xE0\x9F\xBF"},
      {"overlong in four bytes", "\xF0\x8F\xBF\xBF"},
      {"first surrogate", "\xED\xA0\x80"},
      {"last surrogate", "\xED\xBF\xBF"},
      {"over U+10FFFF", "\xF4\x90\x80\x80"},
      {"lead byte F5", "\xF5\x80\x80\x80"},
      {"byte FF", "\xFF"},
      {"cut after two of three", "a\xE2\x82"},
      {"cut after one of two", "\xC3"},
      {"cut after three of four", "\xF0\x9F\x98"},
      {"third byte is ASCII", "\xE2\x82("},
      {"fourth byte is a lead", "\xF0\x9F\x98\xC3"},
      {"second byte is ASCII", "\xC3("},
  };
  for (const Row& row : rows) EXPECT_FALSE(IsUtf8(row.text)) << row.name;
}

}  // namespace
}  // namespace podium
