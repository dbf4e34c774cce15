#include "feasibility/budgets.h"

#include <algorithm>

#include "core/selector.h"

namespace podium {
namespace {

bool Protects(const Pdb& budget, const Pod& pod) {
  const std::vector<std::string>& disrupted = budget.disrupted_pods;
  return Matches(*budget.selector, *pod.labels) &&
         std::find(disrupted.begin(), disrupted.end(), pod.name) == disrupted.end();
}

}  // namespace

bool BudgetLedger::Charge(const Pod& pod) {
  if (cluster_->budgets.empty() || pod.labels->empty()) return false;
  const auto budgets = cluster_->budgets.find(*pod.namespace_name);
  if (budgets == cluster_->budgets.end()) return false;
  bool broken = false;
  std::size_t matching = 0;
  for (const Pdb* budget : budgets->second) {
    if (!Protects(*budget, pod)) continue;
    ++matching;
    if (broken && !cluster_->rules.charges_after_violation) continue;
    const auto left = left_.try_emplace(budget, budget->disruptions_allowed).first;
    broken = --left->second < 0 || broken;
  }
  order_matters_ = order_matters_ || (broken && matching > 1 && !cluster_->rules.charges_after_violation);
  return broken;
}

}  // namespace podium
