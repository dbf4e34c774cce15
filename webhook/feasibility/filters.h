// The Filter plugins of the scheduler's default profile, in their order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "feasibility/cycle.h"

namespace podium {

enum class Plugin : std::uint8_t {
  kNone,
  kNodeUnschedulable,
  kNodeName,
  kTaintToleration,
  kNodeAffinity,
  kNodePorts,
  kNodeResourcesFit,
  kPodTopologySpread,
  kInterPodAffinity,
  kNodeDeclaredFeatures,
};

std::string_view ToString(Plugin plugin);  // "NodeResourcesFit"

enum class FilterCode : std::uint8_t { kPass, kUnschedulable, kUnresolvable };

// Each reason is one bit of FilterResult::reasons. Behind the last one follow the demands: "Insufficient RESOURCE".
enum class Reason : std::uint8_t {
  kUnschedulable,
  kNodeName,
  kTaint,
  kNodeAffinity,
  kPorts,
  kTooManyPods,
  kSpreadLabel,
  kSpread,
  kNotDrawn,
  kRepelled,
  kRefused,
  kFeatures,
  kOutsideNodeSet,  // its text depends on the cycle
  kConflictingNames,
  kNoVictims,
  kInsufficient,  // the first demand
};

struct FilterResult {
  FilterCode code = FilterCode::kPass;
  Plugin plugin = Plugin::kNone;
  std::uint64_t reasons = 0;

  [[nodiscard]] bool passed() const { return code == FilterCode::kPass; }
  bool operator==(const FilterResult&) const = default;
};

constexpr std::uint64_t Bit(Reason reason, std::size_t further = 0) {
  return std::uint64_t{1} << (static_cast<std::size_t>(reason) + further);
}

// The scheduler's words; kOutsideNodeSet has none.
std::string_view TextOf(Reason reason);

// What an evaluation of one filter says: kPass, or why not.
using Filter = FilterResult (*)(const Overlay& node);

struct FilterRow {
  Plugin plugin;
  Filter run;
  bool (*takes_part)(const Cycle& cycle);  // false: PreFilter skips it for this pod
  bool sees_pods;                          // false: what runs on the node plays no part, so evictions change nothing
};

std::span<const FilterRow> Filters();

enum class Pass { kAllFilters, kThoseThatSeePods };

// The first failing filter decides. Promised pods are put on the node first; then it must also pass without them
// (runtime/framework.go, RunFilterPluginsWithNominatedPods).
FilterResult RunFilters(const Overlay& node, Pass pass);

// RunFilters(node, Pass::kThoseThatSeePods).passed(), sooner. Asked for every possible victim of every node.
bool PassesWithPods(const Overlay& node);

FilterResult FilterNodeUnschedulable(const Overlay& node);
FilterResult FilterNodeName(const Overlay& node);
FilterResult FilterTaints(const Overlay& node);
FilterResult FilterNodeAffinity(const Overlay& node);
FilterResult FilterPorts(const Overlay& node);
FilterResult FilterResources(const Overlay& node);
bool FitsResources(const Overlay& node);  // FilterResources(node).passed()
FilterResult FilterSpread(const Overlay& node);
FilterResult FilterPodAffinity(const Overlay& node);
FilterResult FilterFeatures(const Overlay& node);

}  // namespace podium
