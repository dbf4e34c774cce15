#include "kube/item_splitter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "fakes/temp_dir.h"

namespace podium {

void PrintTo(const ListMeta& meta, std::ostream* out) {
  *out << meta.kind << ' ' << meta.api_version << ' ' << meta.resource_version << ' ' << meta.continue_token;
}

namespace {

// What came of a body that was fed in the given parts.
struct Split {
  std::vector<std::string> items;
  ListMeta meta;
  std::string error;
  bool operator==(const Split&) const = default;
};

void PrintTo(const Split& split, std::ostream* out) {
  *out << testing::PrintToString(split.items) << ' ' << testing::PrintToString(split.meta) << ' ' << split.error;
}

Split SplitParts(const std::vector<std::string_view>& parts, const SplitLimits& limits = {}) {
  Split split;
  ItemSplitter splitter(limits);
  for (const std::string_view part : parts) {
    const Status fed = splitter.Feed(part, [&split](std::string_view item) { split.items.emplace_back(item); });
    if (!fed) split.error = fed.error().message;
  }
  const Result<ListMeta> meta = splitter.Finish();
  if (meta)
    split.meta = *meta;
  else
    split.error = meta.error().message;
  return split;
}

Split SplitEvery(std::string_view text, std::size_t size, const SplitLimits& limits = {}) {
  std::vector<std::string_view> parts;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) parts.push_back(text.substr(0, size));
  return SplitParts(parts, limits);
}

std::string ErrorOf(std::string_view text, const SplitLimits& limits = {}) { return SplitParts({text}, limits).error; }

constexpr std::string_view kList =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7\u0031","continue":"t\u003d"},)"
    R"( "items" : [ {"a":"]}\"\\"} ,{"b":[{}]},{}],"x":[1,{"items":[{}]}],"y":-1.5})";
const Split kWanted{{R"({"a":"]}\"\\"})", R"({"b":[{}]})", "{}"}, {"PodList", "v1", "71", "t="}, ""};

// --- ItemSplitter ---------------------------------------------------------------------------------------------------

TEST(ItemSplitter, GivesEachItemWhateverTheParts) {
  for (std::size_t size = 1; size <= kList.size(); ++size) EXPECT_EQ(SplitEvery(kList, size), kWanted) << size;
  for (std::size_t at = 0; at <= kList.size(); ++at)
    EXPECT_EQ(SplitParts({kList.substr(0, at), kList.substr(at)}), kWanted) << at;
}

TEST(ItemSplitter, MembersMayComeInAnyOrder) {
  EXPECT_EQ(ErrorOf(R"({"items":[{}],"metadata":{"resourceVersion":"1"},"apiVersion":"v1","kind":"PodList"})"), "");
}

TEST(ItemSplitter, EmptyListsComeInThreeForms) {
  for (const std::string items : {R"("items":[],)", R"("items":null,)", ""}) {
    const Split split = SplitParts({"{\"kind\":\"PodList\",", items, "\"metadata\":{\"resourceVersion\":\"1\"}}"});
    EXPECT_EQ(split, (Split{{}, {"PodList", "", "1", ""}, ""})) << items;
  }
}

TEST(ItemSplitter, EveryCutIsAnError) {
  for (std::size_t size = 0; size < kList.size(); ++size)
    EXPECT_EQ(ErrorOf(kList.substr(0, size)),
              "the list broke off after " + std::to_string(size) + " bytes, before it was complete");
}

TEST(ItemSplitter, SaysWhereTheTextIsNoList) {
  const std::pair<std::string, std::string> rows[] = {
      {"<html>", "byte 0: '<' does not belong there"},
      {"[]", "byte 0: '[' does not belong there"},
      {"{\"a\" 1}", "byte 5: '1' does not belong there"},
      {"{\"a\":,}", "byte 5: ',' does not belong there"},
      {"{\"a\":1,}", "byte 7: '}' does not belong there"},
      {"{\"items\":[1]}", "byte 10: '1' does not belong there"},
      {"{\"items\":[[]]}", "byte 10: '[' does not belong there"},
      {"{\"items\":[{},]}", "byte 13: ']' does not belong there"},
      {"{\"items\":[{}{}]}", "byte 12: '{' does not belong there"},
      {"{\"items\":{}}", "byte 9: 'items' is no array"},
      {"{\"items\":[],\"items\":[]}", "byte 20: there are two members 'items'"},
      {"{} {}", "byte 3: '{' does not belong there"},
  };
  for (const auto& [text, error] : rows) EXPECT_EQ(ErrorOf(text), "the list cannot be read at " + error) << text;
}

