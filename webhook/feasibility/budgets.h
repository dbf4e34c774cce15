// Disruption budgets as preemption counts them.
// Source: plugins/defaultpreemption/default_preemption.go (filterPodsWithPDBViolation).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "feasibility/prepared_cluster.h"

namespace podium {

// The budgets of one node's dry run: asked about its possible victims in order of importance, whether or not those turn
// out to be victims.
class BudgetLedger {
 public:
  explicit BudgetLedger(const PreparedCluster& cluster) : cluster_(&cluster) {}

  // Charges the budgets of `pod`; true: one of them is broken.
  bool Charge(const PreparedPod& pod);

  // A broken budget was one of several of its pod, so that the order of budgets can decide (1.37).
  [[nodiscard]] bool order_matters() const { return order_matters_; }

 private:
  std::int64_t& LeftOf(const Pdb& budget);

  const PreparedCluster* cluster_;
  std::vector<std::pair<const Pdb*, std::int64_t>> left_;  // few: those of one node's pods
  bool order_matters_ = false;
};

}  // namespace podium
