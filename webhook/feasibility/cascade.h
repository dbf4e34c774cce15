// What becomes of pods that were evicted: their controllers make them anew, and they look for a place in what is left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feasibility/prospect.h"
#include "podium/outlook.h"

namespace podium {

struct Cascade {
  std::vector<Displaced> displaced;  // those asked about, then whom their replacements evict, in order of eviction
  std::int64_t homeless = 0;
  std::int64_t not_looked_at = 0;  // the budget was spent before
};

// Replacements have the spec of their victim, unbound and new; the scheduler takes those of higher priority first, then
// those that were evicted earlier. Not made anew: pods without a controller, pods of a DaemonSet and static pods (both
// belong to their node).
Cascade FollowCascade(ChangedCluster cluster, const std::vector<const Pod*>& victims, const EvaluateOptions& options,
                      SearchBudget& budget);

}  // namespace podium
