#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run.h"
#include "fakes/golden.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const std::string kCluster = "feasibility/waiting.yaml";

CliRun Why(const std::string& pod, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"why", pod, "--cluster", kCluster, "--scheduler-version", "1.36"});
  return RunPodium(more, "", 80);
}

TEST(Why, PutsTheConditionNextToWhatIsComputed) {
  const CliRun run = Why("serving/chat-large");
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/why-never.txt", run.out);
}

TEST(Why, NamesTheVictimsThatAreStillGoing) {
  const CliRun run = Why("pod/chat-small", {"-n", "serving"});
  EXPECT_EQ(run.code, kExitOk);
  ExpectGolden("cli/why-nominated.txt", run.out);
}

TEST(Why, SaysWhenTheConditionIsOutOfDate) {
  EXPECT_THAT(Why("serving/tool").out, HasSubstr("(that is over: it fits as the cluster is now)"));
  EXPECT_THAT(Why("serving/gated").out, HasSubstr("unknown: scheduling gates hold it back"));
}

TEST(Why, HasClearAnswersForPodsThatDoNotWait) {
  const struct {
    const char* pod;
    std::string out;
  } rows[] = {
      {"nlp-batch/embed-0", "Pod nlp-batch/embed-0 is on node gpu-s0, since 15h48m, and ready\n"},
      {"nlp-batch/embed-1", "Pod nlp-batch/embed-1 is on node gpu-s1 and being deleted\n"},
      {"nlp-batch/starting",
       "Pod nlp-batch/starting is on node gpu-s0 and has not started: its kubelet has it, not the scheduler\n"},
      {"nlp-batch/loading",
       "Pod nlp-batch/loading is on node gpu-s0, since 18m33s, but not ready: that is no matter of scheduling\n"},
      {"nlp-batch/done", "Pod nlp-batch/done has finished: Succeeded\n"},
      {"nlp-batch/broken", "Pod nlp-batch/broken has finished: Failed\n"},
  };
  for (const auto& row : rows) {
    const CliRun run = Why(row.pod);
    EXPECT_EQ(run.code, kExitOk) << row.pod;
    EXPECT_EQ(run.out, row.out);
  }
  const CliRun unknown = Why("chat");
  EXPECT_EQ(unknown.code, kExitUnusable);
  EXPECT_EQ(unknown.err, "podium why: there is no pod 'chat' in namespace 'default'; -n names another namespace\n");
}

TEST(Why, IsJson) {
  const Json waiting = Json::parse(Why("serving/chat-small", {"-o", "json"}).out);
  EXPECT_EQ(waiting["kind"], "PodExplanation");
  EXPECT_EQ(waiting["pending"], true);
  EXPECT_EQ(waiting["nominatedNode"], "gpu-s1");
  EXPECT_EQ(waiting["leaving"], (Json::array({{{"namespace", "nlp-batch"}, {"name", "embed-1"}, {"atMostSeconds", 27}}})));
  EXPECT_EQ(waiting["report"]["ineligible"], "TerminatingVictim");
  const Json bound = Json::parse(Why("nlp-batch/embed-0", {"-o", "json"}).out);
  EXPECT_EQ(bound, (Json{{"apiVersion", "podium.gpu/v1"},
                         {"kind", "PodExplanation"},
                         {"pod", {{"namespace", "nlp-batch"}, {"name", "embed-0"}}},
                         {"pending", false},
                         {"node", "gpu-s0"}}));
}

}  // namespace
}  // namespace podium
