#include "feasibility/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/evaluations.h"

namespace podium {
namespace {

Pod Chat(std::int64_t gpus) { return MakePod("chat", {.gpus = gpus, .priority = 1000}); }

// As a Job's pod, so that it is made anew when it is evicted.
Pod Batch(const std::string& name, std::int64_t gpus, std::int64_t priority = 0, const std::string& owner = "Job") {
  Pod pod = MakePod(name, {.gpus = gpus, .priority = priority});
  if (!owner.empty()) pod.controller = OwnerReference{"batch/v1", owner, "batch", true, "uid-batch"};
  return pod;
}

// "3 now, 2 after, feasible, Exact | a b:x,y | x->c y->nowhere z->not recreated | 1 homeless"
std::string TextOf(const WorkloadReport& report) {
  std::string text = std::to_string(report.fit_now) + " now, " + std::to_string(report.fit_after) + " after, " +
                     (report.feasible ? "feasible, " : "not feasible, ") +
                     (report.exactness == Exactness::kExact ? "exact |" : "bounded |");
  for (const ReplicaOutcome& step : report.steps) {
    text += ' ' + (step.node ? report.NodeName(*step.node) : std::string(ToString(step.verdict)));
    for (const Pod* victim : step.victims) text += (victim == step.victims.front() ? ':' : ',') + victim->name;
  }
  if (report.displaced.empty()) return text;
  text += " |";
  for (const Displaced& displaced : report.displaced) {
    text += ' ' + displaced.pod->name + "->";
    text += !displaced.recreated ? "gone" : displaced.node ? report.NodeName(*displaced.node) : "nowhere";
    if (displaced.victims > 0) text += '(' + std::to_string(displaced.victims) + ')';
  }
  return text + " | " + std::to_string(report.homeless) + " homeless";
}

std::string Place(ClusterBuilder& cluster, const Pod& replica, std::int64_t replicas,
                  Placing placing = Placing::kOneByOne) {
  return TextOf(EvaluateWorkload(cluster.Build(), replica, replicas, placing, {}));
}

SchedulingSpec Beside(const std::string& app, const std::string& key) {
  SchedulingSpec spec;
  spec.pod_affinity.push_back({LabelSelector{{{"app", app}}, {}}, {}, std::nullopt, key});
  return spec;
}

// --- one by one -----------------------------------------------------------------------------------------------------

TEST(Workload, FillsNodesAndStopsAtTheFirstThatDoesNotFit) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4}).WithNode("b", {.gpus = 3}).WithNode("c", {});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_EQ(TextOf(EvaluateWorkload(snapshot, Chat(2), 3, Placing::kOneByOne, {})),
            "3 now, 0 after, feasible, exact | a a b");
  const WorkloadReport report = EvaluateWorkload(snapshot, Chat(2), 5, Placing::kOneByOne, {});
  EXPECT_EQ(TextOf(report), "3 now, 0 after, not feasible, exact | a a b PreemptionCannotHelp");
  EXPECT_EQ(report.wanted, 5);
  ASSERT_TRUE(report.stopped_by);
  EXPECT_EQ(report.stopped_by->message,
            "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption "
            "is not helpful for scheduling, 2 No preemption victims found for incoming pod.");
}

TEST(Workload, NothingIsWanted) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4});
  const ClusterSnapshot snapshot = cluster.Build();
  for (const std::int64_t replicas : {0, -3})
    EXPECT_EQ(TextOf(EvaluateWorkload(snapshot, Chat(2), replicas, Placing::kAllOrNothing, {})),
              "0 now, 0 after, feasible, exact |");
}

TEST(Workload, HasNoNodes) {
  ClusterBuilder cluster;
  EXPECT_EQ(Place(cluster, Chat(1), 2), "0 now, 0 after, not feasible, exact | ShapeNeverFits");
}

TEST(Workload, EvictsTheCheapestFirst) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2}).WithPod(Batch("dear", 2, 20));
  cluster.WithNode("b", {.gpus = 2}).WithPod(Batch("cheap", 2, 10));
  cluster.WithNode("c", {.gpus = 2}).WithPod(Batch("equal", 2, 1000));
  EXPECT_EQ(
      Place(cluster, Chat(2), 3),
      "0 now, 2 after, not feasible, exact | b:cheap a:dear PreemptionCannotHelp | cheap->nowhere dear->nowhere | "
      "2 homeless");
}

