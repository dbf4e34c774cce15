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

// Volume filters would stand behind NodeResourcesFit, DynamicResources behind InterPodAffinity: Evaluate says when a
// pod needs them.
constexpr std::array<FilterRow, 9> kFilters = {{
    {Plugin::kNodeUnschedulable, FilterNodeUnschedulable, false},
    {Plugin::kNodeName, FilterNodeName, false},
    {Plugin::kTaintToleration, FilterTaints, false},
    {Plugin::kNodeAffinity, FilterNodeAffinity, false},
    {Plugin::kNodePorts, FilterPorts, true},
    {Plugin::kNodeResourcesFit, FilterResources, true},
    {Plugin::kPodTopologySpread, FilterSpread, true},
    {Plugin::kInterPodAffinity, FilterPodAffinity, true},
    {Plugin::kNodeDeclaredFeatures, FilterFeatures, false},
}};

FilterResult RunOnce(const Overlay& node, Pass pass) {
  // What is behind a filter that sees pods was never asked before, so it is asked whatever it sees.
  bool behind = false;
  for (const FilterRow& filter : kFilters) {
    behind = behind || filter.sees_pods;
    if (pass == Pass::kThoseThatSeePods && !behind) continue;
    FilterResult result = filter.run(node);
    if (result.passed()) continue;
    result.plugin = filter.plugin;
    return result;
  }
  return {};
}

}  // namespace

std::string_view ToString(Plugin plugin) { return kPluginNames[static_cast<std::size_t>(plugin)]; }

std::string_view TextOf(Reason reason) { return kReasonTexts[static_cast<std::size_t>(reason)]; }

std::span<const FilterRow> Filters() { return kFilters; }

FilterResult RunFilters(const Overlay& node, Pass pass) {
  const auto promised = node.cycle().promised.find(node.id());
  if (promised != node.cycle().promised.end()) {
    Overlay with_promised = node;
    for (const PreparedPod& pod : promised->second) with_promised.Add(pod);
    const FilterResult result = RunOnce(with_promised, pass);
    if (!result.passed()) return result;
  }
  return RunOnce(node, pass);
}

}  // namespace podium
