#include "admission/advice_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "builders/clusters.h"

namespace podium {
namespace {

// A report about nodes with these names, and a pod of namespace "nlp".
struct Case {
  explicit Case(Feasibility verdict, const std::vector<std::string>& nodes = {"gpu-7"}) {
    ClusterBuilder builder;
    for (const std::string& name : nodes) builder.WithNode(name, {});
    report.nodes = builder.Build().nodes;
    report.verdict = verdict;
  }

  Case& Evicting(const std::vector<std::string>& names, std::chrono::seconds wait) {
    for (const std::string& name : names) victims.push_back(MakePod(name, {}));
    plan.emplace();
    for (const Pod& victim : victims) plan->victims.emplace_back().pod = &victim;
    plan->wait_at_most = wait;
    return *this;
  }
  Case& Saying(std::string message) {
    report.message = std::move(message);
    return *this;
  }
  Case& Wanting(std::int64_t wanted, std::vector<NodeRoom> nodes = {}, std::int64_t most = 0) {
    room.emplace().resource = "nvidia.com/gpu";
    room->wanted = wanted;
    room->nodes = std::move(nodes);
    room->most_on_one_node = most;
    return *this;
  }
  [[nodiscard]] std::string Warning(std::int64_t replicas = 1) const {
    return WarningText({pod, report, plan, room, replicas});
  }

  Pod pod = MakePod("nlp/chat", {});
  FeasibilityReport report;
  std::vector<Pod> victims;
  std::optional<PreemptionPlan> plan;
  std::optional<Room> room;
};

using Seconds = std::chrono::seconds;
const std::string kLong = "ip-10-0-117-212.eu-central-1.compute.internal.gpu-pool-of-the-research-team";

TEST(WarningText, NamesOwnVictimsWhileThereIsRoom) {
  using enum Feasibility;
  EXPECT_EQ(Case(kFitsAfterPreemption).Evicting({"nlp/a"}, Seconds(300)).Warning(),
            "podium: fits after evicting 1 pod on gpu-7 (nlp/a), up to 300 s");
  EXPECT_EQ(Case(kFitsAfterPreemption).Evicting({"nlp/a", "nlp/b"}, Seconds(0)).Warning(),
            "podium: fits after evicting 2 pods on gpu-7 (nlp/a, nlp/b), up to 0 s");
  EXPECT_EQ(Case(kFitsAfterPreemption).Evicting({"other/x", "nlp/b"}, Seconds(30)).Warning(),
            "podium: fits after evicting 2 pods on gpu-7 (nlp/b, ...), up to 30 s");
  EXPECT_EQ(Case(kFitsAfterPreemption).Evicting({"other/x"}, Seconds(30)).Warning(),
            "podium: fits after evicting 1 pod on gpu-7, up to 30 s");
  EXPECT_EQ(
      Case(kFitsAfterPreemption)
          .Evicting({"nlp/embedding-worker-one", "nlp/embedding-worker-two", "nlp/embedding-worker-three"}, Seconds(30))
          .Warning(),
      "podium: fits after evicting 3 pods on gpu-7 (nlp/embedding-worker-one, nlp/embedding-worker-two, ...), up to "
      "30 s");
  EXPECT_EQ(Case(kFitsAfterPreemption).Evicting({"nlp/a"}, Seconds(30)).Warning(8),
            "podium: the first of 8 pods fits after evicting 1 pod on gpu-7 (nlp/a), up to 30 s");
}

TEST(WarningText, ALongNodeNameIsCutAndTheWaitStays) {
  EXPECT_EQ(Case(Feasibility::kFitsAfterPreemption, {kLong}).Evicting({"nlp/a"}, Seconds(86'400)).Warning(12),
            "podium: the first of 12 pods fits after evicting 1 pod on "
            "ip-10-0-117-212.eu-central-1.compute.interna..., up to "
            "86400 s");
}

TEST(WarningText, SaysNoWithTheArithmetic) {
  using enum Feasibility;
  const std::string message =
      "0/4 nodes are available: 4 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: "
      "4 "
      "No preemption victims found for incoming pod.";
  const std::vector<NodeRoom> four = {{0, 2, 0, 1, true}, {1, 2, 0, 1, true}, {2, 2, 0, 0, true}, {3, 2, 0, 2, false}};
  const std::vector<NodeRoom> closed = {{0, 2, 2, 0, false}};
  struct Row {
    Case the_case;
    std::string want;
  };
  const Row rows[] = {
      {Case(kPreemptionCannotHelp).Saying(message).Wanting(2, four, 1),
       "podium: will not fit: 2 nvidia.com/gpu wanted on one node, at most 1 can be freed on any of 3"},
      {Case(kPreemptionCannotHelp).Saying(message).Wanting(1, four, 1),
       "podium: will not fit: no eviction helps: 4 Insufficient cpu"},
      {Case(kPreemptionCannotHelp).Saying(message), "podium: will not fit: no eviction helps: 4 Insufficient cpu"},
      {Case(kPreemptionCannotHelp)
           .Saying(
               "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 "
               "Preemption is not helpful for scheduling.")
           .Wanting(1, closed, 0),
       "podium: will not fit: all 1 node with nvidia.com/gpu are closed to it: 1 node(s) had untolerated taint(s)"},
      {Case(kShapeNeverFits).Saying(message).Wanting(16, four),
       "podium: will never fit: 16 nvidia.com/gpu wanted on one node, the largest of 4 has 2"},
      {Case(kShapeNeverFits).Saying(message).Wanting(1),
       "podium: will never fit: 1 nvidia.com/gpu wanted on one node, no node has any"},
      {Case(kShapeNeverFits).Saying(message).Wanting(2, four),
       "podium: will never fit: no node is big enough: 4 Insufficient cpu"},
      {Case(kShapeNeverFits).Saying("no nodes available to schedule pods"),
       "podium: will never fit: no node is big enough: no nodes available to schedule pods"},
      {Case(kPreemptionForbidden).Saying(message),
       "podium: will wait: no node has room for it now, and with preemptionPolicy Never it evicts nobody"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.the_case.Warning(), row.want);
    EXPECT_LE(row.want.size(), 120U);
  }
}

TEST(WarningText, IsNeverLongerThanAKubectlLine) {
  const Case long_reason = Case(Feasibility::kPreemptionCannotHelp)
                               .Saying("0/9 nodes are available: 9 " + std::string(300, 'x') + ". preemption: no");
  EXPECT_EQ(long_reason.Warning(), "podium: will not fit: no eviction helps: 9 " + std::string(74, 'x') + "...");
}

TEST(WarningText, SilenceIsGolden) {
  EXPECT_EQ(Case(Feasibility::kFitsNow).Warning(), "");
  EXPECT_EQ(Case(Feasibility::kUnknown).Warning(), "");
}

}  // namespace
}  // namespace podium
