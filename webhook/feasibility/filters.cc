#include "feasibility/filters.h"

#include <array>

namespace podium {
namespace {

constexpr std::array<std::string_view, 10> kPluginNames = {
    "",          "NodeUnschedulable", "NodeName",          "TaintToleration",  "NodeAffinity",
    "NodePorts", "NodeResourcesFit",  "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"};

constexpr std::array<std::string_view, 15> kReasonTexts = {
    "node(s) were unschedulable",
    "node(s) didn't match the requested node name",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't match Pod's required features",
    "",
    "pod affinity terms conflict",
    "No preemption victims found for incoming pod"};

bool Always(const Cycle&) { return true; }
bool IfBound(const Cycle& cycle) { return !cycle.pod->node_name->empty(); }
bool IfItSelectsNodes(const Cycle& cycle) { return !cycle.spec->node_selector.empty() || cycle.spec->node_affinity; }
bool IfItWantsPorts(const Cycle& cycle) { return !cycle.spec->host_ports.empty(); }
bool IfItSpreads(const Cycle& cycle) { return !cycle.spread.rows.empty(); }
bool IfAffinityCounts(const Cycle& cycle) { return cycle.affinity.takes_part; }
bool IfItNeedsFeatures(const Cycle& cycle) { return cycle.spec->needs != NeededFeatures{}; }

// Volume filters would stand behind NodeResourcesFit, DynamicResources behind InterPodAffinity: Evaluate says when a
// pod needs them.
constexpr std::array<FilterRow, 9> kFilters = {{
    {Plugin::kNodeUnschedulable, FilterNodeUnschedulable, Always, false},
    {Plugin::kNodeName, FilterNodeName, IfBound, false},
    {Plugin::kTaintToleration, FilterTaints, Always, false},
    {Plugin::kNodeAffinity, FilterNodeAffinity, IfItSelectsNodes, false},
    {Plugin::kNodePorts, FilterPorts, IfItWantsPorts, true},
    {Plugin::kNodeResourcesFit, FilterResources, Always, true},
    {Plugin::kPodTopologySpread, FilterSpread, IfItSpreads, true},
    {Plugin::kInterPodAffinity, FilterPodAffinity, IfAffinityCounts, true},
    {Plugin::kNodeDeclaredFeatures, FilterFeatures, IfItNeedsFeatures, false},
}};

// What is behind a filter that sees pods may not have been asked yet, so it is asked whatever it sees.
FilterResult RunOnce(const Overlay& node, Pass pass) {
  const Cycle& cycle = node.cycle();
  for (std::size_t i = pass == Pass::kAllFilters ? 0 : cycle.first_that_sees_pods; i < cycle.filters.size(); ++i) {
    FilterResult result = cycle.filters[i]->run(node);
    if (result.passed()) continue;
    result.plugin = cycle.filters[i]->plugin;
    return result;
  }
  return {};
}

}  // namespace

std::string_view ToString(Plugin plugin) { return kPluginNames[static_cast<std::size_t>(plugin)]; }

std::string_view TextOf(Reason reason) { return kReasonTexts[static_cast<std::size_t>(reason)]; }

std::span<const FilterRow> Filters() { return kFilters; }

FilterResult RunFilters(const Overlay& node, Pass pass) {
  const auto& all_promised = node.cycle().promised;
  const auto promised = all_promised.empty() ? all_promised.end() : all_promised.find(node.id());
  if (promised != all_promised.end()) {
    Overlay with_promised = node;
    for (const PreparedPod& pod : promised->second) with_promised.Add(pod);
    const FilterResult result = RunOnce(with_promised, pass);
    if (!result.passed()) return result;
  }
  return RunOnce(node, pass);
}

bool PassesWithPods(const Overlay& node) {
  const Cycle& cycle = node.cycle();
  const bool only_resources = cycle.first_that_sees_pods + 1 == cycle.filters.size() &&
                              cycle.filters.back()->plugin == Plugin::kNodeResourcesFit;
  if (only_resources && cycle.promised.empty()) return FitsResources(node);
  return RunFilters(node, Pass::kThoseThatSeePods).passed();
}

}  // namespace podium
