#include "feasibility/filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/evaluations.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// One node "n" that fits, as `change` makes it, and a pod of 1 GPU as `wish` says.
struct FilterCase {
  std::string name;
  NodeWish node = {.gpus = 1};
  bool unschedulable = false;
  PodWish pod = {.gpus = 1};
  std::vector<PodWish> running = {};
  std::vector<std::string> refused = {};
};

void PrintTo(const FilterCase& row, std::ostream* out) { *out << row.name; }

NodeSelector LabelTerm(const std::string& key, NodeSelectorOp op, std::vector<std::string> values) {
  return {{{{{key, op, std::move(values)}}, {}}}};
}

SchedulingSpec Tolerating(Toleration toleration) { return {.tolerations = {std::move(toleration)}}; }

SchedulingSpec Port(const std::string& ip, std::int32_t port) { return {.host_ports = {{ip, "TCP", port}}}; }

PodAffinityTerm AppTerm(const std::string& app, const std::string& key = "kubernetes.io/hostname") {
  return {LabelSelector{{{"app", app}}, {}}, {}, std::nullopt, key};
}

SpreadConstraint SpreadOf(const std::string& app, const std::string& key) {
  SpreadConstraint constraint;
  constraint.topology_key = key;
  constraint.selector = LabelSelector{{{"app", app}}, {}};
  return constraint;
}

const Taint kGpuTaint = {"nvidia.com/gpu", "present", "NoSchedule"};

const std::vector<FilterCase> kCases = {
    {.name = "Fits"},
    {.name = "Cordoned",
     .unschedulable = true,
     .refused = {"n: Unresolvable NodeUnschedulable [node(s) were unschedulable]"}},
    {.name = "CordonedTolerated",
     .unschedulable = true,
     .pod = {.gpus = 1, .scheduling = Tolerating({"node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"})}},
    {.name = "Tainted",
     .node = {.gpus = 1, .taints = {kGpuTaint}},
     .refused = {"n: Unresolvable TaintToleration [node(s) had untolerated taint(s)]"}},
    {.name = "TaintTolerated",
     .node = {.gpus = 1, .taints = {kGpuTaint}},
     .pod = {.gpus = 1, .scheduling = Tolerating({"nvidia.com/gpu", "Equal", "present", ""})}},
    {.name = "TaintToleratedByEveryKey",
     .node = {.gpus = 1, .taints = {kGpuTaint}},
     .pod = {.gpus = 1, .scheduling = Tolerating({"", "Exists", "", ""})}},
    {.name = "GreaterThanToleratesNothing",
     .node = {.gpus = 1, .taints = {{"gen", "5", "NoExecute"}}},
     .pod = {.gpus = 1, .scheduling = Tolerating({"gen", "Gt", "4", "NoExecute"})},
     .refused = {"n: Unresolvable TaintToleration [node(s) had untolerated taint(s)]"}},
    {.name = "PreferNoSchedule", .node = {.gpus = 1, .taints = {{"a", "", "PreferNoSchedule"}}}},
    {.name = "Selector",
     .pod = {.gpus = 1, .scheduling = {.node_selector = {{"pool", "a"}}}},
     .refused = {"n: Unresolvable NodeAffinity [node(s) didn't match Pod's node affinity/selector]"}},
    {.name = "AffinityGreaterThan",
     .node = {.gpus = 1, .labels = {{"mem", "80"}}},
     .pod = {.gpus = 1, .scheduling = {.node_affinity = LabelTerm("mem", NodeSelectorOp::kGt, {"40"})}}},
    {.name = "AffinityTermWithoutEntries",
     .pod = {.gpus = 1, .scheduling = {.node_affinity = NodeSelector{{{}}}}},
     .refused = {"n: Unresolvable NodeAffinity [node(s) didn't match Pod's node affinity/selector]"}},
    {.name = "PortTaken",
     .pod = {.gpus = 1, .scheduling = Port("10.0.0.1", 9400)},
     .running = {{.scheduling = Port("0.0.0.0", 9400)}},
     .refused = {"n: Unschedulable NodePorts [node(s) didn't have free ports for the requested pod ports]"}},
    {.name = "PortOnAnotherAddress",
     .pod = {.gpus = 1, .scheduling = Port("10.0.0.1", 9400)},
     .running = {{.scheduling = Port("10.0.0.2", 9400)}}},
    {.name = "GpuHeld",
     .running = {{.gpus = 1}},
     .refused = {"n: Unschedulable NodeResourcesFit [Insufficient nvidia.com/gpu]"}},
    {.name = "MoreThanTheNodeHas",
     .node = {.gpus = 1, .pods = 1},
     .pod = {.gpus = 2},
     .running = {{}},
     .refused = {"n: Unresolvable NodeResourcesFit [Insufficient nvidia.com/gpu, Too many pods]"}},
    {.name = "SpreadWithoutLabel",
     .pod = {.gpus = 1, .scheduling = {.spread = {SpreadOf("chat", "zone")}}},
     .refused = {"n: Unresolvable PodTopologySpread [node(s) didn't match pod topology spread constraints (missing "
                 "required label)]"}},
    {.name = "AffinityToNobody",
     .pod = {.gpus = 1, .scheduling = {.pod_affinity = {AppTerm("cache")}}},
     .refused = {"n: Unresolvable InterPodAffinity [node(s) didn't match pod affinity rules]"}},
    {.name = "FirstOfItsGroup",
     .pod = {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = {.pod_affinity = {AppTerm("chat")}}}},
    {.name = "AntiAffinity",
     .pod = {.gpus = 1, .scheduling = {.pod_anti_affinity = {AppTerm("chat")}}},
     .running = {{.labels = {{"app", "chat"}}}},
     .refused = {"n: Unschedulable InterPodAffinity [node(s) didn't match pod anti-affinity rules]"}},
    {.name = "RefusedByARunningPod",
     .pod = {.gpus = 1, .labels = {{"app", "chat"}}},
     .running = {{.scheduling = {.pod_anti_affinity = {AppTerm("chat")}}}},
     .refused = {"n: Unschedulable InterPodAffinity [node(s) didn't satisfy existing pods anti-affinity rules]"}},
    {.name = "UndeclaredFeature",
     .pod = {.gpus = 1, .scheduling = {.needs = {.bind_mount_options = true}}},
     .refused = {"n: Unresolvable NodeDeclaredFeatures [node(s) didn't match Pod's required features]"}},
};

