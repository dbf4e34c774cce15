#include "wire/manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace podium {
namespace {

std::vector<std::string> NamesIn(const std::string& text) {
  std::vector<std::string> names;
  const ManifestParse parse = ParseManifests("m.yaml", text);
  for (const YamlProblem& problem : parse.problems) ADD_FAILURE() << FormatProblem(problem);
  for (const Manifest& manifest : parse.manifests) names.push_back(manifest.kind + "/" + manifest.name);
  return names;
}

std::vector<std::string> ProblemsIn(const std::string& text) {
  std::vector<std::string> problems;
  for (const YamlProblem& problem : ParseManifests("m.yaml", text).problems) problems.push_back(FormatProblem(problem));
  return problems;
}

TEST(ManifestTest, ADocumentBecomesJsonWithItsPlace) {
  const ManifestParse parse =
      ParseManifests("m.yaml", "# a pod\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\n");
  ASSERT_EQ(parse.manifests.size(), 1U);
  const Manifest& manifest = parse.manifests[0];
  EXPECT_EQ(manifest.span, (SourceSpan{"m.yaml", 3, 1}));
  EXPECT_EQ(manifest.json, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"team"}})");
  EXPECT_EQ(manifest.api_version, "v1");
  EXPECT_EQ(manifest.namespace_name, "team");
}

TEST(ManifestTest, SeveralDocumentsAndEmptyOnes) {
  EXPECT_EQ(NamesIn("---\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# nothing\n---\n"
                    "apiVersion: v1\nkind: B\nmetadata: {generateName: b-}\n"),
            (std::vector<std::string>{"A/a", "B/b-"}));
}

TEST(ManifestTest, ListsAreReplacedByTheirItems) {
  const std::string a = "{apiVersion: v1, kind: A, metadata: {name: a}}";
  const std::string inner = "{apiVersion: v1, kind: PodList, items: [" + a + "]}";
  EXPECT_EQ(NamesIn("apiVersion: v1\nkind: List\nitems: [" + a + ", " + inner + "]\n"),
            (std::vector<std::string>{"A/a", "A/a"}));
  EXPECT_EQ(
      NamesIn(R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"J","metadata":{"name":"j"}}]})"),
      (std::vector<std::string>{"J/j"}));
  EXPECT_EQ(NamesIn("apiVersion: v1\nkind: List\nitems: []\n"), std::vector<std::string>{});
}

TEST(ManifestTest, JsonAndWhatOnlyLooksLikeIt) {
  EXPECT_EQ(NamesIn(R"( {"apiVersion":"v1","kind":"A","metadata":{"name":"\ud83d\ude00"}})"),
            (std::vector<std::string>{"A/\xF0\x9F\x98\x80"}));
  EXPECT_EQ(NamesIn("{apiVersion: v1, kind: A, metadata: {name: a}}"), (std::vector<std::string>{"A/a"}));
  EXPECT_EQ(NamesIn("{\"apiVersion\": v1, kind: A}"), (std::vector<std::string>{"A/"}));
  EXPECT_EQ(ProblemsIn("{\"apiVersion\": \"v1\",\n \"kind\": ]}"),
            (std::vector<std::string>{"m.yaml:2:10: this is not valid JSON"}));
}

TEST(ManifestTest, WhatIsNoObjectIsToldWithItsPlace) {
  EXPECT_EQ(
      ProblemsIn("apiVersion: v1\nkind: List\nitems:\n  - {kind: A}\n  - text\n  - {apiVersion: v1, kind: [A]}\n"),
      (std::vector<std::string>{
          "m.yaml:4:5: this is no Kubernetes object: 'apiVersion' is missing; wanted: an object with apiVersion "
          "and kind",
          "m.yaml:5:5: this is no Kubernetes object; wanted: a mapping with apiVersion and kind",
          "m.yaml:6:5: this is no Kubernetes object: 'kind' is missing; wanted: an object with apiVersion and "
          "kind"}));
  EXPECT_EQ(ProblemsIn(R"({"apiVersion":"v1"})").size(), 1U);
  EXPECT_EQ(ProblemsIn("- a\n- b\n").size(), 1U);
}

TEST(ManifestTest, MetadataOfTheWrongTypeIsNoName) {
  EXPECT_EQ(NamesIn("{apiVersion: v1, kind: A, metadata: text}"), (std::vector<std::string>{"A/"}));
  EXPECT_EQ(NamesIn(R"({"apiVersion":"v1","kind":"A","metadata":[1]})"), (std::vector<std::string>{"A/"}));
  EXPECT_EQ(NamesIn(R"({"apiVersion":"v1","kind":"A","metadata":{"name":7}})"), (std::vector<std::string>{"A/"}));
}

TEST(ManifestTest, JsonAtOnePlace) {
  EXPECT_EQ(JsonAt(R"({"a":{"b":[1,{"c":"x"}]}})", "/a/b/1").value(), R"({"c":"x"})");
  EXPECT_EQ(JsonAt("{}", "").value(), "{}");
  EXPECT_EQ(JsonAt("{}", "/a").error(), (Error{ErrorKind::kNotFound, "there is nothing at '/a'"}));
  EXPECT_EQ(JsonAt("[1]", "/x").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(JsonAt("{", "/a").error().kind, ErrorKind::kInvalidInput);
}

}  // namespace
}  // namespace podium
