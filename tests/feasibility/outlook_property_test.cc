// What must hold of every outlook, on small clusters of every kind.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "feasibility/change_search.h"
#include "feasibility/evaluations.h"

namespace podium {
namespace {

const std::string kGpu = "nvidia.com/gpu";
constexpr int kPodsPerCluster = 3;

OutlookOptions Options() { return {.now = TimePoint(std::chrono::hours(1)), .gpus = {{kGpu, GpuUnit::kDevice}}}; }

std::int64_t From(std::int64_t first, std::int64_t last) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(first, last + 1));
}

bool OneIn(std::int64_t n) { return From(1, n) == 1; }

template <typename T>
T AnyOf(const std::vector<T>& values) {
  return *rc::gen::elementOf(values);
}

ResourceList AnyCpus(std::int64_t most) { return {{"cpu", Quantity::FromUnits(From(1, most))}}; }

PodWish AnyRunningPod() {
  PodWish wish = {.gpus = From(0, 2), .priority = AnyOf<std::int64_t>({0, 10, 1000, 2000})};
  wish.start_minute = static_cast<int>(From(0, 50));
  wish.requests = AnyCpus(2);
  wish.labels = {{"app", AnyOf<std::string>({"a", "b"})}};
  wish.scheduling.grace_period_seconds = From(0, 100);
  if (OneIn(8)) wish.scheduling.node_selector = {{"model", "t4"}};
  return wish;
}

NodeWish AnyNode() {
  NodeWish wish = {.gpus = From(0, 4), .cpus = From(2, 8)};
  if (OneIn(2)) wish.labels["model"] = AnyOf<std::string>({"h100", "t4"});
  if (OneIn(3)) wish.taints.push_back({"reserved", AnyOf<std::string>({"", "x"}), "NoSchedule"});
  if (OneIn(6)) wish.taints.push_back({"other", "", "NoExecute"});
  if (OneIn(8)) wish.pods = 1;
  return wish;
}

Pod AnyDaemon(Pod pod) {
  pod.controller = OwnerReference{"apps/v1", "DaemonSet", "agent", true};
  return pod;
}

ClusterSnapshot AnyCluster() {
  ClusterBuilder cluster;
  for (std::int64_t node = From(1, 4); node > 0; --node) {
    const std::string name = "node-" + std::to_string(9 - node);
    cluster.WithNode(name, AnyNode());
    for (std::int64_t i = From(0, 4); i > 0; --i) {
      Pod pod = MakePod(name + '-' + std::to_string(i), AnyRunningPod());
      pod.node_name = name;
      if (OneIn(6)) pod = AnyDaemon(std::move(pod));
      cluster.WithPod(std::move(pod));
    }
  }
  if (OneIn(3)) cluster.WithBudget("a", {{"app", "a"}}, From(0, 1));
  if (OneIn(3)) cluster.Waiting("promised", {.gpus = 1, .priority = 1000, .standing = {.nominated_node = "node-8"}});
  ClusterSnapshot snapshot = cluster.Build();
  for (const auto& [name, value] : {std::pair("batch", 10), std::pair("usual", 1500), std::pair("urgent", 3000)})
    snapshot.classes.Put(name, PriorityClass{name, value});
  return snapshot;
}

Pod AnyIncoming() {
  PodWish wish = {.gpus = From(1, 5), .priority = AnyOf<std::int64_t>({5, 1000, 1500})};
  wish.requests = AnyCpus(8);
  wish.labels = {{"app", "a"}};
  if (OneIn(3)) wish.scheduling.node_selector = {{"model", AnyOf<std::string>({"h100", "a100"})}};
  if (OneIn(5)) wish.scheduling.node_affinity = NodeSelector{{{{{"model", NodeSelectorOp::kIn, {"h100"}}}, {}}}};
  if (OneIn(5))
    wish.scheduling.pod_anti_affinity.push_back(
        {LabelSelector{{{"app", "a"}}, {}}, {}, std::nullopt, "kubernetes.io/hostname"});
  Pod pod = MakePod("incoming", wish);
  PodSpec spec = *pod.spec;
  if (OneIn(4)) spec.trio.preemption_policy = PreemptionPolicy::kNever;
  pod.spec = std::move(spec);
  return pod;
}

void CheckChanges(const PreparedCluster& cluster, const ClusterSnapshot& snapshot, const Pod& incoming) {
  const OutlookOptions options = Options();
  const FeasibilityReport before = Evaluate(cluster, incoming, options.evaluate);
  for (const Proposal& proposal : FindProposals({cluster, snapshot, before, incoming, options})) {
    const FeasibilityReport after = Evaluate(proposal.cluster.value_or(snapshot), proposal.pod, options.evaluate);
    RC_ASSERT(after.verdict == proposal.change.leads_to);
    std::vector<std::string> nodes;
    for (const std::uint32_t node : after.fit_nodes) nodes.push_back(after.NodeName(node));
    for (const std::uint32_t chosen : after.chosen) nodes.push_back(after.NodeName(after.candidates[chosen].node));
    RC_ASSERT(std::count(nodes.begin(), nodes.end(), proposal.change.node) == 1);
    const bool evicts = after.verdict == Feasibility::kFitsAfterPreemption;
    RC_ASSERT(proposal.change.victims == (evicts ? after.candidates[after.chosen.front()].victims.size() : 0));
  }
}

RC_GTEST_PROP(Outlook, EveryChangeHelpsWhenItIsMade, ()) {
  const ClusterSnapshot snapshot = AnyCluster();
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(Options().evaluate.version));
  for (int i = 0; i < kPodsPerCluster; ++i) CheckChanges(cluster, snapshot, AnyIncoming());
}

