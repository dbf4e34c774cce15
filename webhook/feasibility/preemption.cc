#include "feasibility/preemption.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "feasibility/budgets.h"

namespace podium {
namespace {

// Pods are sorted by importance, so those below a priority are the last ones.
std::uint32_t FirstBelow(const PreparedNode& node, std::int64_t priority) {
  const auto first = std::find_if(node.pods.rbegin(), node.pods.rend(),
                                  [&](const PreparedPod& pod) { return pod.priority >= priority; });
  return static_cast<std::uint32_t>(node.pods.rend() - first);
}

// Puts the pods back one by one, as long as the incoming pod still fits; who has to stay away joins the victims.
std::vector<std::uint32_t> Reprieve(const std::vector<std::uint32_t>& pods, Overlay& node,
                                    std::vector<std::uint32_t> victims) {
  for (const std::uint32_t position : pods) {
    const PreparedPod& pod = node.node().pods[position];
    node.Add(pod);
    if (RunFilters(node, Pass::kThoseThatSeePods).passed()) continue;
    node.Remove(pod);
    victims.push_back(position);
  }
  return victims;
}

struct Split {
  std::vector<std::uint32_t> violating;
  std::vector<std::uint32_t> others;
  bool order_matters = false;
};

Split SplitByBudgets(const Overlay& node, std::uint32_t first) {
  Split split;
  BudgetLedger ledger(*node.cycle().cluster);
  const auto count = static_cast<std::uint32_t>(node.node().pods.size());
  split.others.reserve(count - first);
  for (std::uint32_t position = first; position < count; ++position)
    (ledger.Charge(node.node().pods[position]) ? split.violating : split.others).push_back(position);
  split.order_matters = ledger.order_matters();
  return split;
}

// --- choosing the node ----------------------------------------------------------------------------------------------

const PreparedPod& VictimOf(const RankedCandidate& candidate, std::size_t i, const PreparedCluster& cluster) {
  return cluster.nodes[candidate.node].pods[candidate.run.victims[i]];
}

std::int64_t Violations(const RankedCandidate& candidate, const PreparedCluster&) { return candidate.run.violations; }

std::int64_t TopPriority(const RankedCandidate& candidate, const PreparedCluster& cluster) {
  return VictimOf(candidate, 0, cluster).priority;
}

// Shifted so that a negative priority does not make more victims cheaper.
std::int64_t PrioritySum(const RankedCandidate& candidate, const PreparedCluster& cluster) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < candidate.run.victims.size(); ++i)
    sum += VictimOf(candidate, i, cluster).priority + (std::int64_t{1} << 31);
  return sum;
}

std::int64_t VictimCount(const RankedCandidate& candidate, const PreparedCluster&) {
  return static_cast<std::int64_t>(candidate.run.victims.size());
}

// Smallest is best: the latest of the earliest starts among the victims of highest priority.
std::int64_t LatestStart(const RankedCandidate& candidate, const PreparedCluster& cluster) {
  const std::int64_t top = TopPriority(candidate, cluster);
  std::int64_t earliest = kNotStarted;
  for (std::size_t i = 0; i < candidate.run.victims.size(); ++i) {
    const PreparedPod& victim = VictimOf(candidate, i, cluster);
    if (victim.priority == top) earliest = std::min(earliest, victim.start);
  }
  return -earliest;
}

using Criterion = std::int64_t (*)(const RankedCandidate&, const PreparedCluster&);
constexpr Criterion kNodeChoice[] = {Violations, TopPriority, PrioritySum, VictimCount, LatestStart};

}  // namespace

DryRun TryEvictions(std::uint32_t node, Overlay& scratch) {
  DryRun run;
  scratch.Reset(node);
  const PreparedNode& prepared = scratch.node();
  const std::uint32_t first = FirstBelow(prepared, scratch.cycle().priority);
  if (first == prepared.pods.size()) {
    run.failed = {FilterCode::kUnresolvable, Plugin::kNone, Bit(Reason::kNoVictims)};
    return run;
  }
  for (std::uint32_t position = first; position < prepared.pods.size(); ++position)
    scratch.Remove(prepared.pods[position]);
  run.failed = RunFilters(scratch, Pass::kThoseThatSeePods);
  if (!run.failed.passed()) return run;

  const Split split = SplitByBudgets(scratch, first);
  run.budget_order_matters = split.order_matters;
  run.victims.reserve(prepared.pods.size() - first);
  run.victims = Reprieve(split.violating, scratch, std::move(run.victims));
  run.violations = static_cast<std::int64_t>(run.victims.size());
  run.victims = Reprieve(split.others, scratch, std::move(run.victims));
  if (!split.violating.empty() && !split.others.empty())
    SortByImportance(run.victims, prepared.pods, scratch.cycle().cluster->rules);
  return run;
}

std::vector<std::uint32_t> BestCandidates(const std::vector<RankedCandidate>& candidates,
                                          const PreparedCluster& cluster) {
  std::vector<std::uint32_t> best(candidates.size());
  for (std::uint32_t i = 0; i < best.size(); ++i) best[i] = i;
  for (const Criterion criterion : kNodeChoice) {
    if (best.size() < 2) break;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    std::vector<std::uint32_t> equal;
    for (const std::uint32_t i : best) {
      const std::int64_t value = criterion(candidates[i], cluster);
      if (value < smallest) equal.clear();
      if (value <= smallest) equal.push_back(i);
      smallest = std::min(smallest, value);
    }
    best = std::move(equal);
  }
  return best;
}

}  // namespace podium
