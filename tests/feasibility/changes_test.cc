// What would help a pod that fits nowhere. Every row is the whole answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/change_search.h"
#include "feasibility/changed_pod.h"
#include "feasibility/evaluations.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<GpuResource> kGpus = {{"nvidia.com/gpu", GpuUnit::kDevice}, {"nvidia.com/mig-*", GpuUnit::kSlice}};

OutlookOptions Options() { return {.gpus = kGpus}; }

std::vector<Proposal> Propose(const ClusterSnapshot& snapshot, const Pod& pod,
                              const OutlookOptions& options = Options()) {
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(options.evaluate.version));
  const FeasibilityReport report = Evaluate(cluster, pod, options.evaluate);
  return FindProposals({cluster, snapshot, report, pod, options});
}

// "FewerGpus: ask for 1 nvidia.com/gpu instead of 2 (FitsAfterPreemption on a, 1 victim)"
std::string TextOf(const Change& change) {
  std::string text = std::string(ToString(change.kind)) + ": " + change.text + " (" +
                     std::string(ToString(change.leads_to)) + " on " + change.node;
  if (change.victims > 0)
    text += ", " + std::to_string(change.victims) + (change.victims == 1 ? " victim" : " victims");
  return text + ')';
}

std::vector<std::string> ChangesOf(const ClusterSnapshot& snapshot, const Pod& pod,
                                   const OutlookOptions& options = Options()) {
  std::vector<std::string> texts;
  for (const Proposal& proposal : Propose(snapshot, pod, options)) texts.push_back(TextOf(proposal.change));
  return texts;
}

ResourceList Cpus(std::int64_t count) { return {{"cpu", Quantity::FromUnits(count)}}; }

Pod Chat(std::int64_t gpus, SchedulingSpec scheduling = {}) {
  return MakePod("chat", {.gpus = gpus, .priority = 1000, .scheduling = std::move(scheduling)});
}

Pod Never(Pod pod, const std::string& class_name = "") {
  PodSpec spec = *pod.spec;
  spec.trio.preemption_policy = PreemptionPolicy::kNever;
  if (!class_name.empty()) spec.trio.class_name = class_name;
  pod.spec = std::move(spec);
  return pod;
}

Pod OwnedBy(const std::string& kind, Pod pod) {
  pod.controller = OwnerReference{"apps/v1", kind, "owner", true};
  return pod;
}

Pod On(const std::string& node, Pod pod) {
  pod.node_name = node;
  return pod;
}

ClusterSnapshot WithClasses(ClusterSnapshot snapshot, const std::vector<PriorityClass>& classes) {
  for (const PriorityClass& each : classes) snapshot.classes.Put(each.name, each);
  return snapshot;
}

// --- amounts --------------------------------------------------------------------------------------------------------

// The story of the product: four GPUs, four one-GPU pods, and a pod that wants two.
TEST(FewerGpus, WhereNoNodeIsBigEnough) {
  ClusterBuilder cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.WithNode(name, {.gpus = 1}).WithPod(name, {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(2)),
              ElementsAre("FewerGpus: ask for 1 nvidia.com/gpu instead of 2 (FitsAfterPreemption on a, 1 victim)"));
}

TEST(FewerGpus, TheLargestNumberThatFits) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 8}).WithPod("high", {.gpus = 3, .priority = 2000}).WithPod("low", {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(100)),
              ElementsAre("FewerGpus: ask for 5 nvidia.com/gpu instead of 100 (FitsAfterPreemption on a, 1 victim)"));
}

TEST(FewerGpus, SaysWhenContainersShareThem) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  Pod pod = Chat(1);
  PodSpec spec = *pod.spec;
  spec.containers.push_back(spec.containers[0]);
  pod.spec = std::move(spec);
  EXPECT_THAT(
      ChangesOf(cluster.Build(), pod),
      ElementsAre("FewerGpus: ask for 1 nvidia.com/gpu instead of 2, over all containers of the pod (FitsNow on "
                  "a)"));
}

