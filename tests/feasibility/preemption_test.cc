#include "feasibility/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/evaluations.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Pod Chat(std::int64_t gpus) { return MakePod("chat", {.gpus = gpus, .priority = 1000}); }

std::string CandidatesOf(ClusterBuilder& cluster, const Pod& pod, const EvaluateOptions& options = {}) {
  return CandidatesText(Evaluate(cluster.Build(), pod, options));
}

// The story of the product: four GPUs, four one-GPU pods, and a pod that wants two.
TEST(Preemption, CannotHelpWhereNoSingleNodeIsBigEnough) {
  ClusterBuilder cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.WithNode(name, {.gpus = 1}).WithPod(name, {.gpus = 1});
  const FeasibilityReport report = Evaluate(cluster.Build(), Chat(2), {});
  EXPECT_EQ(report.verdict, Feasibility::kShapeNeverFits);
  EXPECT_EQ(report.message,
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 Preemption "
            "is not helpful for scheduling.");
}

TEST(Preemption, CannotHelpAgainstPodsThatAreNoLower) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2}).WithPod("equal", {.gpus = 1, .priority = 1000}).WithPod("low", {.gpus = 1});
  cluster.WithNode("b", {.gpus = 2}).WithPod("high", {.gpus = 2, .priority = 2000});
  const FeasibilityReport report = Evaluate(cluster.Build(), Chat(2), Version(36));
  EXPECT_EQ(report.verdict, Feasibility::kPreemptionCannotHelp);
  EXPECT_EQ(
      report.message,
      "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/2 nodes "
      "are available: 1 Insufficient nvidia.com/gpu, 1 No preemption victims found for incoming pod.");
}

TEST(Preemption, TellsNodeAndVictimsSince137) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  const FeasibilityReport report = Evaluate(cluster.Build(), Chat(1), Version(37));
  EXPECT_EQ(report.verdict, Feasibility::kFitsAfterPreemption);
  EXPECT_EQ(
      report.message,
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: found a potential placement for pod on "
      "node a, preempting 1 victims");
  EXPECT_EQ(report.rules, "1.37");
  EXPECT_THAT(report.caveats, IsEmpty());
}

TEST(Preemption, IsForbiddenByThePolicyNever) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  Pod pod = Chat(1);
  PodSpec spec = *pod.spec;
  spec.trio.preemption_policy = PreemptionPolicy::kNever;
  pod.spec = spec;
  const FeasibilityReport report = Evaluate(cluster.Build(), pod, {});
  EXPECT_EQ(report.verdict, Feasibility::kPreemptionForbidden);
  EXPECT_EQ(report.ineligible, Ineligible::kPolicyNever);
  EXPECT_EQ(report.message,
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: not eligible due to "
            "preemptionPolicy=Never.");
}

TEST(Preemption, WaitsForVictimsOnTheNominatedNode) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  Pod going = MakePod("going", {.gpus = 1, .standing = {.preempted_by_scheduler = true}});
  going.node_name = std::string("a");
  going.deleting = true;
  cluster.WithPod(std::move(going));
  Pod pod = Chat(1);
  pod.standing = SchedulingStatus{.nominated_node = "a"};
  const FeasibilityReport report = Evaluate(cluster.Build(), pod, {});
  EXPECT_EQ(report.verdict, Feasibility::kPreemptionForbidden);
  EXPECT_EQ(report.ineligible, Ineligible::kTerminatingVictim);
}

// --- victims --------------------------------------------------------------------------------------------------------

TEST(Victims, TheMoreImportantAreSparedFirst) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4})
      .WithPod("old", {.gpus = 1, .start_minute = 1})
      .WithPod("young", {.gpus = 1, .start_minute = 9})
      .WithPod("middle", {.gpus = 1, .start_minute = 5})
      .WithPod("higher", {.gpus = 1, .priority = 10, .start_minute = 9});
  EXPECT_EQ(CandidatesOf(cluster, Chat(2)), "a*: middle young");
}