TEST(Workload, WhatAnEvictionLeavesIsTakenWithoutAnother) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4}).WithPod(Batch("wide", 4));
  EXPECT_EQ(Place(cluster, Chat(1), 4), "3 now, 1 after, feasible, exact | a:wide a a a | wide->nowhere | 1 homeless");
}

TEST(Workload, MustNotPreempt) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4}).WithPod(Batch("low", 2));
  Pod replica = Chat(2);
  PodSpec spec = *replica.spec;
  spec.trio.preemption_policy = PreemptionPolicy::kNever;
  replica.spec = spec;
  EXPECT_EQ(Place(cluster, replica, 2), "1 now, 0 after, not feasible, exact | a PreemptionForbidden");
}

TEST(Workload, IsUnknownWithVolumes) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4});
  const Pod replica = MakePod("chat", {.gpus = 1, .scheduling = {.volumes = {"weights"}}});
  const WorkloadReport report = EvaluateWorkload(cluster.Build(), replica, 2, Placing::kOneByOne, {});
  EXPECT_EQ(TextOf(report), "0 now, 0 after, not feasible, bounded | Unknown");
  EXPECT_EQ(report.exactness_reason, "volumes were not evaluated, and may keep the pod from a node: weights");
}

TEST(Workload, IsNotTriedWhileGated) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4});
  const Pod replica = MakePod("chat", {.gpus = 1, .scheduling = {.gates = {"example.com/quota"}}});
  EXPECT_EQ(Place(cluster, replica, 2), "0 now, 0 after, not feasible, exact | Unknown");
}

// A pending pod that is the first of its own workload does not hold room twice.
TEST(Workload, ItsOwnNominationIsTakenBack) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2});
  cluster.Waiting("chat", {.gpus = 1, .priority = 1000, .standing = {.nominated_node = "a"}});
  EXPECT_EQ(Place(cluster, Chat(1), 2), "2 now, 0 after, feasible, exact | a a");
}

// --- how certain it is ----------------------------------------------------------------------------------------------

TEST(WorkloadExactness, TiesDoNotMatterWhereEvictionsLeaveNoRoom) {
  ClusterBuilder cluster;
  for (const char* node : {"a", "b"}) {
    cluster.WithNode(node, {.gpus = 2});
    for (const char* number : {"1", "2"}) cluster.WithPod(Batch(std::string(node) + number, 1));
  }
  EXPECT_EQ(Place(cluster, Chat(1), 2),
            "0 now, 2 after, feasible, exact | a:a2 a:a1 | a2->nowhere a1->nowhere | 2 homeless");
}

// Both nodes cost the same, but one has room for another replica afterwards.
TEST(WorkloadExactness, TiesDecideWhoNeedsNoEviction) {
  const auto build = [] {
    ClusterBuilder cluster;
    cluster.WithNode("a", {.gpus = 1}).WithPod(Batch("a1", 1));
    cluster.WithNode("b", {.gpus = 2}).WithPod(Batch("b1", 2));
    return cluster;
  };
  ClusterBuilder two = build();
  const WorkloadReport report = EvaluateWorkload(two.Build(), Chat(1), 2, Placing::kOneByOne, {});
  EXPECT_EQ(TextOf(report), "0 now, 2 after, feasible, bounded | a:a1 b:b1 | a1->b b1->nowhere | 1 homeless");
  EXPECT_EQ(report.exactness_reason,
            "the scheduler may evict on another node that is as good, and what that frees decides how many replicas "
            "need no eviction; the total does not depend on it");
  ClusterBuilder all = build();
  EXPECT_EQ(Place(all, Chat(1), 4),
            "1 now, 2 after, not feasible, exact | a:a1 b:b1 b PreemptionCannotHelp | a1->nowhere b1->nowhere | 2 "
            "homeless");
}

TEST(WorkloadExactness, PlacesThatSeeEachOtherAreOneCourse) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .labels = {{"rack", "1"}}});
  cluster.WithNode("b", {.gpus = 2, .labels = {{"rack", "2"}}});
  const Pod replica = MakePod("chat", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = Beside("chat", "rack")});
  const WorkloadReport report = EvaluateWorkload(cluster.Build(), replica, 2, Placing::kOneByOne, {});
  EXPECT_EQ(TextOf(report), "1 now, 0 after, not feasible, bounded | a PreemptionCannotHelp");
  EXPECT_EQ(
      report.exactness_reason,
      "replicas see each other or pods on other nodes (spreading, affinity), so that where the scheduler puts one "
      "decides where the next can go; one course was followed");
}

