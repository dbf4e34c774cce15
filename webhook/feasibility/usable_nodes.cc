#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

bool IsHopeless(const NodeStatus& status) {
  return status.code == StatusCode::kUnresolvable && status.plugin != "NodeResourcesFit";
}

}  // namespace

std::vector<char> UsableNodes(const FeasibilityReport& report) {
  std::vector<char> usable(report.nodes.size(), 1);
  for (const NodeOutcome& outcome : report.refused)
    if (IsHopeless(report.statuses[outcome.status])) usable[outcome.node] = 0;
  for (const NodeOutcome& outcome : report.dry_run) {
    const NodeStatus& status = report.statuses[outcome.status];
    if (IsHopeless(status) && !status.plugin.empty()) usable[outcome.node] = 0;  // no plugin: it has no victims
  }
  return usable;
}

}  // namespace podium
