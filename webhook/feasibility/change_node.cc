// What keeps a pod from one node whatever runs there: taints, and labels that it wants.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "feasibility/change_search.h"
#include "feasibility/changed_pod.h"
#include "feasibility/node_match.h"
#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

// Taints of nodes that are not well or about to go: tolerating them makes no room that lasts.
constexpr std::array<std::string_view, 6> kSickOrLeaving = {
    "node.kubernetes.io/",       "node.cloudprovider.kubernetes.io/",    "karpenter.sh/disrupted",
    "karpenter.sh/unregistered", "DeletionCandidateOfClusterAutoscaler", "ToBeDeletedByClusterAutoscaler"};

bool IsSickOrLeaving(const Taint& taint) {
  return std::any_of(kSickOrLeaving.begin(), kSickOrLeaving.end(),
                     [&](std::string_view prefix) { return taint.key.starts_with(prefix); });
}

bool Repels(const Taint& taint) { return taint.effect == "NoSchedule" || taint.effect == "NoExecute"; }

std::string TaintText(const Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : '=' + taint.value) + ':' + taint.effect;
}

// What has to change before the pod may stand on a node.
struct Opening {
  std::vector<std::string> dropped_selectors;  // keys
  bool drops_affinity = false;
  std::vector<Taint> tolerated;
  bool hopeless = false;  // cordoned, sick or leaving

  [[nodiscard]] std::size_t drops() const { return dropped_selectors.size() + (drops_affinity ? 1 : 0); }
};

Opening OpeningOf(const SchedulingSpec& spec, const Node& node) {
  Opening opening;
  static const Taint cordon = {"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  opening.hopeless = node.unschedulable && !Tolerates(spec.tolerations, cordon);
  for (const Taint& taint : node.taints) {
    if (!Repels(taint) || Tolerates(spec.tolerations, taint)) continue;
    opening.hopeless = opening.hopeless || IsSickOrLeaving(taint);
    opening.tolerated.push_back(taint);
  }
  for (const auto& [key, value] : spec.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) opening.dropped_selectors.push_back(key);
  }
  opening.drops_affinity = spec.node_affinity && !AcceptsLabelsOf({.node_affinity = spec.node_affinity}, node);
  return opening;
}

std::string TextOf(const Opening& opening, const SchedulingSpec& spec) {
  std::vector<std::string> parts;
  for (const std::string& key : opening.dropped_selectors)
    parts.push_back("drop the node selector " + key + '=' + spec.node_selector.at(key));
  if (opening.drops_affinity) parts.emplace_back("drop its required node affinity");
  for (const Taint& taint : opening.tolerated) parts.push_back("tolerate the taint " + TaintText(taint));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

Pod Apply(const Opening& opening, const Pod& incoming) {
  SchedulingSpec spec = *incoming.scheduling;
  for (const std::string& key : opening.dropped_selectors) spec.node_selector.erase(key);
  if (opening.drops_affinity) spec.node_affinity.reset();
  for (const Taint& taint : opening.tolerated)
    spec.tolerations.push_back({taint.key, taint.value.empty() ? "Exists" : "Equal", taint.value, taint.effect});
  return WithScheduling(incoming, std::move(spec));
}

// Distinct openings, fewest parts first, then those that open most nodes.
struct RankedOpening {
  Opening opening;
  std::string text;
  std::size_t nodes = 0;
};

template <typename Wanted>
std::vector<RankedOpening> OpeningsOf(const SearchInput& input, Wanted wanted) {
  const SchedulingSpec& spec = *input.incoming.scheduling;
  const std::vector<char> usable = UsableNodes(input.report);
  std::map<std::string, RankedOpening> by_text;
  for (std::uint32_t node = 0; node < usable.size(); ++node) {
    if (usable[node] != 0) continue;
    Opening opening = OpeningOf(spec, input.cluster.nodes[node].state->node);
    if (opening.hopeless || !wanted(opening)) continue;
    std::string text = TextOf(opening, spec);
    RankedOpening& ranked = by_text[text];
    if (ranked.nodes++ == 0) ranked = {std::move(opening), std::move(text), 1};
  }
  std::vector<RankedOpening> openings;
  openings.reserve(by_text.size());
  for (auto& [text, ranked] : by_text) openings.push_back(std::move(ranked));
  std::stable_sort(openings.begin(), openings.end(), [](const RankedOpening& a, const RankedOpening& b) {
    const std::size_t parts_a = a.opening.drops() + a.opening.tolerated.size();
    const std::size_t parts_b = b.opening.drops() + b.opening.tolerated.size();
    return parts_a != parts_b ? parts_a < parts_b : a.nodes > b.nodes;
  });
  return openings;
}

std::vector<Proposal> TryInOrder(const SearchInput& input, ChangeKind kind,
                                 const std::vector<RankedOpening>& openings) {
  Trials trials(input, kind);
  for (const RankedOpening& ranked : openings) {
    if (trials.used_up()) break;
    std::optional<Proposal> proposal = trials.Try(Apply(ranked.opening, input.incoming), ranked.text);
    if (proposal) return ListOf(std::move(proposal));
  }
  return {};
}

}  // namespace

std::vector<Proposal> TolerateTaints(const SearchInput& input) {
  const std::vector<RankedOpening> openings =
      OpeningsOf(input, [](const Opening& opening) { return opening.drops() == 0 && !opening.tolerated.empty(); });
  return TryInOrder(input, ChangeKind::kToleration, openings);
}

std::vector<Proposal> ReachANode(const SearchInput& input) {
  const std::vector<RankedOpening> openings =
      OpeningsOf(input, [](const Opening& opening) { return opening.drops() > 0; });
  std::vector<Proposal> proposals = TryInOrder(input, ChangeKind::kNodeOfAVictim, openings);
  for (Proposal& proposal : proposals)
    if (proposal.change.victims == 0) proposal.change.kind = ChangeKind::kOtherLabel;
  return proposals;
}

}  // namespace podium
