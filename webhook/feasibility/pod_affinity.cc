#include "feasibility/pod_affinity.h"

#include <algorithm>
#include <numeric>

#include "core/selector.h"

namespace podium {
namespace {

ResolvedTerm Resolve(const PodAffinityTerm& term, const Pod& owner, const PreparedCluster& cluster) {
  ResolvedTerm resolved;
  resolved.term = &term;
  resolved.namespaces.insert(term.namespaces.begin(), term.namespaces.end());
  if (!term.namespace_selector) {
    if (term.namespaces.empty()) resolved.namespaces.insert(*owner.namespace_name);
    return resolved;
  }
  for (const auto& [name, labels] : cluster.namespaces)
    if (Matches(*term.namespace_selector, *labels)) resolved.namespaces.insert(name);
  // Until 1.36 the selector stays in force and is asked about the empty label set, whatever the namespace.
  resolved.every_namespace = *term.namespace_selector == LabelSelector{} ||
                             (cluster.rules.selects_unlabelled && Matches(*term.namespace_selector, Labels{}));
  return resolved;
}

bool MatchesAll(const std::vector<ResolvedTerm>& terms, const Pod& pod) {
  return std::all_of(terms.begin(), terms.end(), [&](const ResolvedTerm& term) { return MatchesTerm(term, pod); });
}

bool InScope(const PodAffinityTerm& term, const Pod& owner, const PodAffinityState& state) {
  const std::string& name = *state.incoming->namespace_name;
  if (std::find(term.namespaces.begin(), term.namespaces.end(), name) != term.namespaces.end()) return true;
  if (!term.namespace_selector) return term.namespaces.empty() && name == *owner.namespace_name;
  return Matches(*term.namespace_selector, state.own_namespace == nullptr ? Labels{} : *state.own_namespace);
}

// A term of another pod against the incoming one.
bool Refuses(const PodAffinityTerm& term, const Pod& owner, const PodAffinityState& state) {
  return term.selector && Matches(*term.selector, *state.incoming->labels) && InScope(term, owner, state);
}

GroupAffinity AffinityOf(PodAffinityState& state, const Pod& pod) {
  GroupAffinity group;
  for (const PodAffinityTerm& term : pod.scheduling->pod_anti_affinity)
    if (Refuses(term, pod, state)) group.refusing.push_back(state.refusing.Position(term.topology_key));
  group.drawing = !state.affinity.empty() && MatchesAll(state.affinity, pod);
  for (const ResolvedTerm& term : state.anti_affinity)
    if (MatchesTerm(term, pod)) group.repelling.push_back(term.key);
  return group;
}

void CountPod(PodAffinityState& state, std::uint32_t node, std::uint32_t group, std::int64_t times) {
  const GroupAffinity& affinity = state.groups[group];
  for (const std::size_t key : affinity.refusing) state.refusing.Add(key, node, times);
  if (affinity.drawing)
    for (const ResolvedTerm& term : state.affinity) state.drawing.Add(term.key, node, times);
  for (const std::size_t key : affinity.repelling) state.repelling.Add(key, node, times);
}

bool TakesPart(const PodAffinityState& state) {
  return !state.affinity.empty() || !state.anti_affinity.empty() || state.refusing.total() > 0;
}

bool CountsForAnything(const PodAffinityState& state) {
  return std::any_of(state.groups.begin(), state.groups.end(), [](const GroupAffinity& group) {
    return group.drawing || !group.refusing.empty() || !group.repelling.empty();
  });
}

bool IsDrawn(const PodAffinityState& state, std::uint32_t node, const AffinityDelta& delta) {
  bool all_counted = true;
  for (const ResolvedTerm& term : state.affinity) {
    if (!state.drawing.HasDomain(term.key, node)) return false;
    all_counted = all_counted && state.drawing.Count(term.key, node) + delta.drawing[term.key] > 0;
  }
  if (all_counted) return true;
  // The first of a group: nobody it could join is anywhere.
  const std::int64_t all = std::accumulate(delta.drawing.begin(), delta.drawing.end(), state.drawing.total());
  return all == 0 && state.starts_group;
}

bool IsAnyCounted(const TopologyCounts& counts, std::uint32_t node, const std::vector<std::int64_t>& delta) {
  for (std::size_t key = 0; key < counts.key_count(); ++key)
    if (counts.HasDomain(key, node) && counts.Count(key, node) + delta[key] > 0) return true;
  return false;
}

}  // namespace

bool MatchesTerm(const ResolvedTerm& term, const Pod& pod) {
  return term.term->selector && (term.every_namespace || term.namespaces.contains(*pod.namespace_name)) &&
         Matches(*term.term->selector, *pod.labels);
}

PodAffinityState CountPodAffinity(const PreparedCluster& cluster, const Pod& incoming) {
  PodAffinityState state(cluster.nodes);
  state.incoming = &incoming;
  const auto own = cluster.namespaces.find(*incoming.namespace_name);
  if (own != cluster.namespaces.end()) state.own_namespace = own->second;
  for (const PodAffinityTerm& term : incoming.scheduling->pod_affinity) {
    state.affinity.push_back(Resolve(term, incoming, cluster));
    state.affinity.back().key = state.drawing.Position(term.topology_key);
  }
  for (const PodAffinityTerm& term : incoming.scheduling->pod_anti_affinity) {
    state.anti_affinity.push_back(Resolve(term, incoming, cluster));
    state.anti_affinity.back().key = state.repelling.Position(term.topology_key);
  }
  for (const Pod* pod : cluster.groups) state.groups.push_back(AffinityOf(state, *pod));
  if (CountsForAnything(state))
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node)
      for (const PreparedPod& pod : cluster.nodes[node].pods) CountPod(state, node, pod.group, 1);
  state.starts_group = MatchesAll(state.affinity, incoming);
  state.takes_part = TakesPart(state);
  return state;
}

void CountChange(PodAffinityState& state, std::uint32_t node, std::uint32_t group, std::int64_t times) {
  CountPod(state, node, group, times);
  state.takes_part = TakesPart(state);
}

AffinityDelta NoDelta(const PodAffinityState& state) {
  return {std::vector<std::int64_t>(state.refusing.key_count()), std::vector<std::int64_t>(state.drawing.key_count()),
          std::vector<std::int64_t>(state.repelling.key_count())};
}

void AddTo(AffinityDelta& delta, const PodAffinityState& state, std::uint32_t node, std::uint32_t group,
           std::int64_t times) {
  const GroupAffinity& affinity = state.groups[group];
  for (const std::size_t key : affinity.refusing)
    if (state.refusing.HasDomain(key, node)) delta.refusing[key] += times;
  if (affinity.drawing)
    for (const ResolvedTerm& term : state.affinity)
      if (state.drawing.HasDomain(term.key, node)) delta.drawing[term.key] += times;
  for (const std::size_t key : affinity.repelling)
    if (state.repelling.HasDomain(key, node)) delta.repelling[key] += times;
}

AffinityVerdict CheckPodAffinity(const PodAffinityState& state, std::uint32_t node, const AffinityDelta& delta) {
  if (!state.affinity.empty() && !IsDrawn(state, node, delta)) return AffinityVerdict::kNotDrawn;
  if (IsAnyCounted(state.repelling, node, delta.repelling)) return AffinityVerdict::kRepelled;
  return IsAnyCounted(state.refusing, node, delta.refusing) ? AffinityVerdict::kRefused : AffinityVerdict::kFits;
}

}  // namespace podium