TEST(WorkloadExactness, ApartByHostIsExact) {
  ClusterBuilder cluster;
  for (const char* node : {"a", "b", "c"}) cluster.WithNode(node, {.gpus = 4});
  SchedulingSpec apart;
  apart.pod_anti_affinity.push_back({LabelSelector{{{"app", "chat"}}, {}}, {}, std::nullopt, "kubernetes.io/hostname"});
  const Pod replica = MakePod("chat", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = apart});
  EXPECT_EQ(Place(cluster, replica, 4), "3 now, 0 after, not feasible, exact | a b c PreemptionCannotHelp");
}

TEST(WorkloadExactness, BudgetsChangeWhilePodsGo) {
  const Labels app = {{"app", "batch"}};
  ClusterBuilder cluster;
  cluster.WithBudget("batch", app, 1);
  cluster.WithNode("a", {.gpus = 2})
      .WithPod("a1", {.gpus = 1, .start_minute = 1, .labels = app})
      .WithPod("a2", {.gpus = 1, .start_minute = 2, .labels = app});
  const WorkloadReport report = EvaluateWorkload(cluster.Build(), Chat(1), 2, Placing::kOneByOne, {});
  EXPECT_EQ(TextOf(report), "0 now, 2 after, feasible, bounded | a:a1 a:a2 | a1->gone a2->gone | 0 homeless");
  EXPECT_EQ(report.exactness_reason,
            "pods were evicted that a disruption budget protects; its status follows later and was taken as it is now");
}

TEST(WorkloadExactness, EndsAtItsBounds) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 8});
  const ClusterSnapshot snapshot = cluster.Build();
  const WorkloadReport few = EvaluateWorkload(snapshot, Chat(1), 5, Placing::kOneByOne, {}, {.replicas = 2});
  EXPECT_EQ(TextOf(few), "2 now, 0 after, not feasible, bounded | a a");
  EXPECT_EQ(few.exactness_reason, "only the first 2 replicas were looked at");
  const WorkloadReport cut = EvaluateWorkload(snapshot, Chat(1), 5, Placing::kOneByOne, {}, {.node_checks = 250});
  EXPECT_EQ(TextOf(cut), "3 now, 0 after, not feasible, bounded | a a a");
  EXPECT_EQ(cut.exactness_reason, "the search was ended after 250 checks of a node, with 3 replicas placed");
}

TEST(WorkloadExactness, OtherVersionsAreNotKnown) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 8});
  EXPECT_EQ(EvaluateWorkload(cluster.Build(), Chat(1), 1, Placing::kOneByOne, Version(40)).exactness_reason,
            "the behaviour of kube-scheduler 1.40 is not known; these are the rules of 1.37");
}

// --- gangs ----------------------------------------------------------------------------------------------------------

TEST(Gang, FindsTheRackThatHoldsAll) {
  ClusterBuilder cluster;
  for (const char* node : {"a1", "a2"}) cluster.WithNode(node, {.gpus = 1, .labels = {{"rack", "a"}}});
  for (const char* node : {"b1", "b2"}) cluster.WithNode(node, {.gpus = 2, .labels = {{"rack", "b"}}});
  const ClusterSnapshot snapshot = cluster.Build();
  const Pod replica = MakePod("chat", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = Beside("chat", "rack")});
  EXPECT_EQ(TextOf(EvaluateWorkload(snapshot, replica, 4, Placing::kAllOrNothing, {})),
            "4 now, 0 after, feasible, exact | b1 b1 b2 b2");
  EXPECT_EQ(TextOf(EvaluateWorkload(snapshot, replica, 5, Placing::kAllOrNothing, {})),
            "4 now, 0 after, not feasible, exact | b1 b1 b2 b2 PreemptionCannotHelp");
  EXPECT_EQ(TextOf(EvaluateWorkload(snapshot, replica, 7, Placing::kAllOrNothing, {})),
            "2 now, 0 after, not feasible, exact | a1 a2 PreemptionCannotHelp");  // all nodes together hold six
}

TEST(Gang, DisplacesNobodyWhenItCannotBePlaced) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2}).WithPod(Batch("low", 2));
  EXPECT_EQ(Place(cluster, Chat(2), 2, Placing::kAllOrNothing),
            "0 now, 1 after, not feasible, exact | a:low PreemptionCannotHelp");
}