Pod WithGpus(const Pod& pod, std::int64_t gpus) {
  Pod changed = pod;
  PodSpec spec = *pod.spec;
  spec.containers[0].requests[kGpu] = Quantity::FromUnits(gpus);
  changed.spec = std::move(spec);
  return changed;
}

bool Fits(const FeasibilityReport& report) {
  return report.verdict == Feasibility::kFitsNow || report.verdict == Feasibility::kFitsAfterPreemption;
}

void CheckFewerGpus(const PreparedCluster& cluster, const ClusterSnapshot& snapshot, const Pod& incoming) {
  const OutlookOptions options = Options();
  const FeasibilityReport before = Evaluate(cluster, incoming, options.evaluate);
  if (before.verdict != Feasibility::kShapeNeverFits && before.verdict != Feasibility::kPreemptionCannotHelp) return;
  const std::int64_t wanted = incoming.spec->containers[0].requests.at(kGpu).CeilUnits();
  std::int64_t largest = wanted - 1;
  while (largest > 0 && !Fits(Evaluate(snapshot, WithGpus(incoming, largest), options.evaluate))) --largest;
  const std::vector<Proposal> proposals = AskFewerGpus({cluster, snapshot, before, incoming, options});
  RC_ASSERT(proposals.size() == (largest > 0 ? 1u : 0u));
  if (largest > 0) RC_ASSERT(proposals[0].pod.spec == WithGpus(incoming, largest).spec);
}

RC_GTEST_PROP(Outlook, FewerGpusIsTheLargestNumberThatFits, ()) {
  const ClusterSnapshot snapshot = AnyCluster();
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(Options().evaluate.version));
  for (int i = 0; i < kPodsPerCluster; ++i) CheckFewerGpus(cluster, snapshot, AnyIncoming());
}

std::int64_t GpusOf(const Pod& pod) {
  const ResourceList& requests = pod.spec->containers[0].requests;
  return requests.contains(kGpu) ? requests.at(kGpu).CeilUnits() : 0;
}

// One node, counted from the snapshot.
NodeRoom NaiveRoom(const ClusterSnapshot& snapshot, std::uint32_t node, std::int64_t priority) {
  const NodeState& state = snapshot.nodes.rows()[node]->value;
  NodeRoom room{.node = node};
  if (state.node.allocatable.contains(kGpu)) room.allocatable = state.node.allocatable.at(kGpu).CeilUnits();
  room.free = room.allocatable;
  for (const auto& pod : state.pods) {
    room.free -= GpusOf(*pod);
    if (*pod->spec->trio.priority < priority) room.freeable += GpusOf(*pod);
  }
  for (const auto& pod : snapshot.waiting)
    if (pod->standing->nominated_node == state.node.name && *pod->spec->trio.priority >= priority)
      room.free -= GpusOf(*pod);
  return room;
}

RC_GTEST_PROP(Outlook, RoomAgreesWithANaiveCount, ()) {
  const ClusterSnapshot snapshot = AnyCluster();
  const Pod incoming = AnyIncoming();
  const OutlookOptions options = Options();
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(options.evaluate.version));
  const Outlook outlook = LookAhead(cluster, snapshot, incoming, options);
  RC_ASSERT(outlook.room.has_value());
  std::int64_t free = 0;
  std::int64_t freeable = 0;
  std::int64_t most = 0;
  for (const NodeRoom& node : outlook.room->nodes) {
    const NodeRoom naive = NaiveRoom(snapshot, node.node, *incoming.spec->trio.priority);
    RC_ASSERT(std::tie(node.allocatable, node.free, node.freeable) ==
              std::tie(naive.allocatable, naive.free, naive.freeable));
    if (!node.usable) continue;
    free += std::max<std::int64_t>(0, node.free);
    freeable += node.freeable;
    most = std::max(most, node.free + node.freeable);
  }
  RC_ASSERT(std::tie(free, freeable, most) ==
            std::tie(outlook.room->free, outlook.room->freeable, outlook.room->most_on_one_node));
  // A verdict that nothing contradicts: where it fits, the arithmetic says so.
  if (Fits(outlook.report)) RC_ASSERT(outlook.room->most_on_one_node >= outlook.room->wanted);
}

RC_GTEST_PROP(Outlook, APlanAddsUp, ()) {
  const ClusterSnapshot snapshot = AnyCluster();
  const OutlookOptions options = Options();
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(options.evaluate.version));
  const Outlook outlook = LookAhead(cluster, snapshot, AnyIncoming(), options);
  if (!outlook.plan) return;
  const PreemptionPlan& plan = *outlook.plan;
  const Candidate& chosen = outlook.report.candidates[outlook.report.chosen.front()];
  std::vector<const Pod*> victims;
  std::int64_t breaking = 0;
  std::int64_t gpus = 0;
  std::chrono::seconds longest{};
  for (const VictimCost& victim : plan.victims) {
    victims.push_back(victim.pod);
    breaking += victim.breaks_budget ? 1 : 0;
    gpus += GpusOf(*victim.pod);
    longest = std::max(longest, victim.grace);
  }
  RC_ASSERT(victims == chosen.victims);
  RC_ASSERT(breaking == chosen.budget_violations);
  RC_ASSERT(plan.wait_at_most == longest);
  RC_ASSERT(gpus == (plan.freed.empty() ? 0 : plan.freed[0].count));
}

}  // namespace
}  // namespace podium