// One victim would do, but the bigger pod is the more important one and fits back first.
TEST(Victims, ReprieveIsGreedyNotMinimal) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4})
      .WithPod("big", {.gpus = 2, .priority = 3})
      .WithPod("one", {.gpus = 1, .priority = 2})
      .WithPod("two", {.gpus = 1, .priority = 1});
  EXPECT_EQ(CandidatesOf(cluster, Chat(2)), "a*: one two");
}

TEST(Victims, PodsThatAreOverHoldNothing) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  Pod over = MakePod("over", {.gpus = 1});
  over.phase = PodPhase::kSucceeded;
  cluster.WithPod(std::move(over));
  EXPECT_EQ(Evaluate(cluster.Build(), Chat(1), {}).verdict, Feasibility::kFitsNow);
}

TEST(Victims, UnstartedEqualsGoInReverseUntil136) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2})
      .WithPod("first", {.gpus = 1, .start_minute = 0})
      .WithPod("second", {.gpus = 1, .start_minute = 0});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_EQ(CandidatesText(Evaluate(snapshot, Chat(1), Version(36))), "a*: first");
  EXPECT_EQ(CandidatesText(Evaluate(snapshot, Chat(1), Version(37))), "a*: second");
}

// What two pods use is a set: the first that goes frees it.
TEST(Victims, APortHeldTwiceIsFreedByOneEviction) {
  const SchedulingSpec port = {.host_ports = {{"0.0.0.0", "TCP", 9400}}};
  ClusterBuilder cluster;
  cluster.WithNode("a", {})
      .WithPod("low", {.scheduling = port})
      .WithPod("high", {.priority = 5000, .scheduling = port});
  EXPECT_EQ(CandidatesOf(cluster, MakePod("chat", {.priority = 1000, .scheduling = port})), "a*: low");
}

// --- budgets --------------------------------------------------------------------------------------------------------

// The budget is spent by the more important pod; the other is violating, is spared first, and the covered one goes.
TEST(Budgets, ACoveredPodGoesBeforeAViolatingOne) {
  const Labels app = {{"app", "batch"}};
  ClusterBuilder cluster;
  cluster.WithBudget("batch", app, 1).WithNode("a", {.gpus = 2});
  cluster.WithPod("old", {.gpus = 1, .start_minute = 1, .labels = app});
  cluster.WithPod("young", {.gpus = 1, .start_minute = 2, .labels = app});
  EXPECT_EQ(CandidatesOf(cluster, Chat(1)), "a*: old");
}

TEST(Budgets, AreBrokenAsALastResort) {
  const Labels app = {{"app", "batch"}};
  ClusterBuilder cluster;
  cluster.WithBudget("batch", app, 0);
  cluster.WithNode("a", {.gpus = 1}).WithPod("covered", {.gpus = 1, .labels = app});
  EXPECT_EQ(CandidatesOf(cluster, Chat(1)), "a*: covered (1 violating)");
}

TEST(Budgets, SendTheEvictionElsewhere) {
  const Labels app = {{"app", "batch"}};
  ClusterBuilder cluster;
  cluster.WithBudget("batch", app, 0);
  cluster.WithNode("a", {.gpus = 1}).WithPod("covered", {.gpus = 1, .labels = app});
  cluster.WithNode("b", {.gpus = 1}).WithPod("dear", {.gpus = 1, .priority = 900});
  EXPECT_EQ(CandidatesOf(cluster, Chat(1)), "a: covered (1 violating); b*: dear");
}

