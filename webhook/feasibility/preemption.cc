#include "feasibility/preemption.h"

#include <algorithm>

#include "feasibility/budgets.h"

namespace podium {
namespace {

// Pods are sorted by importance, so those below a priority are the last ones.
std::uint32_t FirstBelow(const PreparedNode& node, std::int64_t priority) {
  const auto first = std::find_if(node.pods.rbegin(), node.pods.rend(),
                                  [&](const PreparedPod& pod) { return pod.priority >= priority; });
  return static_cast<std::uint32_t>(node.pods.rend() - first);
}

}  // namespace

// Puts the pods back one by one, as long as the incoming pod still fits; who has to stay away joins the victims.
void DryRunner::Reprieve(const std::vector<std::uint32_t>& pods) {
  for (const std::uint32_t position : pods) {
    const PreparedPod& pod = scratch_->node().pods[position];
    scratch_->Add(pod);
    if (PassesWithPods(*scratch_)) continue;
    scratch_->Remove(pod);
    run_.victims.push_back(position);
  }
}

void DryRunner::SplitByBudgets(std::uint32_t first) {
  const auto count = static_cast<std::uint32_t>(scratch_->node().pods.size());
  BudgetLedger ledger(*scratch_->cycle().cluster);
  for (std::uint32_t position = first; position < count; ++position)
    (ledger.Charge(scratch_->node().pods[position]) ? violating_ : others_).push_back(position);
  run_.budget_order_matters = ledger.order_matters();
}

const DryRun& DryRunner::Try(std::uint32_t node) {
  run_.victims.clear();
  violating_.clear();
  others_.clear();
  run_.violations = 0;
  run_.budget_order_matters = false;
  scratch_->Reset(node);
  const PreparedNode& prepared = scratch_->node();
  const std::uint32_t first = FirstBelow(prepared, scratch_->cycle().priority);
  run_.failed = {FilterCode::kUnresolvable, Plugin::kNone, Bit(Reason::kNoVictims)};
  if (first == prepared.pods.size()) return run_;
  for (std::uint32_t position = first; position < prepared.pods.size(); ++position)
    scratch_->Remove(prepared.pods[position]);
  run_.failed = RunFilters(*scratch_, Pass::kThoseThatSeePods);
  if (!run_.failed.passed()) return run_;

  SplitByBudgets(first);
  Reprieve(violating_);
  run_.violations = static_cast<std::int64_t>(run_.victims.size());
  Reprieve(others_);
  if (!violating_.empty() && !others_.empty())
    SortByImportance(run_.victims, prepared.pods, scratch_->cycle().cluster->rules);
  return run_;
}

// --- choosing the node ----------------------------------------------------------------------------------------------

Rank RankOf(const DryRun& run, const PreparedNode& node) {
  const std::int64_t top_priority = node.pods[run.victims.front()].priority;
  // Shifted so that a negative priority does not make more victims cheaper.
  std::int64_t priority_sum = 0;
  // Of the victims of highest priority; the latest one is best.
  std::int64_t earliest_start = kNotStarted;
  for (const std::uint32_t position : run.victims) {
    const PreparedPod& victim = node.pods[position];
    priority_sum += victim.priority + (std::int64_t{1} << 31);
    if (victim.priority == top_priority) earliest_start = std::min(earliest_start, victim.start);
  }
  return {run.violations, top_priority, priority_sum, static_cast<std::int64_t>(run.victims.size()), -earliest_start};
}

std::vector<std::uint32_t> BestOf(const std::vector<Rank>& ranks) {
  std::vector<std::uint32_t> best;
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    if (!best.empty() && ranks[best.front()] < ranks[i]) continue;
    if (!best.empty() && ranks[i] < ranks[best.front()]) best.clear();
    best.push_back(i);
  }
  return best;
}

bool HasEqualRival(const Candidate& candidate, const PreparedCluster& cluster) {
  const std::vector<PreparedPod>& pods = cluster.nodes[candidate.node].pods;
  const auto goes = [&](const PreparedPod& pod) {
    return std::find(candidate.victims.begin(), candidate.victims.end(), pod.pod) != candidate.victims.end();
  };
  const auto rivals = [&](const PreparedPod& a, const PreparedPod& b) {
    return a.priority == b.priority && a.start == b.start && goes(a) != goes(b);
  };
  return std::adjacent_find(pods.begin(), pods.end(), rivals) != pods.end();
}

bool IsAnyNodeBigEnough(const Cycle& cycle) {
  const std::vector<PreparedNode>& nodes = cycle.cluster->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const PreparedNode& node) {
    return node.pod_limit > 0 && std::all_of(cycle.demands.begin(), cycle.demands.end(), [&](const Demand& demand) {
             return demand.id < node.allocatable.size() && node.allocatable[demand.id] >= demand.amount;
           });
  });
}

}  // namespace podium
