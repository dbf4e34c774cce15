#include "wire/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "wire/decode.h"
#include "wire/yaml.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using namespace std::string_literals;

std::string Escaped(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

struct EscapeRow {
  std::string name;
  std::string text;
  std::string want;
};

TEST(AppendJsonString, EscapesWhatJsonOrATerminalWouldActOn) {
  const EscapeRow rows[] = {
      {"empty", "", R"("")"},
      {"plain", "nvidia.com/gpu", R"("nvidia.com/gpu")"},
      {"quote and backslash", R"(a"b\c)", R"("a\"b\\c")"},
      {"named controls", "\b\f\n\r\t", R"("\b\f\n\r\t")"},
      {"other controls", "\x01\x1f"s, R"("\u0001\u001f")"},
      {"NUL", "a\0b"s, R"("a\u0000b")"},
      {"DEL", "a\x7f"s, R"("a\u007f")"},
      {"forged line", "eve\"}\n{\"user\":\"root", R"("eve\"}\n{\"user\":\"root")"},
      {"two, three and four bytes", "é€😀", R"("é€😀")"},
      {"line separator stays", "\xe2\x80\xa8", "\"\xe2\x80\xa8\""},
      {"lone continuation", "a\x80z", "\"a\xef\xbf\xbdz\""},
      {"cut sequence at the end", "a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
      {"overlong slash", "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"surrogate", "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {"beyond U+10FFFF", "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {"bad byte between good ones", "é\xff€", "\"é\xef\xbf\xbd€\""},
  };
  for (const EscapeRow& row : rows) EXPECT_EQ(Escaped(row.text), row.want) << row.name;
}

TEST(AppendJsonString, AnyBytesGiveOneLineOfValidJson) {
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    std::string text(random() % 24, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string json = Escaped(text);
    ASSERT_TRUE(Json::accept(json)) << round;
    ASSERT_EQ(json.find('\n'), std::string::npos) << round;
  }
}

// Every byte at every place of texts around the sizes that are looked at as one word.
TEST(IsPlainJsonText, HoldsForTextThatIsWrittenUnchanged) {
  EXPECT_TRUE(IsPlainJsonText(""));
  for (std::size_t size = 1; size <= 18; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, place % 2 == 0 ? ' ' : '~');
        text[place] = static_cast<char>(byte);
        const bool plain = byte >= 0x20 && byte <= 0x7e && byte != '"' && byte != '\\';
        ASSERT_EQ(IsPlainJsonText(text), plain) << size << " bytes, " << byte << " at " << place;
      }
    }
  }
}

TEST(JsonWriter, PutsTheCommas) {
  std::string text;
  JsonWriter w(text);
  w.BeginObject();
  w.Key("uid");
  w.String("a\"b");
  w.Key("list");
  w.BeginArray();
  w.Int(std::numeric_limits<std::int64_t>::min());
  w.BeginObject();
  w.EndObject();
  w.BeginArray();
  w.EndArray();
  w.Raw(R"({"x":1})");
  w.Null();
  w.EndArray();
  w.Key("yes");
  w.Bool(true);
  w.Key("no");
  w.Bool(false);
  w.EndObject();
  EXPECT_EQ(text, R"({"uid":"a\"b","list":[-9223372036854775808,{},[],{"x":1},null],"yes":true,"no":false})");
}

std::string Outcome(const Result<std::string>& result) { return result ? *result : "error: " + result.error().message; }

struct PatchRow {
  std::string name;
  std::string document;
  std::string patch;
  std::string want;
};