// 1.36 charges both budgets for every pod; 1.37 leaves the second one alone once the first is broken.
TEST(Budgets, BehindABrokenOneAreSparedSince137) {
  const Labels both = {{"app", "batch"}, {"team", "red"}};
  const Labels team = {{"team", "red"}};
  ClusterBuilder cluster;
  cluster.WithBudget("1-app", {{"app", "batch"}}, 0).WithBudget("2-team", team, 1).WithNode("a", {.gpus = 2});
  cluster.WithPod("both", {.gpus = 1, .priority = 2, .labels = both});
  cluster.WithPod("team", {.gpus = 1, .priority = 1, .labels = team});
  const ClusterSnapshot snapshot = cluster.Build();
  const Pod pod = Chat(2);
  EXPECT_EQ(CandidatesText(Evaluate(snapshot, pod, Version(36))), "a*: both team (2 violating)");
  const FeasibilityReport report = Evaluate(snapshot, pod, Version(37));
  EXPECT_EQ(CandidatesText(report), "a*: both team (1 violating)");
  EXPECT_THAT(
      report.caveats,
      ElementsAre(Caveat{CaveatKind::kBudgetOrder,
                         "a possible victim breaks one of several disruption budgets, which the scheduler takes "
                         "in a random order; victims may differ"}));
}

// The scheduler goes by an order that only it knows.
TEST(Victims, AsImportantAsAPodThatStaysAreACaveat) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2});
  cluster.WithPod("one", {.gpus = 1, .priority = 1}).WithPod("other", {.gpus = 1, .priority = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  const FeasibilityReport one_of_two = Evaluate(snapshot, Chat(1), Version(37));
  EXPECT_EQ(one_of_two.candidates.front().victims.size(), 1U);
  EXPECT_THAT(one_of_two.caveats,
              ElementsAre(Caveat{CaveatKind::kEqualPods,
                                 "a victim and a pod that stays are of equal priority and started in the same second; "
                                 "the scheduler may take the one for the other"}));
  EXPECT_THAT(Evaluate(snapshot, Chat(2), Version(37)).caveats, IsEmpty()) << "both go";
}

// --- the choice of the node -----------------------------------------------------------------------------------------

TEST(NodeChoice, LowestTopVictimThenFewestVictimsThenLatestStart) {
  ClusterBuilder by_top;
  by_top.WithNode("a", {.gpus = 2}).WithPod("a1", {.gpus = 2, .priority = 20});
  by_top.WithNode("b", {.gpus = 2})
      .WithPod("b1", {.gpus = 1, .priority = 10})
      .WithPod("b2", {.gpus = 1, .priority = 10});
  EXPECT_EQ(CandidatesOf(by_top, Chat(2)), "a: a1; b*: b1 b2");

  ClusterBuilder by_sum;
  by_sum.WithNode("a", {.gpus = 2})
      .WithPod("a1", {.gpus = 1, .priority = -5})
      .WithPod("a2", {.gpus = 1, .priority = -9});
  by_sum.WithNode("b", {.gpus = 2}).WithPod("b1", {.gpus = 2, .priority = -5});
  EXPECT_EQ(CandidatesOf(by_sum, Chat(2)), "a: a1 a2; b*: b1");

  ClusterBuilder by_start;
  by_start.WithNode("a", {.gpus = 1}).WithPod("a1", {.gpus = 1, .start_minute = 3});
  by_start.WithNode("b", {.gpus = 1}).WithPod("b1", {.gpus = 1, .start_minute = 7});
  by_start.WithNode("c", {.gpus = 1}).WithPod("c1", {.gpus = 1, .start_minute = 7});
  EXPECT_EQ(CandidatesOf(by_start, Chat(1)), "a: a1; b*: b1; c*: c1");
}

// --- promised room --------------------------------------------------------------------------------------------------

TEST(Promises, OfEqualAndHigherPodsCount) {
  for (const auto& [priority, verdict] :
       {std::pair{999, Feasibility::kFitsNow}, std::pair{1000, Feasibility::kPreemptionCannotHelp}}) {
    ClusterBuilder cluster;
    cluster.WithNode("a", {.gpus = 1}).WithPod("idle", {});
    cluster.Waiting("promised", {.gpus = 1, .priority = priority, .standing = {.nominated_node = "a"}});
    EXPECT_EQ(Evaluate(cluster.Build(), Chat(1), {}).verdict, verdict) << priority;
  }
}

TEST(Promises, ToGatedPodsCountSince137) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  cluster.Waiting("gated", {.gpus = 1,
                            .priority = 1000,
                            .scheduling = {.gates = {"example.com/quota"}},
                            .standing = {.nominated_node = "a"}});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_EQ(Evaluate(snapshot, Chat(1), Version(36)).verdict, Feasibility::kFitsNow);
  EXPECT_EQ(Evaluate(snapshot, Chat(1), Version(37)).verdict, Feasibility::kPreemptionCannotHelp);
}