TEST(LessOfAnother, WhatTheNodeHasBesideItsGpus) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2, .cpus = 8}).WithPod("high", {.priority = 2000, .requests = Cpus(2)});
  cluster.WithNode("b", {.gpus = 2, .cpus = 4});
  cluster.WithNode("c", {.cpus = 64});
  const Pod pod = MakePod("chat", {.gpus = 2, .priority = 1000, .requests = Cpus(12)});
  EXPECT_THAT(ChangesOf(cluster.Build(), pod),
              ElementsAre("LessOfAnother: ask for 6 cpu instead of 12 cpu (FitsNow on a)"));
}

TEST(LessOfAnother, SeveralAtOnceInWholeMebibytes) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2, .cpus = 8}).WithAllocatable("memory", (std::int64_t{3} << 30) + 5);
  Pod pod = MakePod("chat", {.gpus = 2, .requests = Cpus(16)});
  PodSpec spec = *pod.spec;
  spec.containers[0].requests["memory"] = Quantity::FromUnits((std::int64_t{4} << 30) + (1 << 20));
  pod.spec = std::move(spec);
  EXPECT_THAT(
      ChangesOf(cluster.Build(), pod),
      ElementsAre("LessOfAnother: ask for 8 cpu instead of 16 cpu, 3Gi memory instead of 4097Mi memory (FitsNow "
                  "on a)"));
}

struct CapCase {
  std::string name;
  std::vector<std::int64_t> sidecars, inits, containers;
  std::int64_t most;
  std::vector<std::int64_t> left;  // sidecars, inits, containers
};

std::int64_t GpusOf(const Container& container) {
  const auto request = container.requests.find("nvidia.com/gpu");
  return request == container.requests.end() ? 0 : request->second.CeilUnits();
}

TEST(ChangedPod, AsksForAtMostSoMuch) {
  const std::vector<CapCase> cases = {
      {"One", {}, {}, {4}, 3, {3}},
      {"TheLastGetWhatIsLeft", {}, {}, {2, 2, 2}, 3, {2, 1, 0}},
      {"EnoughAlready", {}, {}, {1, 1}, 3, {1, 1}},
      {"SidecarsCountTwice", {1}, {4}, {4}, 3, {1, 2, 2}},
      {"InitRunsBefore", {}, {4}, {1}, 3, {3, 1}},
  };
  for (const CapCase& row : cases) {
    SCOPED_TRACE(row.name);
    PodSpec spec;
    const auto container = [](std::int64_t gpus, bool sidecar) {
      const ResourceList list = {{"nvidia.com/gpu", Quantity::FromUnits(gpus)}};
      return Container{"c", list, list, sidecar};
    };
    for (const std::int64_t gpus : row.sidecars) spec.init_containers.push_back(container(gpus, true));
    for (const std::int64_t gpus : row.inits) spec.init_containers.push_back(container(gpus, false));
    for (const std::int64_t gpus : row.containers) spec.containers.push_back(container(gpus, false));
    Pod pod;
    pod.spec = std::move(spec);
    const Pod changed = WithAtMost(pod, "nvidia.com/gpu", Quantity::FromUnits(row.most));
    std::vector<std::int64_t> left;
    for (const Container& each : changed.spec->init_containers) left.push_back(GpusOf(each));
    for (const Container& each : changed.spec->containers) left.push_back(GpusOf(each));
    EXPECT_EQ(left, row.left);
    for (const Container& each : changed.spec->containers) EXPECT_EQ(each.requests, each.limits);
  }
}

// --- labels and taints ----------------------------------------------------------------------------------------------

TEST(OtherLabel, AnotherValueOfASelector) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .labels = {{"model", "h100"}}}).WithPod("high", {.gpus = 1, .priority = 2000});
  cluster.WithNode("b", {.gpus = 1, .labels = {{"model", "t4"}}});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1, {.node_selector = {{"model", "h100"}}})),
              ElementsAre("OtherLabel: select model=t4 instead of h100 (FitsNow on b)",
                          "DrainNode: move 1 pod away from a (default/high): it fits elsewhere (FitsNow on a)"));
}

TEST(OtherLabel, DroppedWhereTheNodeHasNone) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1, {.node_selector = {{"model", "h100"}}})),
              ElementsAre("OtherLabel: drop the node selector model=h100 (FitsNow on a)"));
}

