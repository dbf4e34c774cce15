// Inter-pod affinity: which pods draw the incoming pod to a place, and which keep it away.
// Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "feasibility/prepared_cluster.h"
#include "feasibility/topology_counts.h"

namespace podium {

// A term of the incoming pod; namespaces resolved once.
struct ResolvedTerm {
  const PodAffinityTerm* term = nullptr;
  std::set<std::string_view> namespaces;
  bool every_namespace = false;
  std::size_t key = 0;  // position in the counts
};

bool MatchesTerm(const ResolvedTerm& term, const Pod& pod);

// What one pod adds to the counts of its own node, by position of the key.
struct AffinityDelta {
  std::vector<std::int64_t> refusing;
  std::vector<std::int64_t> drawing;
  std::vector<std::int64_t> repelling;
};

// What a group of pods counts for: positions of keys, one entry for each term.
struct GroupAffinity {
  std::vector<std::size_t> refusing;
  bool drawing = false;
  std::vector<std::size_t> repelling;
};

struct PodAffinityState {
  explicit PodAffinityState(const std::vector<PreparedNode>& nodes)
      : refusing(nodes), drawing(nodes), repelling(nodes) {}

  const Pod* incoming = nullptr;
  const Labels* own_namespace = nullptr;  // labels of the incoming pod's Namespace; null: none
  std::vector<ResolvedTerm> affinity;
  std::vector<ResolvedTerm> anti_affinity;
  std::vector<GroupAffinity> groups;
  TopologyCounts refusing;    // bound pods whose anti-affinity refuses the incoming pod
  TopologyCounts drawing;     // pods that match all affinity terms
  TopologyCounts repelling;   // pods that match an anti-affinity term
  bool starts_group = false;  // the incoming pod matches all its own affinity terms
  bool takes_part = false;
};

PodAffinityState CountPodAffinity(const PreparedCluster& cluster, const Pod& incoming);

// A pod of `group` came to `node` (`times` 1) or left it (-1) since CountPodAffinity, which would now count it so.
void CountChange(PodAffinityState& state, std::uint32_t node, std::uint32_t group, std::int64_t times);

// All zero, of the right sizes.
AffinityDelta NoDelta(const PodAffinityState& state);

// Adds what a pod of `group` on `node` counts for, `times` times.
void AddTo(AffinityDelta& delta, const PodAffinityState& state, std::uint32_t node, std::uint32_t group,
           std::int64_t times);

enum class AffinityVerdict { kFits, kNotDrawn, kRepelled, kRefused };

AffinityVerdict CheckPodAffinity(const PodAffinityState& state, std::uint32_t node, const AffinityDelta& delta);

}  // namespace podium