TEST(Promises, ItsOwnNominatedNodeIsTaken) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithNode("b", {.gpus = 1});
  Pod pod = Chat(1);
  pod.standing = SchedulingStatus{.nominated_node = "b"};
  const FeasibilityReport report = Evaluate(cluster.Build(), pod, {});
  EXPECT_EQ(report.bind_node, 1U);
  EXPECT_THAT(report.fit_nodes, ElementsAre(0, 1));
}

// --- what is not tried or not known ---------------------------------------------------------------------------------

TEST(NotTried, SaysWhy) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  Pod gated = MakePod("chat", {.scheduling = {.gates = {"example.com/a", "example.com/b"}}});
  EXPECT_EQ(Evaluate(snapshot, gated, {}).message, "waiting for scheduling gates: [example.com/a example.com/b]");
  EXPECT_EQ(Evaluate(snapshot, gated, {}).ineligible, Ineligible::kGated);
  Pod deleting = Chat(1);
  deleting.deleting = true;
  EXPECT_EQ(Evaluate(snapshot, deleting, {}).message, "skip schedule deleting pod: default/chat");
  Pod bound = Chat(1);
  bound.node_name = std::string("a");
  EXPECT_EQ(Evaluate(snapshot, bound, {}).ineligible, Ineligible::kAlreadyBound);
  const Pod other = MakePod("chat", {.scheduling = {.scheduler_name = "volcano"}});
  EXPECT_EQ(Evaluate(snapshot, other, {}).ineligible, Ineligible::kOtherScheduler);
  EXPECT_EQ(Evaluate(ClusterSnapshot{}, Chat(1), {}).message, "no nodes available to schedule pods");
}

TEST(NotKnown, VolumesAndClaimsMakeAFitUnknownButNotARefusal) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  const SchedulingSpec unknown = {.volumes = {"weights"}, .resource_claims = {"gpu"}};
  const FeasibilityReport fits = Evaluate(snapshot, MakePod("chat", {.gpus = 1, .scheduling = unknown}), {});
  EXPECT_EQ(fits.verdict, Feasibility::kUnknown);
  EXPECT_THAT(
      fits.caveats,
      ElementsAre(Caveat{CaveatKind::kVolumes, "volumes were not evaluated, and may keep the pod from a node: weights"},
                  Caveat{CaveatKind::kResourceClaims,
                         "resource claims (DRA) were not evaluated, and may keep the pod from a node: gpu"}));
  EXPECT_EQ(Evaluate(snapshot, MakePod("chat", {.gpus = 2, .scheduling = unknown}), {}).verdict,
            Feasibility::kShapeNeverFits);
}

TEST(NotKnown, OtherVersionsGetTheNearestRulesAndACaveat) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const FeasibilityReport report = Evaluate(cluster.Build(), Chat(1), Version(38));
  EXPECT_EQ(report.rules, "1.37");
  EXPECT_THAT(report.caveats,
              ElementsAre(Caveat{CaveatKind::kUnverifiedVersion,
                                 "the behaviour of kube-scheduler 1.38 is not known; these are the rules of 1.37"}));
}

}  // namespace
}  // namespace podium