TEST(OtherLabel, OneEntryOfNodeAffinity) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .labels = {{"model", "t4"}, {"zone", "x"}}});
  const ClusterSnapshot snapshot = cluster.Build();
  NodeSelectorTerm term = {{{"zone", NodeSelectorOp::kIn, {"x"}}, {"model", NodeSelectorOp::kIn, {"h100", "h200"}}},
                           {}};
  EXPECT_THAT(ChangesOf(snapshot, Chat(1, {.node_affinity = NodeSelector{{term}}})),
              ElementsAre("OtherLabel: let its node affinity also accept model=t4 (FitsNow on a)"));
  term.expressions[1] = {"model", NodeSelectorOp::kNotIn, {"t4"}};
  EXPECT_THAT(ChangesOf(snapshot, Chat(1, {.node_affinity = NodeSelector{{term}}})),
              ElementsAre("OtherLabel: drop the node affinity entry model NotIn [t4] (FitsNow on a)"));
}

// One manifest may have so many. They are not copied for each other, and a dozen of them are tried.
TEST(OtherLabel, ThousandsOfEntriesAreNotAllTried) {
  SchedulingSpec scheduling;
  NodeSelectorTerm term;
  for (int i = 0; i < 20'000; ++i)
    term.expressions.push_back({"key-" + std::to_string(i), NodeSelectorOp::kExists, {}});
  scheduling.node_affinity = NodeSelector{{term}};
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1, scheduling)),
              ElementsAre("OtherLabel: drop its required node affinity (FitsNow on a)"));
}

TEST(OtherLabel, TheOnlyEntryTakesTheAffinityWithIt) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const NodeSelectorTerm name = {{}, {{"metadata.name", NodeSelectorOp::kIn, {"gone"}}}};
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1, {.node_affinity = NodeSelector{{name}}})),
              ElementsAre("OtherLabel: drop the node affinity entry metadata.name In [gone] (FitsNow on a)"));
}

TEST(OtherLabel, NeighboursAndSpreading) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2}).WithPod("other", {.gpus = 1, .priority = 2000, .labels = {{"app", "chat"}}});
  const ClusterSnapshot snapshot = cluster.Build();
  const LabelSelector own = {{{"app", "chat"}}, {}};
  const std::string host = "kubernetes.io/hostname";
  EXPECT_THAT(ChangesOf(snapshot, Chat(1, {.pod_anti_affinity = {{own, {}, std::nullopt, host}}})),
              ElementsAre("OtherLabel: drop the required pod anti-affinity over kubernetes.io/hostname (FitsNow on a)",
                          "DrainNode: move 1 pod away from a (default/other): no place elsewhere was found for 1 "
                          "(FitsNow on a)"));
  const LabelSelector nobody = {{{"app", "nobody"}}, {}};
  EXPECT_THAT(ChangesOf(snapshot, Chat(1, {.pod_affinity = {{nobody, {}, std::nullopt, host}}})),
              ElementsAre("OtherLabel: drop the required pod affinity over kubernetes.io/hostname (FitsNow on a)"));
  SpreadConstraint zone;
  zone.topology_key = "zone";
  EXPECT_THAT(
      ChangesOf(snapshot, Chat(1, {.spread = {zone}})),
      ElementsAre("OtherLabel: drop the topology spread constraint over zone (or set ScheduleAnyway) (FitsNow on "
                  "a)"));
}

TEST(Toleration, OfTheTaintThatStandsInTheWay) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .taints = {{"reserved-for", "vision", "NoSchedule"}}}).WithPod("low", {.gpus = 1});
  cluster.WithNode("b", {.gpus = 1, .taints = {{"x", "", "NoExecute"}, {"y", "1", "NoSchedule"}}});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1)),
              ElementsAre("Toleration: tolerate the taint reserved-for=vision:NoSchedule (FitsAfterPreemption on a, 1 "
                          "victim)"));
}

TEST(Toleration, SeveralOfOneNode) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .taints = {{"x", "", "NoExecute"}, {"y", "1", "NoSchedule"}}});
  EXPECT_THAT(
      ChangesOf(cluster.Build(), Chat(1)),
      ElementsAre("Toleration: tolerate the taint x:NoExecute, tolerate the taint y=1:NoSchedule (FitsNow on a)"));
}

