// What evictions could do on one node, and which node the scheduler takes.
// Source: kubernetes pkg/scheduler/framework/plugins/defaultpreemption, framework/preemption.
#pragma once

#include <optional>
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

// `scratch` is reset to `node`.
DryRun TryEvictions(std::uint32_t node, Overlay& scratch);

struct RankedCandidate {
  std::uint32_t node = 0;
  DryRun run;
};

// Positions of the best candidates: equal in all criteria. Empty for none.
std::vector<std::uint32_t> BestCandidates(const std::vector<RankedCandidate>& candidates,
                                          const PreparedCluster& cluster);

}  // namespace podium
