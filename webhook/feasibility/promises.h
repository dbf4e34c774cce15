// Unbound pods to which room on a node was promised (status.nominatedNodeName), as one incoming pod sees them.
// Source: kubernetes pkg/scheduler/framework/runtime (addGENominatedPods), framework/preemption (executor.go).
#pragma once

#include <string>

#include "feasibility/prepared_cluster.h"

namespace podium {

// True: its room is taken for `incoming`. It belongs to the same scheduler and has at least the same priority.
bool KeepsPromise(const PreparedPod& promised, const Pod& incoming, const std::string& scheduler);

// True: it loses its nomination when `incoming` is nominated to the same node.
bool LosesPromise(const PreparedPod& promised, const Pod& incoming, const std::string& scheduler);

}  // namespace podium
