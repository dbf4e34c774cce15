// `podium feasibility` and `podium gpus` on cluster files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run.h"
#include "fakes/golden.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kSamples = "../../../policies/samples/feasibility/";
const std::string kFourNodes = kSamples + "cluster.yaml";
const std::string kTwoGpus = kSamples + "two-gpu-pod.yaml";
const std::string kOneGpu = kSamples + "one-gpu-pod.yaml";

CliRun Ask(std::vector<std::string> more, const std::string& input = "") {
  more.insert(more.begin(), {"feasibility", "--scheduler-version", "1.36"});
  return RunPodium(more, input, 80);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(std::string(PODIUM_TEST_DIR) + "/cli/data/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Feasibility, FourOneGpuNodesNeverTakeATwoGpuPod) {
  const CliRun run = Ask({"-f", kTwoGpus, "--cluster", kFourNodes});
  EXPECT_EQ(run.code, kExitNoRoom);
  EXPECT_EQ(run.err, "");
  ExpectGolden("cli/feasibility-never.txt", run.out);
}

TEST(Feasibility, OneGpuIsFreedByEvictingTheYoungestPod) {
  const CliRun run = Ask({"-f", kOneGpu, "--cluster", kFourNodes});
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/feasibility-preemption.txt", run.out);
}

TEST(Feasibility, ManyNodesAreNotAllDrawn) {
  const CliRun run = Ask({"-f", "feasibility/pod.yaml", "--cluster", "feasibility/mixed.yaml"});
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/feasibility-mixed.txt", run.out);
  ExpectGolden("cli/feasibility-mixed-wide.txt",
               Ask({"-f", "feasibility/pod.yaml", "--cluster", "feasibility/mixed.yaml", "-o", "wide"}).out);
}

TEST(Feasibility, SeveralDocumentsAreAnsweredInTurn) {
  const CliRun run = Ask({"-f", "feasibility/several.yaml", "--cluster", kFourNodes});
  EXPECT_EQ(run.code, kExitRefused) << "one of them is refused by the policy";
  ExpectGolden("cli/feasibility-several.txt", run.out);
  const Json json = Json::parse(Ask({"-f", "feasibility/several.yaml", "--cluster", kFourNodes, "-o", "json"}).out);
  EXPECT_EQ(json["kind"], "FeasibilityReportList");
  ASSERT_EQ(json["items"].size(), 4U);
  EXPECT_EQ(json["items"][1]["object"]["template"], "/spec/template");
  EXPECT_EQ(json["items"][1]["workload"]["wanted"], 5);
  EXPECT_EQ(json["items"][3]["refused"]["code"], 403);
}

TEST(Feasibility, JsonIsTheReportWithWhatTheCommandKnows) {
  const CliRun run = Ask({"-f", kOneGpu, "--cluster", kFourNodes, "-o", "json"});
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/feasibility-preemption.json", run.out);
  const CliRun yaml = Ask({"-f", kOneGpu, "--cluster", kFourNodes, "-o", "yaml"});
  EXPECT_THAT(yaml.out, HasSubstr("kind: FeasibilityReport\n"));
}

TEST(Feasibility, ReplicasAndGangAreAsked) {
  const CliRun run = Ask({"-f", kOneGpu, "--cluster", kFourNodes, "--replicas", "5", "--gang"});
  EXPECT_EQ(run.code, kExitNoRoom);
  EXPECT_THAT(run.out, HasSubstr("5 wanted: 0 fit now, 4 after preemption, 1 do not fit"));
  EXPECT_THAT(run.out, HasSubstr("as a gang they"));
  EXPECT_EQ(Ask({"-f", kOneGpu, "--cluster", kFourNodes, "--replicas", "4"}).code, kExitOk);
  EXPECT_EQ(Ask({"-f", kTwoGpus, "--cluster", kFourNodes, "--replicas", "0"}).code, kExitOk);
}

TEST(Feasibility, ManifestsAndSnapshotsComeFromStandardInput) {
  EXPECT_EQ(Ask({"-f", "-", "--cluster", kFourNodes}, ReadFile(kOneGpu)).code, kExitOk);
  EXPECT_EQ(Ask({"-f", kOneGpu, "--snapshot", "-"}, ReadFile(kFourNodes)).code, kExitOk);
  const CliRun both = Ask({"-f", "-", "--snapshot", "-"});
  EXPECT_EQ(both.code, kExitUnusable);
  EXPECT_EQ(both.err, "-f - and --snapshot - both read standard input; name a file for one of them\n");
}

TEST(Feasibility, WhatASnapshotPrintsIsReadBack) {
  const CliRun snapshot = RunPodium({"snapshot", "--cluster", kFourNodes});
  ASSERT_EQ(snapshot.code, kExitOk);
  const CliRun direct = Ask({"-f", kOneGpu, "--cluster", kFourNodes, "-o", "json"});
  const CliRun read_back = Ask({"-f", kOneGpu, "--snapshot", "-", "-o", "json"}, snapshot.out);
  Json want = Json::parse(direct.out);
  Json got = Json::parse(read_back.out);
  want.erase("cluster");
  got.erase("cluster");
  EXPECT_EQ(got, want);
}

TEST(Feasibility, SaysAllThatIsWrongWithItsInput) {
  const CliRun nothing = Ask({"-f", "missing.yaml", "--cluster", kFourNodes, "-n", "No"});
  EXPECT_EQ(nothing.code, kExitUnusable);
  EXPECT_THAT(nothing.err, HasSubstr("--namespace: 'No' is no name of a namespace"));
  EXPECT_THAT(nothing.err, HasSubstr("missing.yaml: cannot read"));
  const CliRun version = RunPodium({"feasibility", "-f", kOneGpu, "--cluster", kFourNodes, "--scheduler-version", "new"});
  EXPECT_EQ(version.code, kExitUnusable);
  EXPECT_EQ(version.err, "podium feasibility: --scheduler-version: found 'new'; a version of Kubernetes is written as in "
                         "1.36\n");
  const CliRun no_pods = Ask({"-f", "-", "--cluster", kFourNodes}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
  EXPECT_EQ(no_pods.code, kExitUnusable);
  EXPECT_EQ(no_pods.err, "podium feasibility: none of these objects makes pods\n");
}

TEST(Feasibility, NamesWhoseRulesTheseAre) {
  const CliRun file = RunPodium({"feasibility", "-f", kOneGpu, "--cluster", kFourNodes}, "", 300);
  EXPECT_THAT(file.out, HasSubstr("kube-scheduler 1.37 (the newest known; --scheduler-version says another)"));
  EXPECT_THAT(file.out, Not(HasSubstr("\x1b[")));
}

TEST(Gpus, CountsEachPool) {
  const CliRun run = RunPodium({"gpus", "--cluster", "feasibility/mixed.yaml"}, "", 80);
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/gpus.txt", run.out);
  const CliRun json = RunPodium({"gpus", "--cluster", "feasibility/mixed.yaml", "-o", "json"});
  ExpectGolden("cli/gpus.json", json.out);
}

TEST(Gpus, SaysWhenThereAreNone) {
  const CliRun run = RunPodium({"gpus", "--snapshot", "-"}, "{kind: Node, metadata: {name: cpu-1}}");
  EXPECT_EQ(run.code, kExitOk);
  EXPECT_EQ(run.out, "no node has a GPU resource that the policy names\n");
}

}  // namespace
}  // namespace podium
