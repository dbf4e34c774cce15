// What a feasibility report means to people: what evictions would cost, where the GPUs are, what would help instead,
// and what becomes of a whole workload. Never changes a verdict.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/feasibility.h"
#include "podium/policy.h"

namespace podium {

// --- one pod --------------------------------------------------------------------------------------------------------

struct VictimCost {
  const Pod* pod = nullptr;  // lives as long as the report's `nodes`
  std::vector<GpuRequest> gpus;
  std::chrono::seconds grace{};  // it may take this long to go; of a terminating pod what is left of it
  std::optional<std::chrono::seconds> ran_for{};  // since status.startTime; absent: not started
  bool loading = false;                           // it runs, but has not become Ready
  bool breaks_budget = false;                     // a disruption budget asks to keep it
};

// The candidate that the scheduler takes, priced.
struct PreemptionPlan {
  std::uint32_t node = 0;           // position in the report's `nodes`
  std::vector<VictimCost> victims;  // most important first
  std::int64_t budget_violations = 0;
  std::vector<GpuRequest> freed;         // sums over the victims, by resource
  std::chrono::seconds wait_at_most{};   // the longest grace period of a victim, also on the other nodes it may take
  std::int64_t lost_gpu_seconds = 0;     // whole devices x running time; slices and shared replicas are not added
  std::size_t loading_victims = 0;       // started and not Ready: their start-up is lost too
  std::vector<const Pod*> lost_promise;  // pods of lower priority that were nominated to this node; the snapshot's
};

// The units of one resource on one node, seen from one priority.
struct NodeRoom {
  std::uint32_t node = 0;
  std::int64_t allocatable = 0;
  // allocatable - held - promised to nominated pods of at least this priority; negative: the node is overcommitted
  std::int64_t free = 0;
  std::int64_t freeable = 0;  // held by pods of lower priority, budgets not looked at
  bool usable = true;         // false: refused for a reason that evictions do not change (taint, label, cordon)
};

// The arithmetic of the resource the pod is about: its first GPU resource.
struct Room {
  std::string resource;
  GpuUnit unit = GpuUnit::kDevice;
  std::int64_t wanted = 0;      // by one pod
  std::vector<NodeRoom> nodes;  // those that have the resource, ascending by node
  std::int64_t free = 0;        // sums over usable nodes; an overcommitted one counts as 0
  std::int64_t freeable = 0;
  std::int64_t most_on_one_node = 0;  // the largest free + freeable of a usable node
};

enum class ChangeKind {
  kFewerGpus,      // ask for less per pod
  kOtherLabel,     // drop or change a node selector or affinity entry
  kToleration,     // tolerate a taint
  kHigherClass,    // a class that may evict more
  kMayPreempt,     // preemptionPolicy PreemptLowerPriority
  kDrainNode,      // move away what stands on a node
  kLessOfAnother,  // less CPU, memory, ... than the node has beside its GPUs
  kNodeOfAVictim,  // to a node where victims of a lower class stand
};

constexpr std::string_view ToString(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kFewerGpus: return "FewerGpus";
    case ChangeKind::kOtherLabel: return "OtherLabel";
    case ChangeKind::kToleration: return "Toleration";
    case ChangeKind::kHigherClass: return "HigherClass";
    case ChangeKind::kMayPreempt: return "MayPreempt";
    case ChangeKind::kDrainNode: return "DrainNode";
    case ChangeKind::kLessOfAnother: return "LessOfAnother";
    case ChangeKind::kNodeOfAVictim: break;
  }
  return "NodeOfAVictim";
}

// A change to the pod (or to one node) after which it was evaluated again and found to fit.
struct Change {
  ChangeKind kind = ChangeKind::kFewerGpus;
  std::string text;                              // what to do, one line: "ask for 1 nvidia.com/gpu instead of 2"
  Feasibility leads_to = Feasibility::kFitsNow;  // or kFitsAfterPreemption
  std::string node;                              // where it would go; one of them, when it fits on several
  std::size_t victims = 0;
  std::vector<const Pod*> named = {};  // pods whose NAMESPACE/NAME is in the text; they live as long as the snapshot
};

struct Outlook {
  FeasibilityReport report;
  std::optional<PreemptionPlan> plan;  // of kFitsAfterPreemption
  std::optional<Room> room;            // of pods that ask for GPUs
  std::vector<Change> changes;         // least intrusive first; of verdicts that are no fit
  std::vector<std::string> warnings;   // what the verdict does not say: an eviction frees a share of a device only
};

// --- a workload -----------------------------------------------------------------------------------------------------

enum class Placing {
  kOneByOne,      // each replica for itself, as a Deployment's
  kAllOrNothing,  // a gang: no use in a part of them
};

enum class Exactness {
  kExact,    // the number does not depend on choices the scheduler makes by score or chance
  kBounded,  // one course of events was followed (or the search was ended): others are possible
};

constexpr std::string_view ToString(Placing placing) {
  return placing == Placing::kOneByOne ? "OneByOne" : "AllOrNothing";
}

constexpr std::string_view ToString(Exactness exactness) {
  return exactness == Exactness::kExact ? "Exact" : "Bounded";
}

struct ReplicaOutcome {
  Feasibility verdict = Feasibility::kUnknown;
  std::optional<std::uint32_t> node;  // where it was put
  std::vector<const Pod*> victims;
};

// A victim and where it could go next.
struct Displaced {
  const Pod* pod = nullptr;
  Feasibility verdict = Feasibility::kUnknown;  // of its replacement, after all that happened before
  std::optional<std::uint32_t> node;
  std::size_t victims = 0;  // it would evict again
  bool recreated = true;    // false: nobody makes it anew elsewhere (no controller, a DaemonSet's, a static pod)
};

struct WorkloadReport {
  Placing placing = Placing::kOneByOne;
  std::int64_t wanted = 0;
  std::int64_t fit_now = 0;    // replicas placed without evictions
  std::int64_t fit_after = 0;  // placed by evictions
  bool feasible = false;       // all of them
  Exactness exactness = Exactness::kExact;
  std::string exactness_reason;       // why it is not exact
  Table<NodeState> nodes;             // what was evaluated; keeps the pods of this report alive
  std::vector<ReplicaOutcome> steps;  // in order; equal ones are not folded; ends with the first that does not fit
  std::optional<FeasibilityReport> stopped_by;  // of that one
  std::vector<Displaced> displaced;             // all victims in order of eviction, then whom their replacements evict
  std::int64_t homeless = 0;                    // displaced and recreated pods that fit nowhere afterwards

  [[nodiscard]] const std::string& NodeName(std::uint32_t node) const { return nodes.rows()[node]->key; }
};

// --- the cluster's GPUs ---------------------------------------------------------------------------------------------

// One resource on the nodes of one pool.
struct GpuStock {
  std::string pool;  // value of the label that tells pools apart; "" where nodes have none
  std::string resource;
  GpuUnit unit = GpuUnit::kDevice;
  std::int64_t nodes = 0;     // that have the resource, or pods that hold it
  std::int64_t capacity = 0;  // allocatable
  std::int64_t free = 0;
  std::int64_t on_unusable_nodes = 0;        // of `free`, on cordoned nodes
  std::map<std::string, std::int64_t> held;  // by priority class name; "" for pods without one
  // By class of the snapshot: held by pods of lower priority; 0 for a class with preemptionPolicy Never.
  std::map<std::string, std::int64_t> preemptible;
  std::map<std::int64_t, std::int64_t> free_per_node;  // free units -> number of nodes, cordoned ones left out
  std::int64_t largest_free = 0;                       // on one node that is not cordoned
};

}  // namespace podium
