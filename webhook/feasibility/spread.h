// Topology spreading: how many matching pods each domain holds.
// Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, common.go).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "feasibility/topology_counts.h"

namespace podium {

struct SpreadRow {
  const SpreadConstraint* constraint = nullptr;
  std::int64_t self = 0;      // 1: the incoming pod matches too
  bool counts_pods = false;   // an empty selector counts none, and so does a missing one
  std::vector<char> matches;  // by group of pods
  Domains domains;
  std::vector<char> counts_node;   // by node: it has the keys of all rows, and the policies accept it
  std::vector<std::int64_t> pods;  // by domain; kNotCounted: none of its nodes counts
  std::int64_t counted_domains = 0;
  // The two smallest counts, of different domains: what is smallest when one domain changes follows from them.
  std::uint32_t smallest_domain = kNoDomain;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t next_smallest = std::numeric_limits<std::int64_t>::max();
};

struct SpreadState {
  std::vector<SpreadRow> rows;  // one for each constraint; none: the plugin takes no part
};

SpreadState CountSpread(const PreparedCluster& cluster, const Pod& incoming);

// A pod came to `node` (`times` 1) or left it (-1) since CountSpread, which would now count it so.
void CountChange(SpreadState& state, std::uint32_t node, const PreparedPod& pod, std::int64_t times);

enum class SpreadVerdict { kFits, kNoLabel, kTooSkewed };

// `deltas[i]`: what pods that were taken from or put on `node` change for row i.
SpreadVerdict CheckSpread(const SpreadState& state, std::uint32_t node, const std::vector<std::int64_t>& deltas);

}  // namespace podium
