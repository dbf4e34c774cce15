// Would kube-scheduler place this pod, whom would it evict for it, and if not, why not?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/snapshot.h"

namespace podium {

enum class Feasibility {
  kFitsNow,
  kFitsAfterPreemption,
  kPreemptionForbidden,   // nothing fits, and this pod must not preempt: see `ineligible`
  kPreemptionCannotHelp,  // no victims on any single node make room
  kShapeNeverFits,        // no node is big enough, even when it is empty
  kUnknown,               // the scheduler does not try it (`ineligible`), or what was not evaluated decides (`caveats`)
};

// Why the scheduler does not consider a pod, or does not preempt for it.
enum class Ineligible {
  kPolicyNever,
  kTerminatingVictim,  // earlier victims on its nominated node are still going
  kGated,
  kOtherScheduler,
  kDeleting,
  kAlreadyBound,
  kOver,  // Succeeded or Failed
};

// The same words on every surface.
constexpr std::string_view ToString(Feasibility verdict) {
  switch (verdict) {
    case Feasibility::kFitsNow: return "FitsNow";
    case Feasibility::kFitsAfterPreemption: return "FitsAfterPreemption";
    case Feasibility::kPreemptionForbidden: return "PreemptionForbidden";
    case Feasibility::kPreemptionCannotHelp: return "PreemptionCannotHelp";
    case Feasibility::kShapeNeverFits: return "ShapeNeverFits";
    case Feasibility::kUnknown: break;
  }
  return "Unknown";
}

constexpr std::string_view ToString(Ineligible ineligible) {
  switch (ineligible) {
    case Ineligible::kPolicyNever: return "PreemptionPolicyNever";
    case Ineligible::kTerminatingVictim: return "TerminatingVictimOnNominatedNode";
    case Ineligible::kGated: return "Gated";
    case Ineligible::kOtherScheduler: return "OtherScheduler";
    case Ineligible::kDeleting: return "Deleting";
    case Ineligible::kAlreadyBound: return "AlreadyBound";
    case Ineligible::kOver: break;
  }
  return "Over";
}

enum class StatusCode {
  kUnschedulable,  // evictions may help
  kUnresolvable,   // they do not
};

// Why a node was refused, in the scheduler's own words.
struct NodeStatus {
  StatusCode code = StatusCode::kUnschedulable;
  std::string plugin;                // empty: before or after filtering
  std::vector<std::string> reasons;  // sorted
  bool operator==(const NodeStatus&) const = default;
};

// Both are positions in the report: `nodes` and `statuses`.
struct NodeOutcome {
  std::uint32_t node = 0;
  std::uint32_t status = 0;
  bool operator==(const NodeOutcome&) const = default;
};

// A node where evictions make room.
struct Candidate {
  std::uint32_t node = 0;
  std::vector<const Pod*> victims;  // most important first; they live as long as the report's `nodes`
  std::int64_t budget_violations = 0;
  bool operator==(const Candidate&) const = default;
};

enum class CaveatKind {
  kVolumes,         // the pod has volumes whose filters were not evaluated
  kResourceClaims,  // it has claims on devices (DRA) that were not evaluated
  kTooManyResources,
  kUnverifiedVersion,
  kSampling,     // the scheduler looks at a part of the candidates only and may choose another node
  kEqualPods,    // a pod that stays is as important as a victim: the scheduler may take that one instead
  kBudgetOrder,  // a victim breaks one of several budgets: the scheduler takes them in a random order
};

struct Caveat {
  CaveatKind kind = CaveatKind::kVolumes;
  std::string text;
  bool operator==(const Caveat&) const = default;
};

// What an evaluation reads of a cluster: keys of ClusterSnapshot::sources.
inline constexpr std::array<std::string_view, 5> kEvaluatedResources = {
    "namespaces", "nodes", "pods", "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io"};

struct SchedulerVersion {
  std::int32_t major = 1;
  std::int32_t minor = 37;
  auto operator<=>(const SchedulerVersion&) const = default;  // NOLINT(modernize-use-nullptr): misread by clang-tidy 14
};

// "1.36", "v1.36.3", "1.36+" -> {1, 36}.
Result<SchedulerVersion> ParseSchedulerVersion(std::string_view text);

struct EvaluateOptions {
  SchedulerVersion version = {};
  std::string scheduler_name = "default-scheduler";
};

struct FeasibilityReport {
  Feasibility verdict = Feasibility::kUnknown;
  std::optional<Ineligible> ineligible;
  std::string rules;                       // "1.36": whose behaviour this is
  Table<NodeState> nodes;                  // what was evaluated
  std::vector<std::uint32_t> fit_nodes;    // ascending
  std::optional<std::uint32_t> bind_node;  // its own nominated node fits: taken without comparing
  std::vector<NodeStatus> statuses;        // each once
  std::vector<NodeOutcome> refused;        // every node that does not fit
  std::vector<NodeOutcome> dry_run;        // nodes that were tried with evictions and still do not fit
  std::vector<Candidate> candidates;       // ascending by node
  std::vector<std::uint32_t> chosen;       // candidates that are equal in every criterion; the first is ours
  std::string message;                     // of the PodScheduled condition; empty when it fits
  std::vector<Caveat> caveats;

  [[nodiscard]] const std::string& NodeName(std::uint32_t node) const { return nodes.rows()[node]->key; }
};

// Pure: no clock, log, thread or state; any number of threads may evaluate on one snapshot. Only requests are read, as
// in the scheduler: limits must have been copied into missing requests (the API server does that on creation). Ties
// between pods are broken by their order in NodeState::pods, between budgets by their order in the snapshot.
// Source: Kubernetes pkg/scheduler (1.34 to 1.37), default profile and feature gates, no extenders.
FeasibilityReport Evaluate(const ClusterSnapshot& snapshot, const Pod& incoming, const EvaluateOptions& options);

}  // namespace podium
