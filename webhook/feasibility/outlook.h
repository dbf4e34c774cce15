// What stands behind a verdict, and what would change it. Pure, as Evaluate is; never changes the verdict itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "feasibility/prepared_cluster.h"
#include "podium/outlook.h"

namespace podium {

struct OutlookOptions {
  EvaluateOptions evaluate = {};
  TimePoint now = {};  // running times and what is left of grace periods are counted from here
  std::vector<GpuResource> gpus = {};
};

// Evaluates `incoming` and says everything about it.
// Requires: `cluster` was prepared from `snapshot`. Pointers of the result live as long as its report, those in
// `lost_promise` as long as the snapshot.
Outlook LookAhead(const PreparedCluster& cluster, const ClusterSnapshot& snapshot, const Pod& incoming,
                  const OutlookOptions& options);

// The parts of it, for a report that is there already. Requires of all: `report` is what Evaluate says of `incoming` in
// `cluster`, with `options.evaluate`.

// The chosen candidate, priced. Absent: the report chose none.
// Sources: kubernetes pkg/registry/core/pod/strategy.go (CheckGracefulDelete), framework/preemption/executor.go.
std::optional<PreemptionPlan> PricePlan(const PreparedCluster& cluster, const FeasibilityReport& report,
                                        const Pod& incoming, const OutlookOptions& options);

// Absent: the pod asks for no GPU, or no node was looked at.
std::optional<Room> CountRoom(const PreparedCluster& cluster, const FeasibilityReport& report, const Pod& incoming,
                              const OutlookOptions& options);

// One line for each GPU resource of the pod that the plan's victims give back in less than whole devices. Absent plan:
// none. For the NVIDIA device plugin the labels of the node tell what a plain resource name hides.
std::vector<std::string> ShareWarnings(const FeasibilityReport& report, const std::optional<PreemptionPlan>& plan,
                                       const Pod& incoming, const OutlookOptions& options);

}  // namespace podium
