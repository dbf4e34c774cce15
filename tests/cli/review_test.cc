#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/run.h"
#include "fakes/golden.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> kReview = {"review", "--policy", "policy.yaml"};

CliRun Review(std::vector<std::string> more, const std::string& input = "") {
  std::vector<std::string> arguments = kReview;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunPodium(arguments, input);
}

constexpr const char* kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {podium.gpu/workload-type: interactive}}\n"
    "spec: {containers: [{name: a, image: i}]}\n";

TEST(ReviewTest, TableOfAllowedAndRefused) {
  const CliRun run = Review({"manifests"});
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_EQ(run.err, "");
  ExpectGolden("cli/review.txt", run.out);
}

TEST(ReviewTest, JsonReport) {
  const CliRun run = Review({"-o", "json", "manifests"});
  EXPECT_EQ(run.code, kExitRefused);
  ExpectGolden("cli/review.json", run.out);
}

TEST(ReviewTest, YamlReport) {
  const CliRun run = Review({"-o", "yaml", "manifests"});
  EXPECT_EQ(run.code, kExitRefused);
  ExpectGolden("cli/review.yaml", run.out);
}

TEST(ReviewTest, PatchedObjectsWithoutTheRefusedOnes) {
  const CliRun run = Review({"-o", "patched", "manifests"});
  EXPECT_EQ(run.code, kExitRefused);
  ExpectGolden("cli/patched.yaml", run.out);
  ExpectGolden("cli/patched.err", run.err);
}

// What is stored has its class: sent again, nothing is left to do.
TEST(ReviewTest, PatchedOutputIsAFixedPoint) {
  const CliRun first = Review({"-o", "patched", "manifests/allowed.yaml"});
  ASSERT_EQ(first.code, kExitOk);
  const CliRun second = Review({"-o", "json", "-"}, first.out);
  ASSERT_EQ(second.code, kExitOk) << second.err;
  const json report = json::parse(second.out);
  for (const json& item : report["items"]) EXPECT_EQ(item["patch"], json::array()) << item["name"];
  EXPECT_EQ(Review({"-o", "patched", "-"}, first.out).out, first.out);
}

TEST(ReviewTest, AClusterFilesClassesCountInsteadOfThePolicys) {
  const CliRun run = Review({"-o", "json", "--cluster", "cluster.yaml", "-"}, kPod);
  ASSERT_EQ(run.code, kExitOk) << run.err;
  const json slot = json::parse(run.out)["items"][0]["templates"][0];
  EXPECT_EQ(slot["before"]["priorityClassName"], "live-default");
  EXPECT_EQ(slot["before"]["priority"], 7);
  EXPECT_EQ(slot["after"]["priorityClassName"], "high");
  EXPECT_EQ(slot["after"]["priority"], 2000);
}

TEST(ReviewTest, ObjectsWithoutANamespaceAreReviewedInTheGivenOne) {
  const CliRun run = Review({"-o", "json", "-n", "team-a", "-"}, kPod);
  EXPECT_EQ(json::parse(run.out)["items"][0]["namespace"], "team-a");
}

TEST(ReviewTest, TheApiServersOwnRefusalIsARefusal) {
  const CliRun run = Review({"-o", "json", "-"},
                            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priority: 5, containers: []}\n");
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_EQ(json::parse(run.out)["items"][0]["message"],
            "by the API server: pods \"p\" is forbidden: the integer value of priority (5) must not be provided in pod "
            "spec; priority admission controller computed 100 from the given PriorityClass name");
}

TEST(ReviewTest, EveryProblemOfEveryInputIsTold) {
  const TempDir dir;
  const std::string bad_yaml = dir.Write("a.yaml", "apiVersion: v1\nkind: Pod\nkind: Pod\n");
  const std::string no_kind = dir.Write("b.yaml", "---\napiVersion: v1\nmetadata: {name: x}\n");
  const std::string bad_json = dir.Write("c.json", "{\"apiVersion\": \"v1\",\n  \"kind\": }\n");
  const CliRun run = Review({bad_yaml, no_kind, bad_json, dir.File("missing.yaml"), "manifests/allowed.yaml"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(bad_yaml + ":3:1: "));
  EXPECT_THAT(run.err, HasSubstr(no_kind + ":2:1: this is no Kubernetes object: 'kind' is missing; wanted: an object "
                                           "with apiVersion and kind\n"));
  EXPECT_THAT(run.err, HasSubstr(bad_json + ":2:11: "));
  EXPECT_THAT(run.err, HasSubstr(dir.File("missing.yaml") + ": cannot read: No such file or directory\n"));
}

TEST(ReviewTest, ManifestsMayComeThroughAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], kPod, std::strlen(kPod)), static_cast<ssize_t>(std::strlen(kPod)));
  ::close(ends[1]);
  const CliRun run = Review({"-o", "json", "/dev/fd/" + std::to_string(ends[0])});
  ::close(ends[0]);
  EXPECT_EQ(run.code, kExitOk) << run.err;
  EXPECT_EQ(json::parse(run.out)["items"][0]["name"], "p");
}

