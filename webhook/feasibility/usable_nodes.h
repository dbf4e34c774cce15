// Nodes that evictions could open for a pod, told from its report.
#pragma once

#include <vector>

#include "podium/feasibility.h"

namespace podium {

// By node: 0 when it was refused for a reason that evictions do not change (taint, label, cordon). A node that is too
// small counts as usable: its arithmetic says why it does not help. Filters end at the first refusal, so a node without
// enough resources may hide a further reason behind them.
std::vector<char> UsableNodes(const FeasibilityReport& report);

}  // namespace podium
