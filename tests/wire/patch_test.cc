#include "wire/patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace podium {
namespace {

using Json = nlohmann::json;

Edit Change(std::string path, std::optional<EditValue> before, std::optional<EditValue> after,
            std::string missing_parent = "") {
  return {std::move(path), std::move(before), std::move(after), std::move(missing_parent), "rule", "reason"};
}

const std::optional<EditValue> kNothing;

struct Row {
  std::string name;
  std::vector<Edit> edits;
  std::string document;
  std::string want_patch;
  std::string want_document;
};

TEST(MakePatch, MakesTheFewestOperationsThatApply) {
  const std::string label = "/spec/template/metadata/labels/podium.gpu~1workload-type";
  const Row rows[] = {
      {"nothing to do", {}, "{}", "[]", "{}"},
      {"already there", {Change("/a", "x", "x"), Change("/b", 5, 5)}, R"({"a":"x","b":5})", "[]", R"({"a":"x","b":5})"},
      {"neither before nor after", {Change("/a", kNothing, kNothing, "/m")}, "{}", "[]", "{}"},
      {"add", {Change("/a", kNothing, "x")}, "{}", R"([{"op":"add","path":"/a","value":"x"}])", R"({"a":"x"})"},
      {"replace", {Change("/a", "x", 7)}, R"({"a":"x"})", R"([{"op":"replace","path":"/a","value":7}])", R"({"a":7})"},
      {"remove", {Change("/a", 7, kNothing)}, R"({"a":7})", R"([{"op":"remove","path":"/a"}])", "{}"},
      {"the trio on a pod",
       {Change("/spec/priorityClassName", "cluster-default", "inference-interactive"),
        Change("/spec/priority", 100, kNothing), Change("/spec/preemptionPolicy", "PreemptLowerPriority", kNothing)},
       R"({"spec":{"priorityClassName":"cluster-default","priority":100,"preemptionPolicy":"PreemptLowerPriority"}})",
       R"([{"op":"replace","path":"/spec/priorityClassName","value":"inference-interactive"},)"
       R"({"op":"remove","path":"/spec/priority"},{"op":"remove","path":"/spec/preemptionPolicy"}])",
       R"({"spec":{"priorityClassName":"inference-interactive"}})"},
      {"missing parent, one level, once for two edits",
       {Change("/metadata/annotations/a~1x", kNothing, "1", "/metadata/annotations"),
        Change("/metadata/annotations/a~1y", kNothing, "2", "/metadata/annotations")},
       R"({"metadata":{}})",
       R"([{"op":"add","path":"/metadata/annotations","value":{}},)"
       R"({"op":"add","path":"/metadata/annotations/a~1x","value":"1"},)"
       R"({"op":"add","path":"/metadata/annotations/a~1y","value":"2"}])",
       R"({"metadata":{"annotations":{"a/x":"1","a/y":"2"}}})"},
      {"missing parent, two levels",
       {Change(label, kNothing, "batch", "/spec/template/metadata")},
       R"({"spec":{"template":{}}})",
       R"([{"op":"add","path":"/spec/template/metadata","value":{}},)"
       R"({"op":"add","path":"/spec/template/metadata/labels","value":{}},)"
       R"({"op":"add","path":"/spec/template/metadata/labels/podium.gpu~1workload-type","value":"batch"}])",
       R"({"spec":{"template":{"metadata":{"labels":{"podium.gpu/workload-type":"batch"}}}}})"},
      {"one missing parent, then two branches below it",
       {Change("/metadata/labels/a", kNothing, "1", "/metadata"),
        Change("/metadata/annotations/b", kNothing, "2", "/metadata")},
       "{}",
       R"([{"op":"add","path":"/metadata","value":{}},{"op":"add","path":"/metadata/labels","value":{}},)"
       R"({"op":"add","path":"/metadata/labels/a","value":"1"},{"op":"add","path":"/metadata/annotations","value":{}},)"
       R"({"op":"add","path":"/metadata/annotations/b","value":"2"}])",
       R"({"metadata":{"annotations":{"b":"2"},"labels":{"a":"1"}}})"},
      {"values are escaped",
       {Change("/a", kNothing, "q\"\n")},
       "{}",
       R"([{"op":"add","path":"/a","value":"q\"\n"}])",
       R"({"a":"q\"\n"})"},
  };
  for (const Row& row : rows) {
    const std::string patch = MakePatch(row.edits);
    EXPECT_EQ(patch, row.want_patch) << row.name;
    EXPECT_EQ(Json::parse(row.document).patch(Json::parse(patch)), Json::parse(row.want_document)) << row.name;
  }
}

TEST(EscapePointerSegment, EscapesTildeAndSlash) {
  EXPECT_EQ(EscapePointerSegment("app/x~y"), "app~1x~0y");
  EXPECT_EQ(EscapePointerSegment("~1"), "~01");
  EXPECT_EQ(EscapePointerSegment(""), "");
}

TEST(Base64, PadsToFour) {  // RFC 4648, section 10
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xff\xef\xfe", "/+/+"},
  };
  for (const auto& [bytes, want] : rows) EXPECT_EQ(Base64(bytes), want);
}

}  // namespace
}  // namespace podium
