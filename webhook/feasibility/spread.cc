#include "feasibility/spread.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/selector.h"
#include "feasibility/node_match.h"

namespace podium {
namespace {

constexpr std::int64_t kNotCounted = -1;

std::optional<LabelSelector> SelectorOf(const SpreadConstraint& constraint, const Pod& incoming) {
  std::optional<LabelSelector> selector = constraint.selector;
  if (!selector) return selector;
  for (const std::string& key : constraint.match_label_keys) {
    const auto label = incoming.labels->find(key);
    if (label != incoming.labels->end()) selector->match_expressions.push_back({key, SelectorOp::kIn, {label->second}});
  }
  return selector;
}

bool AcceptsNode(const SpreadConstraint& constraint, const SchedulingSpec& spec, const Node& node) {
  for (const SpreadConstraint& each : spec.spread)
    if (LabelOf(node, each.topology_key) == nullptr) return false;
  if (constraint.affinity_policy == NodeInclusion::kHonor && !AcceptsLabelsOf(spec, node)) return false;
  return constraint.taints_policy == NodeInclusion::kIgnore || ToleratesTaintsOf(spec, node);
}

// Terminating pods are not counted here; what a dry run takes away does not ask.
bool IsCounted(const SpreadRow& row, const PreparedPod& pod) {
  return row.counts_pods && row.matches[pod.group] != 0 && !pod.pod->deleting;
}

std::int64_t CountOn(const SpreadRow& row, const PreparedNode& node) {
  return std::count_if(node.pods.begin(), node.pods.end(), [&](const PreparedPod& pod) { return IsCounted(row, pod); });
}

void FindSmallest(SpreadRow& row) {
  row.counted_domains = 0;
  row.smallest_domain = kNoDomain;
  row.smallest = row.next_smallest = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t domain = 0; domain < row.pods.size(); ++domain) {
    const std::int64_t count = row.pods[domain];
    if (count == kNotCounted) continue;
    ++row.counted_domains;
    row.next_smallest = std::min(row.next_smallest, std::max(count, row.smallest));
    if (count < row.smallest) row.smallest_domain = domain;
    row.smallest = std::min(row.smallest, count);
  }
}

SpreadRow RowOf(const SpreadConstraint& constraint, const PreparedCluster& cluster, const Pod& incoming) {
  SpreadRow row;
  row.constraint = &constraint;
  const std::optional<LabelSelector> selector = SelectorOf(constraint, incoming);
  row.self = selector && Matches(*selector, *incoming.labels) ? 1 : 0;
  for (const Pod* pod : cluster.groups)
    row.matches.push_back(
        selector && *pod->namespace_name == *incoming.namespace_name && Matches(*selector, *pod->labels) ? 1 : 0);
  row.domains = DomainsOf(cluster.nodes, constraint.topology_key);
  row.pods.assign(row.domains.count, kNotCounted);
  row.counts_pods = selector && *selector != LabelSelector{};
  for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
    row.counts_node.push_back(AcceptsNode(constraint, *incoming.scheduling, cluster.nodes[node].state->node) ? 1 : 0);
    if (row.counts_node.back() == 0) continue;
    std::int64_t& pods = row.pods[row.domains.of_node[node]];
    pods = std::max<std::int64_t>(pods, 0) + CountOn(row, cluster.nodes[node]);
  }
  FindSmallest(row);
  return row;
}

// `pods`: what the domain holds now; it may be below zero.
std::int64_t SmallestWith(const SpreadRow& row, std::uint32_t domain, std::int64_t pods) {
  if (row.counted_domains < row.constraint->min_domains || row.counted_domains == 0) return 0;
  if (row.pods[domain] == kNotCounted) return row.smallest;
  return std::min(pods, domain == row.smallest_domain ? row.next_smallest : row.smallest);
}

}  // namespace

SpreadState CountSpread(const PreparedCluster& cluster, const Pod& incoming) {
  SpreadState state;
  for (const SpreadConstraint& constraint : incoming.scheduling->spread)
    state.rows.push_back(RowOf(constraint, cluster, incoming));
  return state;
}

void CountChange(SpreadState& state, std::uint32_t node, const PreparedPod& pod, std::int64_t times) {
  for (SpreadRow& row : state.rows) {
    if (row.counts_node[node] == 0 || !IsCounted(row, pod)) continue;
    row.pods[row.domains.of_node[node]] += times;
    FindSmallest(row);
  }
}

SpreadVerdict CheckSpread(const SpreadState& state, std::uint32_t node, const std::vector<std::int64_t>& deltas) {
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const SpreadRow& row = state.rows[i];
    const std::uint32_t domain = row.domains.of_node[node];
    if (domain == kNoDomain) return SpreadVerdict::kNoLabel;
    const std::int64_t pods = row.pods[domain] == kNotCounted ? 0 : row.pods[domain] + deltas[i];
    if (pods + row.self - SmallestWith(row, domain, pods) > row.constraint->max_skew) return SpreadVerdict::kTooSkewed;
  }
  return SpreadVerdict::kFits;
}

}  // namespace podium