TEST(ItemSplitter, DamagedListsAreTheSameWhateverTheParts) {
  int errors = 0;
  for (std::size_t at = 0; at < kList.size(); ++at) {
    for (const char c : std::string_view("{}[],:\"\\ x1")) {
      std::string damaged(kList);
      damaged[at] = c;
      const Split whole = SplitParts({damaged});
      ASSERT_EQ(SplitEvery(damaged, 1), whole) << damaged;
      ASSERT_EQ(SplitEvery(damaged, 13), whole) << damaged;
      if (!whole.error.empty()) ++errors;
    }
  }
  EXPECT_GT(errors, 1'000);
}

TEST(ItemSplitter, OtherRepliesAreNoLists) {
  EXPECT_EQ(ErrorOf(R"({"kind":"Status","code":200})"),
            "the reply is of kind 'Status'; wanted is a list, such as PodList");
  EXPECT_EQ(ErrorOf(R"({"kind":"PodList","items":[]})"),
            "the PodList has no metadata.resourceVersion, so nothing can be watched from it");
}

TEST(ItemSplitter, LimitsAreExact) {
  const SplitLimits limits{.item_bytes = 10, .depth = 2};
  const auto list = [](const std::string& item) {
    return R"({"kind":"L List","items":[)" + item + R"(],"metadata":{"resourceVersion":"1"}})";
  };
  for (const std::size_t part : {1U, 7U, 1000U}) {
    EXPECT_EQ(SplitEvery(list(R"({"a":"12"})"), part, limits).error, "");
    EXPECT_EQ(SplitEvery(list(R"({"a":{}})"), part, limits).error, "");
    EXPECT_NE(SplitEvery(list(R"({"a":"123"})"), part, limits).error.find("an item is over the limit of 10 bytes"),
              std::string::npos);
    EXPECT_NE(SplitEvery(list(R"({"a":[{}]})"), part, limits).error.find("an object nests deeper than 2 levels"),
              std::string::npos);
  }
  EXPECT_EQ(ErrorOf("{\"metadata\":\"" + std::string(70'000, 'x')),
            "the list cannot be read at byte 12: a member beside the items is over the limit of 65536 bytes");
}

TEST(ItemSplitter, ReadsRecordedLists) {
  const std::string folder = PODIUM_TEST_DIR "/kube/data/";
  const Split whole = SplitParts({ReadFileText(folder + "list-pods.json")});
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.meta, (ListMeta{"PodList", "v1", "1262", ""}));
  const Split first = SplitEvery(ReadFileText(folder + "list-pods-page1.json"), 4096);
  const Split second = SplitEvery(ReadFileText(folder + "list-pods-page2.json"), 17);
  EXPECT_EQ(first.items.size(), 3U);
  EXPECT_EQ(whole.items.size(), 21U);
  EXPECT_TRUE(std::equal(first.items.begin(), first.items.end(), whole.items.begin()));
  EXPECT_EQ(second.items[0], whole.items[3]);
  EXPECT_EQ(
      first.meta.continue_token,
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTI2Miwic3RhcnQiOiIvYWktbGFiL2VtYmVkLWJhdGNoLTVmOGI4N2NmYjYtNnB2N2xcdTAw"
      "MDAifQ");
}

// --- LineSplitter ---------------------------------------------------------------------------------------------------

TEST(LineSplitter, GivesEachLineWhateverTheParts) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\r\n  \n{}\n{\"cut";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
      ASSERT_TRUE(splitter.Feed(std::string_view(text).substr(at, size), keep));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}\r", "{}"})) << size;
  }
}

TEST(LineSplitter, LimitIsExact) {
  const OnItem ignore = [](std::string_view) {};
  LineSplitter fits({.item_bytes = 4});
  EXPECT_TRUE(fits.Feed("12", ignore));
  EXPECT_TRUE(fits.Feed("34\n1234\n", ignore));
  LineSplitter over({.item_bytes = 4});
  ASSERT_FALSE(over.Feed("12345", ignore));
  EXPECT_EQ(over.Feed("\n", ignore).error(),
            (Error{ErrorKind::kCorrupt, "a line of the watch is over the limit of 4 bytes"}));
}

}  // namespace
}  // namespace podium