class EveryFilter : public testing::TestWithParam<FilterCase> {};

TEST_P(EveryFilter, GivesTheSchedulersStatus) {
  const FilterCase& row = GetParam();
  Node node = MakeNode("n", row.node);
  node.unschedulable = row.unschedulable;
  ClusterSnapshot snapshot;
  NodeState state{node, {}};
  for (const PodWish& wish : row.running) state.pods.push_back(std::make_shared<const Pod>(MakePod("running", wish)));
  snapshot.nodes.Put("n", state);
  const FeasibilityReport report = Evaluate(snapshot, MakePod("new", row.pod), {});
  EXPECT_EQ(RefusedText(report), row.refused);
  EXPECT_EQ(report.verdict == Feasibility::kFitsNow, row.refused.empty());
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryFilter, testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

TEST(Filters, AreInTheSchedulersOrder) {
  std::vector<std::string_view> names;
  for (const FilterRow& row : Filters()) names.push_back(ToString(row.plugin));
  EXPECT_THAT(names, ElementsAre("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
                                 "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"));
}

TEST(Spreading, CountsDomainsThatTheNodeBelongsTo) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4, .labels = {{"zone", "1"}}})
      .WithPod("chat-1", {.gpus = 1, .labels = {{"app", "chat"}}});
  cluster.WithNode("b", {.gpus = 4, .labels = {{"zone", "1"}}});
  cluster.WithNode("c", {.gpus = 4, .labels = {{"zone", "2"}}});
  const Pod pod =
      MakePod("chat-2", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = {.spread = {SpreadOf("chat", "zone")}}});
  const FeasibilityReport report = Evaluate(cluster.Build(), pod, {});
  const std::string skewed = ": Unschedulable PodTopologySpread [node(s) didn't match pod topology spread constraints]";
  EXPECT_THAT(RefusedText(report), ElementsAre("a" + skewed, "b" + skewed));
  EXPECT_THAT(report.fit_nodes, ElementsAre(2));
}

TEST(Spreading, TooFewDomainsMakeTheMinimumZero) {
  SpreadConstraint constraint = SpreadOf("chat", "kubernetes.io/hostname");
  constraint.min_domains = 2;
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 4}).WithPod("chat-1", {.gpus = 1, .labels = {{"app", "chat"}}});
  const Pod pod = MakePod("chat-2", {.gpus = 1, .labels = {{"app", "chat"}}, .scheduling = {.spread = {constraint}}});
  EXPECT_THAT(RefusedText(Evaluate(cluster.Build(), pod, {})),
              ElementsAre("a: Unschedulable PodTopologySpread [node(s) didn't match pod topology spread constraints]"));
}

// "NotIn" accepts the empty label set: until 1.36 such a selector matches the pods of every namespace.
TEST(PodAffinity, NamespaceSelectorMeansWhatItSaysSince137) {
  PodAffinityTerm term = AppTerm("batch");
  term.namespace_selector = LabelSelector{{}, {{"team", SelectorOp::kNotIn, {"red"}}}};
  const Pod pod = MakePod("new", {.gpus = 1, .scheduling = {.pod_anti_affinity = {term}}});
  ClusterBuilder cluster;
  cluster.WithNamespace("red", {{"team", "red"}}).WithNode("a", {.gpus = 2});
  cluster.WithPod("red/batch", {.labels = {{"app", "batch"}}});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_THAT(RefusedText(Evaluate(snapshot, pod, Version(36))),
              ElementsAre("a: Unschedulable InterPodAffinity [node(s) didn't match pod anti-affinity rules]"));
  EXPECT_THAT(RefusedText(Evaluate(snapshot, pod, Version(37))), IsEmpty());
}

TEST(NodeNames, OtherNodesAreExcludedBeforeFiltering) {
  const NodeSelector by_name = {{{{}, {{"metadata.name", NodeSelectorOp::kIn, {"b"}}}}}};
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithNode("b", {.gpus = 1});
  const FeasibilityReport report =
      Evaluate(cluster.Build(), MakePod("new", {.gpus = 1, .scheduling = {.node_affinity = by_name}}), {});
  EXPECT_THAT(RefusedText(report), ElementsAre("a: Unresolvable  [node(s) didn't satisfy plugin(s) [NodeAffinity]]"));
  EXPECT_THAT(report.fit_nodes, ElementsAre(1));
}

TEST(NodeNames, ThatContradictEachOtherRejectThePodAtOnce) {
  const NodeSelector by_name = {
      {{{}, {{"metadata.name", NodeSelectorOp::kIn, {"a"}}, {"metadata.name", NodeSelectorOp::kIn, {"b"}}}}}};
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithNode("b", {.gpus = 1});
  const FeasibilityReport report =
      Evaluate(cluster.Build(), MakePod("new", {.gpus = 1, .scheduling = {.node_affinity = by_name}}), {});
  EXPECT_EQ(report.message, "0/2 nodes are available: pod affinity terms conflict. not found");
  EXPECT_EQ(report.verdict, Feasibility::kPreemptionCannotHelp);
}

}  // namespace
}  // namespace podium
