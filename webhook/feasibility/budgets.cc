#include "feasibility/budgets.h"

#include <algorithm>

namespace podium {
namespace {

bool IsDisrupted(const Pod& pod, const Pdb& budget) {
  const std::vector<std::string>& disrupted = budget.disrupted_pods;
  return std::find(disrupted.begin(), disrupted.end(), pod.name) != disrupted.end();
}

}  // namespace

std::int64_t& BudgetLedger::LeftOf(const Pdb& budget) {
  for (auto& [known, left] : left_)
    if (known == &budget) return left;
  return left_.emplace_back(&budget, budget.disruptions_allowed).second;
}

bool BudgetLedger::Charge(const PreparedPod& pod) {
  bool broken = false;
  std::size_t matching = 0;
  for (const Pdb* budget : cluster_->budgets[pod.group]) {
    if (IsDisrupted(*pod.pod, *budget)) continue;
    ++matching;
    if (broken && !cluster_->rules.charges_after_violation) continue;
    broken = --LeftOf(*budget) < 0 || broken;
  }
  order_matters_ = order_matters_ || (broken && matching > 1 && !cluster_->rules.charges_after_violation);
  return broken;
}

}  // namespace podium
