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

bool MatchesTerm(const ResolvedTerm& term, const Pod& pod) {
  return term.term->selector && (term.every_namespace || term.namespaces.contains(*pod.namespace_name)) &&
         Matches(*term.term->selector, *pod.labels);
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

void CountRefusing(PodAffinityState& state, const PreparedNode& node) {
  for (const std::uint32_t position : node.refusing) {
    const Pod& pod = *node.pods[position].pod;
    for (const PodAffinityTerm& term : pod.scheduling->pod_anti_affinity) {
      const std::string* value = LabelOf(node.state->node, term.topology_key);
      if (value != nullptr && Refuses(term, pod, state))
        state.refusing.Add(state.refusing.Position(term.topology_key), *value);
    }
  }
}

void CountOne(TopologyCounts& counts, const ResolvedTerm& term, const Node& node) {
  if (const std::string* value = LabelOf(node, term.term->topology_key)) counts.Add(term.key, *value);
}

void CountMatching(PodAffinityState& state, const PreparedNode& node) {
  for (const PreparedPod& pod : node.pods) {
    if (!state.affinity.empty() && MatchesAll(state.affinity, *pod.pod))
      for (const ResolvedTerm& term : state.affinity) CountOne(state.drawing, term, node.state->node);
    for (const ResolvedTerm& term : state.anti_affinity)
      if (MatchesTerm(term, *pod.pod)) CountOne(state.repelling, term, node.state->node);
  }
}

// Keys that only promised pods bring.
void AddKeysOfPromised(PodAffinityState& state, const PreparedCluster& cluster) {
  for (const auto& [node, pods] : cluster.promised)
    for (const PreparedPod& pod : pods)
      for (const PodAffinityTerm& term : pod.pod->scheduling->pod_anti_affinity)
        state.refusing.Position(term.topology_key);
}

bool IsDrawn(const PodAffinityState& state, const Node& node, const AffinityDelta& delta) {
  bool all_counted = true;
  for (const ResolvedTerm& term : state.affinity) {
    const std::string* value = LabelOf(node, term.term->topology_key);
    if (value == nullptr) return false;
    all_counted = all_counted && state.drawing.Count(term.key, *value) + delta.drawing[term.key] > 0;
  }
  if (all_counted) return true;
  // The first of a group: nobody it could join is anywhere.
  const std::int64_t all = std::accumulate(delta.drawing.begin(), delta.drawing.end(), state.drawing.total());
  return all == 0 && state.starts_group;
}

bool IsRepelled(const PodAffinityState& state, const Node& node, const AffinityDelta& delta) {
  return std::any_of(state.anti_affinity.begin(), state.anti_affinity.end(), [&](const ResolvedTerm& term) {
    const std::string* value = LabelOf(node, term.term->topology_key);
    return value != nullptr && state.repelling.Count(term.key, *value) + delta.repelling[term.key] > 0;
  });
}

bool IsRefused(const PodAffinityState& state, const Node& node, const AffinityDelta& delta) {
  for (std::size_t key = 0; key < state.refusing.keys().size(); ++key) {
    const std::string* value = LabelOf(node, *state.refusing.keys()[key]);
    if (value != nullptr && state.refusing.Count(key, *value) + delta.refusing[key] > 0) return true;
  }
  return false;
}

}  // namespace

PodAffinityState CountPodAffinity(const PreparedCluster& cluster, const Pod& incoming) {
  PodAffinityState state;
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
  const bool has_terms = !state.affinity.empty() || !state.anti_affinity.empty();
  for (const PreparedNode& node : cluster.nodes) {
    CountRefusing(state, node);
    if (has_terms) CountMatching(state, node);
  }
  state.starts_group = MatchesAll(state.affinity, incoming);
  state.takes_part = has_terms || state.refusing.total() > 0;
  if (state.takes_part) AddKeysOfPromised(state, cluster);
  return state;
}

AffinityDelta NoDelta(const PodAffinityState& state) {
  return {std::vector<std::int64_t>(state.refusing.keys().size()),
          std::vector<std::int64_t>(state.drawing.keys().size()),
          std::vector<std::int64_t>(state.repelling.keys().size())};
}

void AddTo(AffinityDelta& delta, const PodAffinityState& state, const Node& node, const Pod& pod, std::int64_t times) {
  const auto has_label = [&](const std::string& key) { return LabelOf(node, key) != nullptr; };
  for (const PodAffinityTerm& term : pod.scheduling->pod_anti_affinity) {
    const std::size_t key = state.refusing.Find(term.topology_key);
    if (key < delta.refusing.size() && has_label(term.topology_key) && Refuses(term, pod, state))
      delta.refusing[key] += times;
  }
  if (!state.affinity.empty() && MatchesAll(state.affinity, pod))
    for (const ResolvedTerm& term : state.affinity)
      if (has_label(term.term->topology_key)) delta.drawing[term.key] += times;
  for (const ResolvedTerm& term : state.anti_affinity)
    if (has_label(term.term->topology_key) && MatchesTerm(term, pod)) delta.repelling[term.key] += times;
}

AffinityVerdict CheckPodAffinity(const PodAffinityState& state, const Node& node, const AffinityDelta& delta) {
  if (!state.affinity.empty() && !IsDrawn(state, node, delta)) return AffinityVerdict::kNotDrawn;
  if (IsRepelled(state, node, delta)) return AffinityVerdict::kRepelled;
  return IsRefused(state, node, delta) ? AffinityVerdict::kRefused : AffinityVerdict::kFits;
}

}  // namespace podium
