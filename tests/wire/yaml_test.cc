#include "wire/yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace podium {
namespace {

using namespace std::string_literals;

std::vector<std::string> Problems(const YamlParse& parse) {
  std::vector<std::string> lines;
  for (const YamlProblem& problem : parse.problems)
    lines.push_back(problem.span.file + ":" + std::to_string(problem.span.line) + ":" +
                    std::to_string(problem.span.column) + ": " + problem.message);
  return lines;
}

std::vector<std::string> Jsons(const YamlParse& parse) {
  std::vector<std::string> jsons;
  for (const YamlNode& document : parse.documents) jsons.push_back(YamlToJson(document));
  return jsons;
}

using Strings = std::vector<std::string>;

struct GoodRow {
  std::string name;
  std::string text;
  Strings want;  // one JSON text for each document
};

TEST(ParseYaml, ReadsDocuments) {
  const GoodRow rows[] = {
      {"empty", "", {}},
      {"comment only", "# nothing\n", {}},
      {"empty documents are left out", "---\n---\na: 1\n---\n", {R"({"a":1})"}},
      {"several documents",
       "a: 1\n---\nb: 2\n...\n---\nc: 3\n...\nd: 4\n",
       {R"({"a":1})", R"({"b":2})", R"({"c":3})", R"({"d":4})"}},
      {"block and flow", "a:\n- x\n- {b: [1, 'two']}\n", {R"({"a":["x",{"b":[1,"two"]}]})"}},
      {"CRLF", "a: 1\r\nb:\r\n  - 'x'\r\nc: |\r\n  l1\r\n  l2\r\n", {R"({"a":1,"b":["x"],"c":"l1\nl2\n"})"}},
      {"byte order mark",
       "\xef\xbb\xbf"
       "a: 1\n",
       {R"({"a":1})"}},
      {"JSON", R"({"a":[true,null,"x\/y","\u00e9"]})", {R"({"a":[true,null,"x/y","é"]})"}},
      {"JSON indented by tabs", "{\n\t\"a\": {\n\t\t\"b\": []\n\t}\n}\n", {R"({"a":{"b":[]}})"}},
      {"scalar", "just text\n", {R"("just text")"}},
      {"values that are not there", "a:\nb:\n  c:\nd: ~\n", {R"({"a":null,"b":{"c":null},"d":null})"}},
      {"quotes make strings", "a: '1'\nb: \"yes\"\nc: !!str 2\nd: ! 3\n", {R"({"a":"1","b":"yes","c":"2","d":"3"})"}},
      {"quotes within quotes", "a: 'it''s'\nb: \"\\\"\"\nc: !!str\n  \"x\"\n", {R"({"a":"it's","b":"\"","c":"x"})"}},
      {"default tags", "a: !!map {}\nb: !!seq []\n", {R"({"a":{},"b":[]})"}},
      {"key beyond 1024 characters",
       "? " + std::string(2000, 'k') + "\n: 1\n",
       {"{\"" + std::string(2000, 'k') + "\":1}"}},
      {"64 levels", std::string(64, '[') + std::string(64, ']'), {std::string(64, '[') + std::string(64, ']')}},
  };
  for (const GoodRow& row : rows) {
    const YamlParse parse = ParseYaml("f.yaml", row.text, {.documents = 10});
    EXPECT_EQ(Problems(parse), Strings{}) << row.name;
    EXPECT_EQ(Jsons(parse), row.want) << row.name;
  }
}

TEST(ParseYaml, KnowsWhereEverythingWasWritten) {
  const YamlParse parse =
      ParseYaml("f.yaml", "# head\nspec:\n  classes:\n    - name: 'gold'\n      value:\n  x: {y: 1}\n", {});
  ASSERT_EQ(Problems(parse), Strings{});
  const YamlNode* spec = parse.documents.at(0).Find("spec");
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->span, (SourceSpan{"f.yaml", 3, 3}));
  EXPECT_EQ(spec->members.at(0).key.span, (SourceSpan{"f.yaml", 3, 3}));
  const YamlNode& gold = spec->Find("classes")->items.at(0);
  EXPECT_EQ(gold.kind, YamlKind::kMapping);
  EXPECT_EQ(gold.span, (SourceSpan{"f.yaml", 4, 7}));
  EXPECT_EQ(gold.Find("name")->span, (SourceSpan{"f.yaml", 4, 13}));
  EXPECT_TRUE(gold.Find("name")->quoted);
  EXPECT_EQ(gold.Find("name")->scalar, "gold");
  EXPECT_EQ(gold.Find("value")->kind, YamlKind::kNull);
  EXPECT_EQ(gold.Find("value")->span, (SourceSpan{"f.yaml", 5, 7}));  // its key's
  EXPECT_FALSE(spec->Find("x")->Find("y")->quoted);
  EXPECT_EQ(spec->Find("x")->Find("y")->span, (SourceSpan{"f.yaml", 6, 10}));
  EXPECT_EQ(spec->Find("missing"), nullptr);
}

struct BadRow {
  std::string name;
  std::string text;
  Strings want;
};

TEST(ParseYaml, TellsEveryProblemOfWhatItRefuses) {
  const std::string alias = "an alias ('*name') is not allowed; write the value out";
  const BadRow rows[] = {
      {"duplicate keys",
       "a: 1\nb:\n  c: 1\n  c: 2\n\"a\": 3\n",
       {"f.yaml:4:3: duplicate key 'c': it is already written at line 3, column 3; remove one of the two",
        "f.yaml:5:1: duplicate key 'a': it is already written at line 1, column 1; remove one of the two"}},
      {"duplicate key that is long and has a line end",
       "\"x\\n" + std::string(70, 'y') + "\": 1\n\"x\\n" + std::string(70, 'y') + "\": 1\n",
       {"f.yaml:2:1: duplicate key 'x " + std::string(58, 'y') +
        "...': it is already written at line 1, column 1; remove one of the two"}},
      {"anchors and aliases",
       "a: &x 1\nb: *x\nc: [*x]\n",
       {"f.yaml:1:4: the anchor '&x' is not allowed; write the value out where it is needed", "f.yaml:2:4: " + alias,
        "f.yaml:3:5: " + alias}},
      {"cycle",
       "&a [*a]",
       {"f.yaml:1:1: the anchor '&a' is not allowed; write the value out where it is needed", "f.yaml:1:5: " + alias}},
      {"pattern without quotes",
       "a: *.txt",
       {"f.yaml:1:4: an alias ('*name') is not allowed; put the value in quotes if it is a text"}},
      {"lone star", "a: *", {"f.yaml:1:5: a text that begins with '*' must be put in quotes"}},
      {"merge key", "a:\n  <<: {b: 1}\n", {"f.yaml:2:3: the merge key '<<' is not allowed; write the members out"}},
      {"tags",
       "a: !!int '3'\nb: !policy {}\nc: !!binary aGk=\nd: !!str []\n",
       {"f.yaml:1:4: the tag '!!int' is not allowed; remove it",
        "f.yaml:2:4: the tag '!policy' is not allowed; remove it",
        "f.yaml:3:4: the tag '!!binary' is not allowed; remove it",
        "f.yaml:4:4: the tag '!!str' is not allowed; remove it"}},
      {"keys that are no texts",
       "? [a, b]\n: 1\n~: 3\nok: 5\n? {x: 1}\n: 2\n",
       {"f.yaml:1:3: a mapping key must be a text; found a sequence",
        "f.yaml:3:1: a mapping key must be a text; found nothing or null",
        "f.yaml:5:3: a mapping key must be a text; found a mapping"}},
      {"second document",
       "a: 1\n---\nb: 2\n",
       {"f.yaml:2:1: a second document begins here; only one document is allowed in a file: move it to a file of its "
        "own"}},
      {"text behind the document",
       "{a: 1} {b: 2}",
       {"f.yaml:1:8: unexpected text after the end of the document; a new document begins with '---'"}},
      {"invalid UTF-8", "a: 1\nb: x\xff\n", {"f.yaml:2:5: invalid UTF-8; save the file as UTF-8"}},
      {"NUL",
       "a: 1\0b"s,
       {"f.yaml:1:5: the control character U+0000 is not allowed; inside double quotes write '\\x00'"}},
      {"end of transmission",
       "a: 1\n\x04 b: 2\n",  // yaml-cpp would stop reading here without a word
       {"f.yaml:2:1: the control character U+0004 is not allowed; inside double quotes write '\\x04'"}},
      {"65 levels", std::string(65, '[') + std::string(65, ']'), {"f.yaml:1:65: nested deeper than 64 levels"}},
      {"10,000 levels", std::string(10'000, '['), {"f.yaml:1:33: nested deeper than 64 levels"}},
      {"open quote", "a: \"x\nb: 3\n", {"f.yaml:1:4: the closing quote is missing"}},
      {"open single quote of a key", "'a: 1\nb: 2\n", {"f.yaml:1:1: the closing quote is missing"}},
      {"open bracket", "a: [1, 2\nb: 3\n", {"f.yaml:2:2: the closing ']' is missing"}},
      {"stray bracket", "a: ]\n", {"f.yaml:1:4: a ']' or '}' without its opening bracket"}},
      {"tab", "a:\n\tb: 1\n", {"f.yaml:2:3: a tab is not allowed in indentation; use blanks"}},
      {"indentation",
       "a:\n  b: 1\n c: 2\n",
       {"f.yaml:3:2: this line does not fit into the mapping above it; check the indentation"}},
      {"two colons",
       "a: b: c\n",
       {"f.yaml:1:5: a ':' that is followed by a blank is not allowed here; put the value in quotes"}},
      {"at sign", "a: @b\n", {"f.yaml:1:4: this character cannot begin a value; put the value in quotes"}},
      {"unknown escape",
       "a: \"\\q\"\n",
       {"f.yaml:1:7: this backslash escape is not known; write '\\\\' for a backslash"}},
      {"YAML 9", "%YAML 9.9\n---\na: 1\n", {"f.yaml:1:1: this is not valid YAML (YAML major version too large)"}},
      {"problem, then a syntax error",
       "a: 1\na: 2\nb: ]\n",
       {"f.yaml:2:1: duplicate key 'a': it is already written at line 1, column 1; remove one of the two",
        "f.yaml:3:4: a ']' or '}' without its opening bracket"}},
  };
  for (const BadRow& row : rows) EXPECT_EQ(Problems(ParseYaml("f.yaml", row.text, {})), row.want) << row.name;
}

TEST(ParseYaml, KeepsToTheLimits) {
  const YamlLimits tight{.bytes = 20, .depth = 2, .nodes = 5, .documents = 2};
  const BadRow rows[] = {
      {"bytes", "a: 'twenty and more bytes'", {"f.yaml:1:1: the text has 26 bytes; at most 20 are allowed"}},
      {"depth", "[[[1]]]", {"f.yaml:1:3: nested deeper than 2 levels"}},
      {"nodes", "[1, 2, 3, 4, 5]", {"f.yaml:1:14: more than 5 values; split the file"}},
      {"documents", "--- 1\n--- 2\n--- 3", {"f.yaml:3:1: more than 2 documents; split the file"}},
      {"within all", "[[1], 2]", {}},
  };
  for (const BadRow& row : rows) EXPECT_EQ(Problems(ParseYaml("f.yaml", row.text, tight)), row.want) << row.name;
}

TEST(ParseYaml, AliasBombCostsNothing) {  // each level nine times the one before: 43 million values when written out
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name <= 'h'; ++name) {
    text += name + ": &"s + name + " [";
    for (int i = 0; i < 9; ++i) text += "*"s + static_cast<char>(name - 1) + (i < 8 ? ", " : "]\n");
  }
  const YamlParse parse = ParseYaml("f.yaml", text, {});
  ASSERT_EQ(parse.problems.size(), 51U);
  EXPECT_EQ(Problems(parse).front(),
            "f.yaml:1:4: the anchor '&a' is not allowed; write the value out where it is needed");
  EXPECT_EQ(parse.problems.back().message, "too many problems; the rest is not shown");
}

// Processor time (the machine may be busy) for a mapping of `keys` keys; the best of three.
std::clock_t TimeFor(int keys) {
  std::string text;
  for (int i = 0; i < keys; ++i) text += "key" + std::to_string(i) + ": v\n";
  std::clock_t best = std::numeric_limits<std::clock_t>::max();
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(ParseYaml("f.yaml", text, {}).documents.at(0).members.size(), static_cast<std::size_t>(keys));
    best = std::min(best, std::clock() - start);
  }
  return best;
}

TEST(ParseYaml, TimeGrowsWithTheNumberOfKeysNotWithItsSquare) {
  EXPECT_LT(TimeFor(1000), 40 * TimeFor(100));  // linear: 10 times, quadratic: 100 times
}

struct ScalarRow {
  std::string plain;
  std::string want;
};

// What `kubectl create --dry-run=client -o json` makes of these (sigs.k8s.io/yaml goyaml.v2/resolve.go).
TEST(YamlToJson, TypesPlainScalarsAsKubectlDoes) {
  const ScalarRow rows[] = {
      {"yes", "true"},
      {"y", "true"},
      {"On", "true"},
      {"TRUE", "true"},
      {"n", "false"},
      {"off", "false"},
      {"No", "false"},
      {"yEs", R"("yEs")"},
      {"null", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"nil", R"("nil")"},
      {"0", "0"},
      {"-0", "0"},
      {"+12", "12"},
      {"-12", "-12"},
      {"012", "10"},
      {"0o17", "15"},
      {"0O17", "15"},
      {"0x1F", "31"},
      {"-0x10", "-16"},
      {"0b11", "3"},
      {"1_000", "1000"},
      {"08", "8"},
      {"0x", R"("0x")"},
      {"+", R"("+")"},
      {"1_", "1"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "1.8446744073709552e+19"},
      {"0xFFFFFFFFFFFFFFFFFF", "4.722366482869645e+21"},
      {"-0xFFFFFFFFFFFFFFFFFF", R"("-0xFFFFFFFFFFFFFFFFFF")"},
      {"1.5", "1.5"},
      {"1.10", "1.1"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1000"},
      {"2e0", "2"},
      {"1E-7", "1e-07"},
      {"-0.0", "-0"},
      {"1e400", R"("1e400")"},
      {"1e-400", "0"},
      {"0.1", "0.1"},
      {"1e18", "1e+18"},
      {"1e17", "100000000000000000"},
      {".", R"(".")"},
      {"1.2.3", R"("1.2.3")"},
      {"1e", R"("1e")"},
      {"._1", R"("._1")"},
      {".5_0", R"(".5_0")"},
      {".inf", R"(".inf")"},
      {"-.INF", R"("-.INF")"},
      {".NaN", R"(".NaN")"},
      {"inf", R"("inf")"},
      {"2026-11-29", R"("2026-11-29")"},
      {"2026-11-29T12:18:16Z", R"("2026-11-29T12:18:16Z")"},
      {"12:30", R"("12:30")"},
      {"500m", R"("500m")"},
      {"64Gi", R"("64Gi")"},
      {"1e3m", R"("1e3m")"},
      {"a b", R"("a b")"},
  };
  for (const ScalarRow& row : rows)
    EXPECT_EQ(Jsons(ParseYaml("f.yaml", "v: " + row.plain, {})), Strings{"{\"v\":" + row.want + "}"}) << row.plain;
}

TEST(YamlToJson, TypesKeysAsKubectlDoes) {
  const ScalarRow rows[] = {
      {"on", "true"},       {"n", "false"},   {"'on'", "on"},    {"0x10", "16"},
      {"010", "8"},         {"1.10", "1.1"},  {"1e6", "1e+06"},  {"123456.0", "123456"},
      {"0.00001", "1e-05"}, {".inf", ".inf"}, {"1e300", ".inf"}, {"a/b", "a/b"},
  };
  for (const ScalarRow& row : rows)
    EXPECT_EQ(Jsons(ParseYaml("f.yaml", row.plain + ": 1", {})), Strings{"{\"" + row.want + "\":1}"}) << row.plain;
}

}  // namespace
}  // namespace podium
