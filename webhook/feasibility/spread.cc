#include "feasibility/spread.h"

#include <algorithm>

#include "core/selector.h"
#include "feasibility/node_match.h"
#include "feasibility/topology_counts.h"

namespace podium {
namespace {

SpreadRow RowOf(const SpreadConstraint& constraint, const Pod& incoming) {
  SpreadRow row;
  row.constraint = &constraint;
  row.selector = constraint.selector;
  if (!row.selector) return row;
  for (const std::string& key : constraint.match_label_keys) {
    const auto label = incoming.labels->find(key);
    if (label != incoming.labels->end())
      row.selector->match_expressions.push_back({key, SelectorOp::kIn, {label->second}});
  }
  row.self = Matches(*row.selector, *incoming.labels) ? 1 : 0;
  return row;
}

// Terminating pods are not counted here, and an empty selector counts none; what is taken away later does not ask.
std::int64_t CountOn(const SpreadState& state, const SpreadRow& row, const PreparedNode& node) {
  if (!row.selector || *row.selector == LabelSelector{}) return 0;
  return std::count_if(node.pods.begin(), node.pods.end(), [&](const PreparedPod& pod) {
    return !pod.pod->deleting && SpreadWeight(state, row, *pod.pod) == 1;
  });
}

void FindSmallest(SpreadRow& row) {
  for (const auto& [domain, count] : row.domains) {
    if (count < row.smallest) {
      row.next_smallest = row.smallest;
      row.smallest = count;
      row.smallest_domain = domain;
    } else {
      row.next_smallest = std::min(row.next_smallest, count);
    }
  }
}

std::int64_t SmallestWith(const SpreadRow& row, std::string_view domain, std::int64_t count) {
  if (row.domains.empty() || static_cast<std::int64_t>(row.domains.size()) < row.constraint->min_domains) return 0;
  if (!row.domains.contains(domain)) return row.smallest;
  return std::min(count, domain == row.smallest_domain ? row.next_smallest : row.smallest);
}

}  // namespace

bool CountsNode(const SpreadState& state, const SpreadRow& row, const Node& node) {
  for (const SpreadRow& other : state.rows)
    if (LabelOf(node, other.constraint->topology_key) == nullptr) return false;
  const SchedulingSpec& spec = *state.incoming->scheduling;
  if (row.constraint->affinity_policy == NodeInclusion::kHonor && !AcceptsLabelsOf(spec, node)) return false;
  return row.constraint->taints_policy == NodeInclusion::kIgnore || ToleratesTaintsOf(spec, node);
}

std::int64_t SpreadWeight(const SpreadState& state, const SpreadRow& row, const Pod& pod) {
  if (!row.selector || *pod.namespace_name != *state.incoming->namespace_name) return 0;
  return Matches(*row.selector, *pod.labels) ? 1 : 0;
}

SpreadState CountSpread(const PreparedCluster& cluster, const Pod& incoming) {
  SpreadState state{&incoming, {}};
  for (const SpreadConstraint& constraint : incoming.scheduling->spread)
    state.rows.push_back(RowOf(constraint, incoming));
  if (state.rows.empty()) return state;
  for (const PreparedNode& node : cluster.nodes)
    for (SpreadRow& row : state.rows)
      if (CountsNode(state, row, node.state->node))
        row.domains[*LabelOf(node.state->node, row.constraint->topology_key)] += CountOn(state, row, node);
  for (SpreadRow& row : state.rows) FindSmallest(row);
  return state;
}

SpreadVerdict CheckSpread(const SpreadState& state, const Node& node, const std::vector<std::int64_t>& deltas) {
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const SpreadRow& row = state.rows[i];
    const std::string* domain = LabelOf(node, row.constraint->topology_key);
    if (domain == nullptr) return SpreadVerdict::kNoLabel;
    const auto found = row.domains.find(*domain);
    const std::int64_t count = found == row.domains.end() ? 0 : found->second + deltas[i];
    if (count + row.self - SmallestWith(row, *domain, count) > row.constraint->max_skew)
      return SpreadVerdict::kTooSkewed;
  }
  return SpreadVerdict::kFits;
}

}  // namespace podium
