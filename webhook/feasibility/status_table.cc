#include "feasibility/status_table.h"

#include <algorithm>
#include <map>

namespace podium {

std::uint32_t StatusTable::Position(const FilterResult& failed) {
  const auto found = std::find(results_.begin(), results_.end(), failed);
  if (found != results_.end()) return static_cast<std::uint32_t>(found - results_.begin());
  results_.push_back(failed);
  statuses_.push_back(Render(failed));
  return static_cast<std::uint32_t>(results_.size() - 1);
}

NodeStatus StatusTable::Render(const FilterResult& failed) const {
  NodeStatus status;
  status.code = failed.code == FilterCode::kUnschedulable ? StatusCode::kUnschedulable : StatusCode::kUnresolvable;
  status.plugin = ToString(failed.plugin);
  for (std::size_t reason = 0; reason < static_cast<std::size_t>(Reason::kInsufficient); ++reason) {
    if ((failed.reasons & Bit(Reason{}, reason)) == 0) continue;
    const bool outside = reason == static_cast<std::size_t>(Reason::kOutsideNodeSet);
    status.reasons.emplace_back(outside ? outside_node_set_ : TextOf(static_cast<Reason>(reason)));
  }
  for (std::size_t demand = 0; demand < cycle_->demands.size(); ++demand)
    if ((failed.reasons & Bit(Reason::kInsufficient, demand)) != 0)
      status.reasons.push_back("Insufficient " + cycle_->demands[demand].resource);
  std::sort(status.reasons.begin(), status.reasons.end());
  return status;
}

std::string FitMessage(std::size_t nodes, const std::vector<NodeOutcome>& outcomes,
                       const std::vector<NodeStatus>& statuses, const FurtherNodes& further) {
  std::vector<std::size_t> by_status(statuses.size());
  for (const NodeOutcome& outcome : outcomes) ++by_status[outcome.status];
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < statuses.size(); ++i)
    for (const std::string& reason : statuses[i].reasons)
      if (by_status[i] > 0) counts[reason] += by_status[i];
  if (further.count > 0) counts[further.reason] += further.count;
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(std::to_string(count) + ' ' + reason);
  std::sort(parts.begin(), parts.end());  // as texts: "10 ..." comes before "2 ..."
  std::string message = "0/" + std::to_string(nodes) + " nodes are available";
  std::string separator = ": ";
  for (const std::string& part : parts) {
    message.append(separator).append(part);
    separator = ", ";
  }
  return message + '.';
}

}  // namespace podium