TEST(ReviewTest, WhatIsTooLargeIsNotMeasured) {
  const TempDir dir;
  const std::string path = dir.Write("large.yaml", std::string(9 << 20, '#'));
  EXPECT_EQ(Review({path, "-"}, std::string((7 << 20) + 1, '#')).err,
            path +
                ": it has more than 7340032 bytes, the most that is read; split it\n"
                "-: it has more than 7340032 bytes, the most that is read; split it\n");
}

// The file is within the limit, what would be sent of it is not.
TEST(ReviewTest, AnObjectThatMakesTooLargeAReviewIsToldWithBothSizes) {
  json object = json::parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"a":""},"name":"p"},"spec":{"containers":[]}})");
  object["metadata"]["annotations"]["a"] = std::string((7 << 20) - object.dump().size(), 'x');
  const CliRun run = Review({"-"}, object.dump());
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, testing::MatchesRegex("-:1:1: the object has 7340032 bytes as JSON and its AdmissionReview "
                                             "7340[0-9]*; at most 7340032 are read by a webhook\n"));
}

TEST(ReviewTest, AClusterFileMayBeLargerThanAManifest) {
  const TempDir dir;
  std::string text = ReadFileText(std::string(PODIUM_TEST_DIR) + "/cli/data/cluster.yaml");
  for (int i = 0; i < 8; ++i) text += "#" + std::string(1 << 20, 'x') + "\n";
  const CliRun run = Review({"--cluster", dir.Write("cluster.yaml", text), "-"}, kPod);
  EXPECT_EQ(run.code, kExitOk) << run.err;
}

TEST(ReviewTest, ANamespaceThatCannotBeIsUnusable) {
  EXPECT_EQ(Review({"-n", "", "-"}, kPod).err,
            "--namespace: '' is no name of a namespace; allowed: 1 to 63 lower-case letters, digits and '-', with a "
            "letter or digit at both ends\n");
}

// The API server would get one warning of 120 bytes; here there is room for the reason.
TEST(ReviewTest, AnObjectThatCannotBeReadIsToldWholeAndIsUnusable) {
  const std::string unreadable =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: team}\n"
      "spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 'one and a half cores, or two on "
      "Mondays'}}}]}}}\n";
  const std::string reason =
      "the object cannot be read: /spec/template/spec/containers/0/resources/requests/cpu: 'one and a half cores, or "
      "two on Mondays' is not a quantity; allowed is a decimal number with at most one suffix, n u m k M G T P E Ki Mi "
      "Gi Ti Pi Ei or an exponent: 2, 0.5, 500m, 16Gi, 2e3";
  const CliRun table = Review({"-"}, unreadable);
  EXPECT_EQ(table.code, kExitUnusable);
  EXPECT_THAT(table.out, HasSubstr("\n  problem  the policy was not applied: the object cannot be read:\n"
                                   "           /spec/template/spec/containers/0/resources/requests/cpu: 'one and a "
                                   "half cores, or two on\n"));
  EXPECT_THAT(table.out, HasSubstr("or an exponent: 2, 0.5, 500m, 16Gi, 2e3\n\n"
                                   "1 object: 1 allowed, 0 refused, 1 of them without a decision, by policy"));
  const CliRun report = Review({"-o", "json", "-"}, unreadable + "---\n" + kPod);
  EXPECT_EQ(report.code, kExitUnusable);
  const json item = json::parse(report.out)["items"][0];
  EXPECT_EQ(item["internalError"], reason);
  EXPECT_EQ(item["verdict"], "allow");
  const CliRun patched = Review({"-o", "patched", "-"}, unreadable);
  EXPECT_EQ(patched.code, kExitUnusable);
  EXPECT_EQ(patched.err, "-:1:1: Deployment/d is passed on without the policy: " + reason + "\n");
}

TEST(ReviewTest, AnEmptyInputIsUnusable) {
  EXPECT_EQ(Review({"-"}, "# nothing\n").err, "-: there is no object in it; wanted: Kubernetes manifests\n");
  const TempDir dir;
  EXPECT_EQ(Review({dir.path()}).err, dir.path() + ": there is no manifest in it; wanted: *.yaml, *.yml or *.json\n");
}