TEST(Toleration, NeverOfSickOrLeavingNodes) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .taints = {{"node.kubernetes.io/not-ready", "", "NoExecute"}}});
  cluster.WithNode("b", {.gpus = 1, .taints = {{"ToBeDeletedByClusterAutoscaler", "17", "NoSchedule"}}});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1)), IsEmpty());
}

TEST(AnotherNode, ByLabelAndTaintTogether) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .taints = {{"reserved", "", "NoSchedule"}}}).WithPod("low", {.gpus = 1});
  const ClusterSnapshot with_victim = cluster.Build();
  const Pod pod = Chat(1, {.node_selector = {{"model", "h100"}}});
  EXPECT_THAT(ChangesOf(with_victim, pod),
              ElementsAre("NodeOfAVictim: drop the node selector model=h100, tolerate the taint reserved:NoSchedule "
                          "(FitsAfterPreemption on a, 1 victim)"));
  ClusterBuilder free;
  free.WithNode("a", {.gpus = 1, .taints = {{"reserved", "", "NoSchedule"}}});
  EXPECT_THAT(ChangesOf(free.Build(), pod),
              ElementsAre("OtherLabel: drop the node selector model=h100, tolerate the taint reserved:NoSchedule "
                          "(FitsNow on a)"));
}

// --- priority -------------------------------------------------------------------------------------------------------

TEST(Class, TheLowestThatHelps) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("equal", {.gpus = 1, .priority = 1000});
  const ClusterSnapshot snapshot = WithClasses(cluster.Build(), {{"batch", 1000},
                                                                 {"higher", 500000},
                                                                 {"highest", 1000000},
                                                                 {"queue-jumper", 2000, PreemptionPolicy::kNever},
                                                                 {"system-node-critical", 2000001000}});
  EXPECT_THAT(ChangesOf(snapshot, Chat(1)),
              ElementsAre("HigherClass: class higher (500000) instead of priority 1000 (FitsAfterPreemption on a, 1 "
                          "victim)",
                          "DrainNode: move 1 pod away from a (default/equal): no place elsewhere was found for 1 "
                          "(FitsNow on a)"));
}

TEST(Class, LeaveToPreempt) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  cluster.WithNode("b", {.gpus = 1, .taints = {{"reserved", "", "NoSchedule"}}});
  const ClusterSnapshot snapshot =
      WithClasses(cluster.Build(), {{"jumper", 1000, PreemptionPolicy::kNever}, {"batch", 10}, {"also-1000", 1000}});
  EXPECT_THAT(
      ChangesOf(snapshot, Never(Chat(1), "jumper")),
      ElementsAre("Toleration: tolerate the taint reserved:NoSchedule (FitsNow on b)",
                  "MayPreempt: let it preempt: a class like jumper, with preemptionPolicy PreemptLowerPriority "
                  "(FitsAfterPreemption on a, 1 victim)",
                  "HigherClass: class also-1000 (1000) instead of class jumper (1000) (FitsAfterPreemption on a, 1 "
                  "victim)",
                  "DrainNode: move 1 pod away from a (default/low): no place elsewhere was found for 1 (FitsNow on "
                  "a)"));
}

// --- moving pods ----------------------------------------------------------------------------------------------------

TEST(Drain, TheNodeThatNeedsTheFewest) {
  ClusterBuilder cluster;
  const std::int64_t high = 2000;
  cluster.WithNode("a", {.gpus = 4});
  for (const char* name : {"a1", "a2", "a3", "a4"}) cluster.WithPod(name, {.gpus = 1, .priority = high});
  cluster.WithNode("b", {.gpus = 4}).WithPod("b1", {.gpus = 1, .priority = high});
  cluster.WithPod("b2", {.gpus = 2, .priority = high}).WithPod("b3", {.gpus = 1, .priority = high});
  cluster.WithNode("c", {.gpus = 2}).WithPod("c1", {.gpus = 1, .priority = high});
  EXPECT_THAT(
      ChangesOf(cluster.Build(), Chat(3)),
      ElementsAre("FewerGpus: ask for 1 nvidia.com/gpu instead of 3 (FitsNow on c)",
                  "DrainNode: move 2 pods away from b (default/b2, default/b3): no place elsewhere was found for "
                  "1 (FitsNow on b)"));
}

