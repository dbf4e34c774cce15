// Topology spreading: how many matching pods each domain holds.
// Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, common.go).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "feasibility/prepared_cluster.h"

namespace podium {

struct SpreadRow {
  const SpreadConstraint* constraint = nullptr;
  std::optional<LabelSelector> selector;  // with matchLabelKeys
  std::int64_t self = 0;                  // 1: the incoming pod matches too
  std::unordered_map<std::string_view, std::int64_t> domains;
  // The two smallest counts, of different domains: what is smallest when one domain changes follows from them.
  std::string_view smallest_domain = {};
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t next_smallest = std::numeric_limits<std::int64_t>::max();
};

struct SpreadState {
  const Pod* incoming = nullptr;
  std::vector<SpreadRow> rows;  // one for each constraint; none: the plugin takes no part
};

SpreadState CountSpread(const PreparedCluster& cluster, const Pod& incoming);

// Does `node` count for this row? It must have the keys of all rows.
bool CountsNode(const SpreadState& state, const SpreadRow& row, const Node& node);

// 1 when `pod` counts in the row's domains.
std::int64_t SpreadWeight(const SpreadState& state, const SpreadRow& row, const Pod& pod);

enum class SpreadVerdict { kFits, kNoLabel, kTooSkewed };

// `deltas[i]`: what pods that were taken from or put on `node` change for row i.
SpreadVerdict CheckSpread(const SpreadState& state, const Node& node, const std::vector<std::int64_t>& deltas);

}  // namespace podium