TEST(ApplyJsonPatch, AppliesOrSaysWhyNot) {
  const PatchRow rows[] = {
      {"add member", R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":[1]}}])", R"({"a":1,"b":{"c":[1]}})"},
      {"add over a member", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {"escaped segment", R"({"m":{}})", R"([{"op":"add","path":"/m/x~1y~0z","value":"v"}])", R"({"m":{"x/y~z":"v"}})"},
      {"insert into array", "[1,3]", R"([{"op":"add","path":"/1","value":2}])", "[1,2,3]"},
      {"append to array", "[1]", R"([{"op":"add","path":"/-","value":2}])", "[1,2]"},
      {"remove member", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {"remove item", "[1,2,3]", R"([{"op":"remove","path":"/1"}])", "[1,3]"},
      {"replace deep", R"({"a":[{"b":1}]})", R"([{"op":"replace","path":"/a/0/b","value":null}])",
       R"({"a":[{"b":null}]})"},
      {"replace the document", "1", R"([{"op":"replace","path":"","value":{"a":1}}])", R"({"a":1})"},
      {"test passes", R"({"a":1})", R"([{"op":"test","path":"/a","value":1},{"op":"remove","path":"/a"}])", "{}"},
      {"no operations", R"({"b":1,"a":2})", "[]", R"({"a":2,"b":1})"},
      {"duplicate keys: the last", R"({"a":1,"a":2})", "[]", R"({"a":2})"},
      {"test fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
       "error: operation 0 (test '/a') does not apply: the value there is another one"},
      {"missing parent", R"({"metadata":{}})", R"([{"op":"add","path":"/metadata/annotations/x","value":"1"}])",
       "error: operation 0 (add '/metadata/annotations/x') does not apply: its parent does not exist ('annotations' is "
       "missing)"},
      {"parent is a string", R"({"a":"s"})", R"([{"op":"add","path":"/a/b","value":1}])",
       "error: operation 0 (add '/a/b') does not apply: its parent is neither an object nor an array"},
      {"replace nothing", "{}", R"([{"op":"replace","path":"/a","value":1}])",
       "error: operation 0 (replace '/a') does not apply: nothing is there"},
      {"remove behind the end", "[1]", R"([{"op":"remove","path":"/-"}])",
       "error: operation 0 (remove '/-') does not apply: nothing is there"},
      {"index out of range", "[1]", R"([{"op":"add","path":"/3","value":1}])",
       "error: operation 0 (add '/3') does not apply: '3' is no index into an array of 1 items"},
      {"index with a leading zero", "[1,2]", R"([{"op":"replace","path":"/01","value":1}])",
       "error: operation 0 (replace '/01') does not apply: nothing is there"},
      {"negative index", "[1,2]", R"([{"op":"add","path":"/-1","value":1}])",
       "error: operation 0 (add '/-1') does not apply: '-1' is no index into an array of 2 items"},
      {"remove everything", "{}", R"([{"op":"remove","path":""}])",
       "error: operation 0 (remove '') does not apply: the whole document cannot be removed"},
      {"unknown operation", "{}", R"([{"op":"copy","from":"/a","path":"/b"}])",
       "error: operation 0: operation 'copy' is not supported; allowed are add, remove, replace, test"},
      {"no value", "{}", R"([{"op":"add","path":"/a"}])", "error: operation 0: 'value' is missing"},
      {"no path", "{}", R"([{"op":"remove"}])", "error: operation 0: 'path' is missing or not a string"},
      {"no pointer", "{}", R"([{"op":"remove","path":"a"}])",
       "error: operation 0: 'a' is no JSON pointer: it must be empty or begin with '/'"},
      {"operation is no object", "{}", "[1]", "error: operation 0: an operation must be an object"},
      {"patch is no array", "{}", "{}", "error: the patch: found object, a JSON patch is an array"},
      {"patch is no JSON", "{}", "[", "error: the patch: line 1, column 2: this is not valid JSON"},
      {"document is no JSON", "{\n  \"a\": x}", "[]",
       "error: the document to patch: line 2, column 8: this is not valid JSON"},
  };
  for (const PatchRow& row : rows) EXPECT_EQ(Outcome(ApplyJsonPatch(row.document, row.patch)), row.want) << row.name;
}

TEST(ApplyJsonPatch, CannotBuildADocumentTooDeepToPrint) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  std::string patch = R"([{"op":"add","path":"/-","value":)" + deep + "}";
  std::string path;
  for (int level = 0; level < 100; ++level) path += "/0";
  patch += R"(,{"op":"add","path":")" + path + R"(/-","value":)" + deep + "}]";
  EXPECT_EQ(Outcome(ApplyJsonPatch("[]", patch)), "error: the patched document is nested deeper than 128 levels");
}

std::string Nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

struct BadRow {
  std::string name;
  std::string text;
  std::string want;
};

TEST(PrettyJson, RefusesWhatCannotBePrintedSafely) {
  const BadRow rows[] = {
      {"empty", "", "error: line 1, column 1: this is not valid JSON"},
      {"cut", "{\"a\":", "error: line 1, column 6: this is not valid JSON"},
      {"two documents", "{}\n{}", "error: line 2, column 1: this is not valid JSON"},
      {"text behind a NUL", "{}\0x"s, "error: line 1, column 3: a NUL byte is not allowed in JSON"},
      {"invalid UTF-8", "\"\xff\"", "error: line 1, column 2: this is not valid JSON"},
      {"number beyond double", "[1e400]", "error: line 1, column 6: a number is too large for any program"},
      {"129 levels", Nested(129), "error: the document is nested deeper than 128 levels"},
      {"100,000 levels", Nested(100'000), "error: the document is nested deeper than 128 levels"},
      {"too many bytes", std::string((7 << 20) + 1, ' '),
       "error: the document has 7340033 bytes; at most 7340032 are allowed"},
  };
  for (const BadRow& row : rows) {
    EXPECT_EQ(Outcome(PrettyJson(row.text)), row.want) << row.name;
    EXPECT_EQ(Outcome(JsonToYaml(row.text)), row.want) << row.name;
  }
}

TEST(PrettyJson, RefusesTextThatIndentationWouldMakeHuge) {
  std::string wide(128, '[');
  for (int i = 0; i < 260'000; ++i) wide += "0,";
  wide += "0" + std::string(128, ']');
  EXPECT_EQ(Outcome(PrettyJson(wide)), "error: the document would be larger than 64 MiB when indented");
}

TEST(PrettyJson, IndentsByTwo) {
  EXPECT_EQ(Outcome(PrettyJson(R"({"b":[1,{}],"a":"é"})")), "{\n  \"a\": \"é\",\n  \"b\": [\n    1,\n    {}\n  ]\n}");
  EXPECT_TRUE(PrettyJson(Nested(128)));
}

TEST(JsonToYaml, LooksLikeKubectl) {
  const std::string json = R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"chat","on":"yes"},"name":"x",
    "annotations":{}},"spec":{"containers":[{"name":"server","image":"registry.example.com/a:1.9.0",
    "args":["-c","echo a: b # c","two\nlines"],"resources":{"limits":{"nvidia.com/gpu":"1","memory":"64Gi"}}}],
    "matrix":[[1,2],[],[[true]]],"priority":100,"ratio":2.5,"none":null}})";
  EXPECT_EQ(Outcome(JsonToYaml(json)), R"(apiVersion: v1
kind: Pod
metadata:
  annotations: {}
  labels:
    app: chat
    "on": "yes"
  name: x
spec:
  containers:
  - args:
    - "-c"
    - "echo a: b # c"
    - "two\nlines"
    image: registry.example.com/a:1.9.0
    name: server
    resources:
      limits:
        memory: 64Gi
        nvidia.com/gpu: "1"
  matrix:
  - - 1
    - 2
  - []
  - - - true
  none: null
  priority: 100
  ratio: 2.5
)");
}

