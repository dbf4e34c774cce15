// Requests against what is free. Source: plugins/noderesources/fit.go (fitsRequest).
#include "feasibility/filters.h"

namespace podium {

// Every reason is collected. More than the node has at all: no eviction helps.
FilterResult FilterResources(const Overlay& node) {
  FilterResult result;
  bool ever_fits = true;
  if (node.pod_count() + 1 > node.node().pod_limit) result.reasons |= Bit(Reason::kTooManyPods);
  const std::vector<Demand>& demands = node.cycle().demands;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].amount <= node.free(i)) continue;
    result.reasons |= Bit(Reason::kInsufficient, i);
    ever_fits = ever_fits && demands[i].amount <= node.allocatable(i);
  }
  if (result.reasons != 0) result.code = ever_fits ? FilterCode::kUnschedulable : FilterCode::kUnresolvable;
  return result;
}

bool FitsResources(const Overlay& node) {
  if (node.pod_count() + 1 > node.node().pod_limit) return false;
  const std::vector<Demand>& demands = node.cycle().demands;
  for (std::size_t i = 0; i < demands.size(); ++i)
    if (demands[i].amount > node.free(i)) return false;
  return true;
}

}  // namespace podium
