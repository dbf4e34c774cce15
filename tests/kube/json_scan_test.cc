#include "kube/json_scan.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>
#include <vector>

namespace podium {
namespace {

// --- the block masks ------------------------------------------------------------------------------------------------

TEST(BlockMasks, BothReadersAgreeOnEveryByteAtEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < 64; ++place) {
      std::array<char, 64> block;
      block.fill('x');
      block[place] = static_cast<char>(byte);
      ASSERT_EQ(ReadMasks(block.data()), ReadMasksPortably(block.data())) << byte << " at " << place;
    }
  }
}

TEST(BlockMasks, NameWhatIsWhere) {
  const std::string block = "{\"a\":[1]}\\" + std::string(54, ' ');
  EXPECT_EQ(ReadMasks(block.data()),
            (BlockMasks{.quotes = 0b1010, .backslashes = 1 << 9, .opens = 0b100001, .closes = 0b110000000}));
}

// --- ContainerScanner -----------------------------------------------------------------------------------------------

// The oracle: byte by byte, as one would write it first. npos when the text does not end.
std::size_t SlowEnd(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      in_string = !in_string;
    else if (!in_string && (text[i] == '{' || text[i] == '['))
      ++depth;
    else if (!in_string && (text[i] == '}' || text[i] == ']') && --depth == 0)
      return i + 1;
  }
  return std::string_view::npos;
}

std::size_t FastEnd(std::string_view text, std::size_t part_size) {
  ContainerScanner scanner(1'000);
  std::size_t used = 0;
  while (used < text.size() && scanner.state() == ContainerScanner::State::kOpen)
    used += scanner.Feed(text.substr(used, part_size));
  return scanner.state() == ContainerScanner::State::kClosed ? used : std::string_view::npos;
}

// Brackets, quotes and runs of backslashes at random; backslashes stand in strings only, as in JSON.
std::string RandomText(std::mt19937& random) {
  constexpr std::string_view kOutside = "{}[]\"ax ,:";
  constexpr std::string_view kInside = "{}[]\"ax\\\\\\\\";
  std::string text = "{";
  bool in_string = false;
  const std::size_t length = random() % 300;
  while (text.size() < length) {
    const std::string_view alphabet = in_string ? kInside : kOutside;
    text += alphabet[random() % alphabet.size()];
    if (text.back() == '"') in_string = !in_string;
    if (text.back() == '\\') text += random() % 2 == 0 ? '"' : '\\';
  }
  return text;
}

TEST(ContainerScanner, FindsTheSameEndAsASlowReaderWhateverTheParts) {
  std::mt19937 random(7);
  int ended = 0;
  for (int round = 0; round < 4'000; ++round) {
    const std::string text = RandomText(random);
    const std::size_t part = 1 + random() % 130;
    ASSERT_EQ(FastEnd(text, part), SlowEnd(text)) << "parts of " << part << ": " << text;
    if (SlowEnd(text) != std::string_view::npos) ++ended;
  }
  EXPECT_GT(ended, 1'000);
}

TEST(ContainerScanner, StopsBehindTheContainerOnly) {
  ContainerScanner scanner(10);
  EXPECT_EQ(scanner.Feed("{\"a\":\"}\"},{"), 9U);
  EXPECT_EQ(scanner.state(), ContainerScanner::State::kClosed);
  scanner.Restart();
  EXPECT_EQ(scanner.Feed("[]"), 2U);
}

TEST(ContainerScanner, DepthLimitIsExact) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  for (const std::size_t limit : {1U, 63U, 64U, 65U, 128U}) {
    ContainerScanner scanner(limit);
    scanner.Feed(nested(limit));
    EXPECT_EQ(scanner.state(), ContainerScanner::State::kClosed) << limit;
    scanner.Restart();
    scanner.Feed(nested(limit + 1));
    EXPECT_EQ(scanner.state(), ContainerScanner::State::kTooDeep) << limit;
  }
}

// --- members --------------------------------------------------------------------------------------------------------

using Members = std::vector<std::pair<std::string, std::string>>;

std::pair<Members, bool> ReadAll(std::string_view text) {
  Members members;
  ObjectReader in(text);
  while (in.Next()) members.emplace_back(in.key(), in.value());
  return {members, in.complete()};
}

TEST(ObjectReader, GivesMembersAsTheyAreWritten) {
  EXPECT_EQ(ReadAll(R"( { "a" : "x\"}" , "b":[1, {"c":"]"}],"d":null,
      "":-1.5e3 } )"),
            (std::pair(Members{{"a", R"("x\"}")"}, {"b", R"([1, {"c":"]"}])"}, {"d", "null"}, {"", "-1.5e3"}}, true)));
  EXPECT_EQ(ReadAll("{}"), (std::pair(Members{}, true)));
}

TEST(ObjectReader, IsIncompleteForAnythingElse) {
  for (const std::string text :
       {"", "[]", "\"a\"", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{a:1}",
        "{\"a\":}", "{\"a\":1 \"b\":2}", "{\"a\":[}", "{} x", "{\"a\":\"}"})
    EXPECT_FALSE(ReadAll(text).second) << text;
}

TEST(MemberOf, TakesTheLastOfDuplicates) {
  EXPECT_EQ(MemberOf(R"({"a":1,"b":2,"a":3})", "a"), "3");
  EXPECT_EQ(MemberOf(R"({"a":1})", "c"), std::nullopt);
  EXPECT_EQ(MemberOf(R"({"a":1)", "a"), std::nullopt);
  EXPECT_EQ(MemberText(R"({"a":"x"})", "a"), "x");
  EXPECT_EQ(MemberText(R"({"a":7})", "a"), "");
}

TEST(TextOf, ResolvesEscapes) {
  EXPECT_EQ(TextOf(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(TextOf(R"("\u0041\u00e4\u20ac\ud83d\ude00\u003d")"), "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80=");
  EXPECT_EQ(TextOf("\"\""), "");
  for (const std::string bad : {"", "\"", "a", "7", R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ude00")",
                                R"("\ud83d\u0041")", R"("a"b")", R"("a\")"})
    EXPECT_EQ(TextOf(bad), std::nullopt) << bad;
}

TEST(IntegerOf, TakesWholeNumbersOnly) {
  EXPECT_EQ(IntegerOf("410"), 410);
  EXPECT_EQ(IntegerOf("-1"), -1);
  for (const std::string bad : {"", "1.5", "\"1\"", "null", "99999999999999999999", "1 "})
    EXPECT_EQ(IntegerOf(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace podium