TEST(Drain, PrefersANodeWhosePodsFitElsewhere) {
  ClusterBuilder cluster;
  const std::int64_t high = 2000;
  cluster.WithNode("a", {.gpus = 2})
      .WithPod("pinned",
               {.gpus = 1, .priority = high, .scheduling = {.node_selector = {{"kubernetes.io/hostname", "a"}}}});
  cluster.WithNode("b", {.gpus = 2}).WithPod("free-to-go", {.gpus = 1, .priority = high});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(2)),
              ElementsAre("FewerGpus: ask for 1 nvidia.com/gpu instead of 2 (FitsNow on a)",
                          "DrainNode: move 1 pod away from b (default/free-to-go): it fits elsewhere (FitsNow on b)"));
}

TEST(Drain, OnlyTheNeighbourThatIsInTheWay) {
  ClusterBuilder cluster;
  const std::int64_t high = 2000;
  const PodAffinityTerm apart = {LabelSelector{{{"app", "chat"}}, {}}, {}, std::nullopt, "kubernetes.io/hostname"};
  cluster.WithNode("a", {.gpus = 3}).WithPod("calm", {.gpus = 1, .priority = high});
  cluster.WithPod("jealous", {.gpus = 1, .priority = high, .scheduling = {.pod_anti_affinity = {apart}}});
  cluster.WithNode("b", {});
  const Pod pod = MakePod("chat", {.gpus = 1, .priority = 1000, .labels = {{"app", "chat"}}});
  EXPECT_THAT(ChangesOf(cluster.Build(), pod),
              ElementsAre("DrainNode: move 1 pod away from a (default/jealous): no place elsewhere was found for 1 "
                          "(FitsNow on a)"));
}

// A slot for a pod is a unit like others.
TEST(Drain, MakesRoomForOnePodMore) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .pods = 1}).WithPod("web", {.priority = 2000});
  cluster.WithNode("b", {});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1)),
              ElementsAre("DrainNode: move 1 pod away from a (default/web): it fits elsewhere (FitsNow on a)"));
}

TEST(Drain, LeavesDaemonsAndStaticPodsAlone) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1})
      .WithPod(On("a", OwnedBy("DaemonSet", MakePod("d", {.gpus = 1, .priority = 2000}))));
  cluster.WithNode("b", {.gpus = 1}).WithPod(On("b", OwnedBy("Node", MakePod("s", {.gpus = 1, .priority = 2000}))));
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1)), IsEmpty());
}

// --- when there is a search -----------------------------------------------------------------------------------------

TEST(Search, OnlyForPodsThatFitNowhere) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_THAT(ChangesOf(snapshot, Chat(1)), IsEmpty());
  EXPECT_THAT(ChangesOf(snapshot, Chat(2, {.gates = {"wait"}})), IsEmpty());
  EXPECT_THAT(ChangesOf(ClusterSnapshot{}, Chat(1)), IsEmpty());
}

// Volumes are not evaluated, so nothing is known to help.
TEST(Search, ClaimsNothingThatItCannotEvaluate) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(2, {.volumes = {"data"}})), IsEmpty());
}

TEST(Search, EndsAtItsBounds) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 8}).WithPod("high", {.gpus = 7, .priority = 2000});
  OutlookOptions options = Options();
  options.search = {.evaluations_per_kind = 0, .preparations = 0};
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_THAT(ChangesOf(snapshot, Chat(8), options), IsEmpty());
  options.search = {.evaluations_per_kind = 2, .preparations = 1};
  EXPECT_THAT(ChangesOf(snapshot, Chat(8), options),
              ElementsAre("DrainNode: move 1 pod away from a (default/high): no place elsewhere was found for 1 "
                          "(FitsNow on a)"));
}

TEST(Search, OneLineWhateverTheLabelsSay) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  EXPECT_THAT(ChangesOf(cluster.Build(), Chat(1, {.node_selector = {{"model", "h100\n\x1b[2J"}}})),
              ElementsAre("OtherLabel: drop the node selector model=h100??[2J (FitsNow on a)"));
}

}  // namespace
}  // namespace podium
