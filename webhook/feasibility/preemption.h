// What evictions could do on one node, and which node the scheduler takes.
// Source: kubernetes pkg/scheduler/framework/plugins/defaultpreemption, framework/preemption.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "feasibility/cycle.h"
#include "feasibility/filters.h"

namespace podium {

struct DryRun {
  FilterResult failed;                 // code kPass: there are victims
  std::vector<std::uint32_t> victims;  // positions in PreparedNode::pods, most important first
  std::int64_t violations = 0;         // victims that break a disruption budget
  bool budget_order_matters = false;
};

// Tries one node after the other, and keeps its memory for the next.
class DryRunner {
 public:
  // `scratch` is reset to each node that is tried, and must outlive this.
  explicit DryRunner(Overlay& scratch) : scratch_(&scratch) {}

  // Valid until the next call.
  const DryRun& Try(std::uint32_t node);

 private:
  void SplitByBudgets(std::uint32_t first);
  void Reprieve(const std::vector<std::uint32_t>& pods);

  Overlay* scratch_;
  DryRun run_;
  std::vector<std::uint32_t> violating_;  // possible victims, most important first
  std::vector<std::uint32_t> others_;
};

// What the scheduler compares candidates by, one criterion after the other; smallest is best.
using Rank = std::array<std::int64_t, 5>;

// Requires: `run` has victims, all of them on `node`.
Rank RankOf(const DryRun& run, const PreparedNode& node);

// Positions of the best: equal in all criteria. Empty for none.
std::vector<std::uint32_t> BestOf(const std::vector<Rank>& ranks);

// Whether a pod that stays on the candidate's node is as important as a victim of it. Which of them goes follows from
// the order in which the scheduler got to know them, which nobody else can see (internal/cache: a changed pod moves to
// the end of its node's list). Pods of one rollout often start in one second.
bool HasEqualRival(const Candidate& candidate, const PreparedCluster& cluster);

// Whether any node could hold the pod if nothing else ran there; labels and taints apart.
bool IsAnyNodeBigEnough(const Cycle& cycle);

}  // namespace podium