TEST(ReviewTest, AFolderIsReadRecursivelySortedWithoutHiddenFiles) {
  const TempDir dir;
  const auto map = [](const std::string& name) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n";
  };
  dir.Write("b.yml", map("second"));
  dir.Write("a/z.yaml", map("first"));
  dir.Write("c.json", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"third"}})");
  dir.Write(".hidden.yaml", "not: [yaml");
  dir.Write(".git/x.yaml", "not: [yaml");
  dir.Write("notes.txt", "not a manifest");
  const CliRun run = Review({"-o", "json", dir.path()});
  ASSERT_EQ(run.code, kExitOk) << run.err;
  std::vector<std::string> names;
  const json report = json::parse(run.out);
  for (const json& item : report["items"]) names.push_back(item["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "second", "third"}));
}

TEST(ReviewTest, ABadPolicyIsUnusableInput) {
  const TempDir dir;
  const std::string policy = dir.Write("policy.yaml", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nspce: {}\n");
  const CliRun run = RunPodium({"review", "--policy", policy, "-"}, kPod);
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr(policy + ":3:1: error: "));
}

TEST(ReviewTest, UserTextCannotReachTheTerminalRaw) {
  const CliRun run =
      Review({"-"}, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"\\e[2Jx\", namespace: \"a\\nb\"}\n");
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(run.out, HasSubstr("ConfigMap/?[2Jx  a?b"));
}

TEST(ReviewTest, ExpectationsThatAreMetMakeRefusalsASuccess) {
  const TempDir dir;
  const std::string expected = dir.Write("expected.yaml",
                                         "- {object: Deployment/chat, verdict: allow, class: high}\n"
                                         "- {object: Pod/tag-, verdict: allow, class: high}\n"
                                         "- {object: ConfigMap/settings, verdict: allow, class: none}\n"
                                         "- {object: Job/eval, verdict: refuse, rule: multi-gpu-preemptible}\n"
                                         "- {object: Pod/lost, verdict: refuse, says: no PriorityClass}\n");
  const CliRun run = Review({"--expect", expected, "manifests"});
  EXPECT_EQ(run.code, kExitOk) << run.err;
  EXPECT_EQ(run.err, "every decision is as expected\n");
}

TEST(ReviewTest, EveryDifferenceFromTheExpectationIsTold) {
  const TempDir dir;
  const std::string expected =
      dir.Write("expected.yaml",
                "- {object: Deployment/chat, verdict: refuse}\n"
                "- {object: Pod/tag-, verdict: allow, class: low}\n"
                "- {object: Pod/gone, verdict: allow}\n"
                "- {object: ConfigMap/settings, verdict: allow, rule: some-rule, says: words}\n");
  const CliRun run = Review({"--expect", expected, "manifests/allowed.yaml"});
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_EQ(run.err, expected + ":1:3: Deployment/chat: expected refuse, got allow\n" + expected +
                         ":2:3: Pod/tag-: expected class low, got high\n" + expected +
                         ":4:3: ConfigMap/settings: expected rule some-rule, it was not named\n" + expected +
                         ":4:3: ConfigMap/settings: expected the words 'words'\n" + expected +
                         ":3:3: Pod/gone: not reviewed\nnot every decision is as expected\n");
}

TEST(ReviewTest, AnExpectationFileIsCheckedToTheColumn) {
  const TempDir dir;
  const std::string expected = dir.Write("expected.yaml", "- {object: chat, verdict: maybe, clas: x}\n");
  const CliRun run = Review({"--expect", expected, "manifests/allowed.yaml"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.err, expected +
                         ":1:34: unknown key 'clas'; allowed: object, verdict, class, rule, says; did you mean "
                         "'class'?\n" +
                         expected + ":1:3: 'object' is 'chat'; wanted: kind/name, for example Deployment/chat\n" +
                         expected + ":1:3: 'verdict' is 'maybe'; allowed: allow, refuse\n");
}

// The quick start's promise, without a server.
TEST(ReviewTest, TheSamplesAreDecidedAsTheirExpectationSays) {
  const std::string samples = std::string(PODIUM_SOURCE_DIR) + "/policies/samples";
  const CliRun run =
      RunPodium({"review", "--cluster", "sample", "--expect", samples + "/expected.yaml", samples + "/manifests"});
  EXPECT_EQ(run.code, kExitOk) << run.err << run.out;
}

}  // namespace
}  // namespace podium
