// What stands behind a verdict, and what would change it. Pure, as Evaluate is; never changes the verdict itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "feasibility/prepared_cluster.h"
#include "podium/outlook.h"

namespace podium {

// What a search for changes may cost. One evaluation takes up to some milliseconds in a cluster of 5,000 nodes; a
// what-if of moved pods needs a preparation of the whole cluster beside it, which takes longer.
struct SearchBounds {
  std::size_t evaluations_per_kind = 12;
  std::size_t preparations = 16;  // of all what-ifs of moved pods together
};

struct OutlookOptions {
  EvaluateOptions evaluate = {};
  TimePoint now = {};  // running times and what is left of grace periods are counted from here
  std::vector<GpuResource> gpus = {};
  SearchBounds search = {};
};

// Evaluates `incoming` and says everything about it. For a pod that fits this costs little more than Evaluate.
// Requires: `cluster` was prepared from `snapshot`. Pointers of the result live as long as its report, those in
// `lost_promise` as long as the snapshot.
Outlook LookAhead(const PreparedCluster& cluster, const ClusterSnapshot& snapshot, const Pod& incoming,
                  const OutlookOptions& options);

// How long `victim` may still take to go: its grace period, of a terminating pod what is left of it (the deletion time
// is the end of that period, not its beginning).
// Source: kubernetes pkg/registry/core/pod/strategy.go (CheckGracefulDelete).
std::chrono::seconds GraceLeft(const Pod& victim, TimePoint now);

// The parts of it, for a report that is there already. Requires of all: `report` is what Evaluate says of `incoming` in
// `cluster`, with `options.evaluate`.

// The chosen candidate, priced. Absent: the report chose none.
// Source of the lost nominations: kubernetes pkg/scheduler/framework/preemption/executor.go.
std::optional<PreemptionPlan> PricePlan(const PreparedCluster& cluster, const FeasibilityReport& report,
                                        const Pod& incoming, const OutlookOptions& options);

// Absent: the pod asks for no GPU, or no node was looked at.
std::optional<Room> CountRoom(const PreparedCluster& cluster, const FeasibilityReport& report, const Pod& incoming,
                              const OutlookOptions& options);

// One line for a pod that waits for earlier victims: where, and how long at most. Empty otherwise.
std::vector<std::string> WaitWarnings(const PreparedCluster& cluster, const FeasibilityReport& report,
                                      const Pod& incoming, const OutlookOptions& options);

// One line for each GPU resource of the pod that the plan's victims give back in less than whole devices. Absent plan:
// none. For the NVIDIA device plugin the labels of the node tell what a plain resource name hides.
std::vector<std::string> ShareWarnings(const FeasibilityReport& report, const std::optional<PreemptionPlan>& plan,
                                       const Pod& incoming, const OutlookOptions& options);

// Changes after which the pod fits, least intrusive first: less of another resource, another label, a toleration,
// another node by several of those (when none helps alone), fewer GPUs, leave to preempt, a higher class, moving pods
// away. At most one of a kind; of labels one for each entry. Each was evaluated and found to fit; the number of
// evaluations is bounded (SearchBounds), so that a search may miss one. Empty for verdicts that a change of the pod
// would not explain: those that fit, Unknown, and a preemptor that waits for its victims.
std::vector<Change> FindChanges(const PreparedCluster& cluster, const ClusterSnapshot& snapshot,
                                const FeasibilityReport& report, const Pod& incoming, const OutlookOptions& options);

}  // namespace podium