TEST(JsonToYaml, QuotesWhatAYamlReaderWouldTakeForSomethingElse) {
  for (const std::string text :
       {"",         "~",    "null",  "Null", "true",     "YES",  "no",   "on",    "Off",        "y",
        "N",        "1",    "-1",    "+1",   "1e3",      "1.5",  ".5",   "5.",    "012",        "0x1F",
        "0o17",     "0b11", "1_000", "1:30", "12:30:45", ".inf", ".NaN", "-.Inf", "2026-11-29", "2026-11-29T12:18:16Z",
        " a",       "a ",   "a: b",  "a:",   ":a",       "a #b", "#a",   "- a",   "-",          "? a",
        "[a",       "{a",   "&a",    "*a",   "!a",       "|",    ">",    "'a",    "\"a",        "%a",
        "@a",       "`a",   "a\nb",  "a\tb", "---",      "...",  "<<",   "=",     "é",          "a\x7f",
        "a\u0085b", "a  b", "{}",    "[]"}) {
    const std::string yaml = Outcome(JsonToYaml(Escaped(text)));
    EXPECT_EQ(yaml.front(), '"') << text;
  }
  for (const std::string text : {"a", "a b", "500m", "64Gi", "a:b", "nvidia.com/gpu", "/dev/null", "v1", "9yards"})
    EXPECT_EQ(Outcome(JsonToYaml(Escaped(text))), text + "\n");
}

// --- round trip: JSON -> YAML -> tree -> JSON ------------------------------------------------------------------------

std::string RandomText(std::mt19937& random) {
  static const std::string kPieces[] = {
      "yes",    "1e3", "012", "null", "~",    " ",  ": ", ":",  "#",  " #",     "\n",         "\t", "-",    "- ",
      "? ",     "'",   "\"",  "\\",   "a",    "é",  "😀",  ",",  "[",  "]",      "{",          "}",  "&",    "*",
      "!",      "|",   ">",   "%",    "@",    "`",  "=",  "<<", "0x", "_",      "2026-11-29", ".",  "\x7f", "\x01",
      "\u0085", "---", "...", "\r\n", "true", "on", "1",  "b",  "/",  "\u2028", "+",          "0b1"};
  std::string text;
  for (unsigned i = random() % 5; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
  if (random() % 50 == 0) text += std::string(200, 'k');  // longer than a simple key
  return text;
}

Json RandomNumber(std::mt19937& random) {
  switch (random() % 5) {
    case 0: return static_cast<int>(random() % 2000) - 1000;
    case 1: return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(random());
    case 2: return std::numeric_limits<std::uint64_t>::max() - random();
    case 3: return std::ldexp(static_cast<double>(random()) + 0.5, static_cast<int>(random() % 600) - 300);
    default: return static_cast<double>(random() % 1000) / 8;
  }
}

Json RandomJson(std::mt19937& random, int depth) {
  switch (random() % (depth == 0 ? 4 : 6)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return RandomNumber(random);
    case 3: return RandomText(random);
    case 4: {
      Json array = Json::array();
      for (unsigned i = random() % 4; i > 0; --i) array.push_back(RandomJson(random, depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (unsigned i = random() % 4; i > 0; --i) object[RandomText(random)] = RandomJson(random, depth - 1);
      return object;
    }
  }
}

TEST(JsonToYaml, ComesBackThroughParseYaml) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const Json json = Json::array({RandomJson(random, 4)});
    const Result<std::string> yaml = JsonToYaml(json.dump());
    ASSERT_TRUE(yaml) << yaml.error().message;
    const YamlParse parse = ParseYaml("x.yaml", *yaml, {});
    ASSERT_EQ(parse.problems, std::vector<YamlProblem>{}) << *yaml << parse.problems[0].message;
    ASSERT_EQ(Json::parse(YamlToJson(parse.documents.at(0))), json) << *yaml;
  }
}

}  // namespace
}  // namespace podium