TEST(Gang, SaysWhenNotEverythingWasLookedAt) {
  ClusterBuilder cluster;
  for (int rack = 0; rack < 40; ++rack) {
    const std::string name = (rack < 10 ? "n0" : "n") + std::to_string(rack);
    cluster.WithNode(name, {.gpus = 3, .labels = {{"rack", std::to_string(rack)}}});
  }
  const Pod replica = MakePod("chat", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = Beside("chat", "rack")});
  const WorkloadReport report =
      EvaluateWorkload(cluster.Build(), replica, 4, Placing::kAllOrNothing, {}, {.node_checks = 5000});
  EXPECT_EQ(TextOf(report), "3 now, 0 after, not feasible, bounded | n00 n00 n00 PreemptionCannotHelp");
  EXPECT_EQ(report.exactness_reason, "no placement of all replicas was found, but not every one was looked at");
}

// --- the displaced --------------------------------------------------------------------------------------------------

TEST(Displaced, FindAnotherPlaceOrEvictInTheirTurn) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2, .labels = {{"disk", "fast"}}}).WithPod(Batch("middle", 2, 500));
  cluster.WithNode("b", {.gpus = 2}).WithPod(Batch("low", 1, 0)).WithPod(Batch("lower", 1, -1));
  cluster.WithNode("c", {.gpus = 1});
  const Pod replica =
      MakePod("chat", {.gpus = 2, .priority = 1000, .scheduling = {.node_selector = {{"disk", "fast"}}}});
  EXPECT_EQ(Place(cluster, replica, 1),
            "0 now, 1 after, feasible, exact | a:middle | middle->b(2) low->c lower->nowhere | 1 homeless");
}

TEST(Displaced, ThoseOfHigherPriorityChooseFirst) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .labels = {{"disk", "fast"}}}).WithPod(Batch("low", 1, 1));
  cluster.WithNode("b", {.gpus = 1, .labels = {{"disk", "fast"}}}).WithPod(Batch("high", 1, 2));
  cluster.WithNode("c", {.gpus = 1});
  const Pod replica =
      MakePod("chat", {.gpus = 1, .priority = 1000, .scheduling = {.node_selector = {{"disk", "fast"}}}});
  EXPECT_EQ(Place(cluster, replica, 2),
            "0 now, 2 after, feasible, exact | a:low b:high | low->nowhere high->c | 1 homeless");
}

// Who evicts on a node takes away the nominations of lower pods to it.
TEST(Displaced, MayTakeWhatWasPromisedToOthers) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 3}).WithPod(Batch("wide", 3));
  cluster.WithNode("b", {.gpus = 2}).WithPod(Batch("small", 1, 1));
  cluster.Waiting("promised", {.gpus = 1, .priority = 500, .standing = {.nominated_node = "a"}});
  EXPECT_EQ(Place(cluster, Chat(2), 2),
            "0 now, 2 after, feasible, exact | a:wide b:small | wide->nowhere small->a | 1 homeless");
}

TEST(Displaced, OfADaemonSetOrWithoutAControllerAreNotMadeAnew) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .labels = {{"disk", "fast"}}}).WithPod(Batch("agent", 1, 0, "DaemonSet"));
  cluster.WithNode("b", {.gpus = 1, .labels = {{"disk", "fast"}}}).WithPod(Batch("static", 1, 1, "Node"));
  cluster.WithNode("c", {.gpus = 1, .labels = {{"disk", "fast"}}}).WithPod(Batch("bare", 1, 2, ""));
  cluster.WithNode("d", {.gpus = 4});
  const Pod replica =
      MakePod("chat", {.gpus = 1, .priority = 1000, .scheduling = {.node_selector = {{"disk", "fast"}}}});
  EXPECT_EQ(Place(cluster, replica, 3),
            "0 now, 3 after, feasible, exact | a:agent b:static c:bare | agent->gone static->gone bare->gone | 0 "
            "homeless");
}

TEST(Displaced, OutlivesTheSnapshot) {
  WorkloadReport report;
  {
    ClusterBuilder cluster;
    cluster.WithNode("a", {.gpus = 1}).WithPod(Batch("low", 1));
    report = EvaluateWorkload(cluster.Build(), Chat(1), 1, Placing::kOneByOne, {});
  }
  EXPECT_EQ(TextOf(report), "0 now, 1 after, feasible, exact | a:low | low->nowhere | 1 homeless");
}

}  // namespace
}  // namespace podium
