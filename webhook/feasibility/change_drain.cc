// Moving pods away from one node.
#include <algorithm>
#include <utility>

#include "core/text.h"
#include "feasibility/change_search.h"
#include "feasibility/cycle.h"
#include "feasibility/holdings.h"
#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

constexpr std::size_t kNamedPods = 3;

// A DaemonSet's pod comes back to its node, and a static pod (owned by its Node) never leaves.
bool CanLeave(const Pod& pod) {
  if (!pod.controller) return true;
  const std::string& kind = (*pod.controller)->kind;
  return kind != "DaemonSet" && kind != "Node";
}

// The pods that have to go from one node before the incoming pod has what it asks for.
struct Move {
  std::uint32_t node = 0;
  std::vector<const PreparedPod*> pods;  // largest first
};

class MovePlanner {
 public:
  explicit MovePlanner(const SearchInput& input) : input_(&input), demands_(DemandsOf(input.cluster, input.incoming)) {
    for (const Demand& demand : demands_)
      holdings_.emplace_back(input.cluster, input.incoming, demand.resource, input.options.evaluate.scheduler_name);
  }

  // Fewest pods first. Nodes that are too small, or where too little can leave, are not in it.
  [[nodiscard]] std::vector<Move> Run() const {
    std::vector<Move> moves;
    const std::vector<char> usable = UsableNodes(input_->report);
    for (std::uint32_t node = 0; node < usable.size(); ++node) {
      if (usable[node] == 0) continue;
      Move move = MoveOf(node);
      if (!move.pods.empty()) moves.push_back(std::move(move));
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.pods.size() < b.pods.size(); });
    return moves;
  }

 private:
  // Missing units by demand, in the end missing pod slots. Empty: the node is too small.
  [[nodiscard]] std::vector<std::int64_t> MissingOn(std::uint32_t node) const {
    std::vector<std::int64_t> missing;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      const NodeAmounts amounts = holdings_[i].On(node);
      if (demands_[i].amount > amounts.allocatable) return {};
      missing.push_back(std::max<std::int64_t>(0, WrappingSubtract(demands_[i].amount, amounts.free)));
    }
    const PreparedNode& prepared = input_->cluster.nodes[node];
    const auto count = static_cast<std::int64_t>(prepared.pods.size());
    if (prepared.pod_limit < 1) return {};
    missing.push_back(std::max<std::int64_t>(0, count + 1 - prepared.pod_limit));
    return missing;
  }

  [[nodiscard]] std::int64_t HeldBy(const PreparedPod& pod, std::size_t demand) const {
    return demand == demands_.size() ? 1 : holdings_[demand].HeldBy(pod);
  }

  // How much of what is missing the pod gives back, in shares of what is missing.
  [[nodiscard]] double ShareOf(const PreparedPod& pod, const std::vector<std::int64_t>& missing) const {
    double share = 0;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] > 0)
        share += static_cast<double>(std::min(HeldBy(pod, i), missing[i])) / static_cast<double>(missing[i]);
    return share;
  }

  // Largest share first; of equal ones the least important goes.
  [[nodiscard]] Move MoveOf(std::uint32_t node) const {
    Move move{node, {}};
    std::vector<std::int64_t> missing = MissingOn(node);
    if (missing.empty()) return move;
    std::vector<const PreparedPod*> left;
    const std::vector<PreparedPod>& pods = input_->cluster.nodes[node].pods;
    for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod)
      if (CanLeave(*pod->pod)) left.push_back(&*pod);
    const bool other_reason = std::all_of(missing.begin(), missing.end(), [](std::int64_t m) { return m == 0; });
    if (other_reason) {  // a neighbour or a port is in the way: which one, an empty node tells
      move.pods = std::move(left);
      return move;
    }
    while (std::any_of(missing.begin(), missing.end(), [](std::int64_t m) { return m > 0; })) {
      const auto best = std::max_element(left.begin(), left.end(),
                                         [&](auto* a, auto* b) { return ShareOf(*a, missing) < ShareOf(*b, missing); });
      if (best == left.end() || ShareOf(**best, missing) <= 0) return {node, {}};
      for (std::size_t i = 0; i < missing.size(); ++i)
        missing[i] = std::max<std::int64_t>(0, WrappingSubtract(missing[i], HeldBy(**best, i)));
      move.pods.push_back(*best);
      left.erase(best);
    }
    return move;
  }

  const SearchInput* input_;
  std::vector<Demand> demands_;
  std::vector<Holdings> holdings_;  // by demand
};

// --- what-if --------------------------------------------------------------------------------------------------------

void PutOn(ClusterSnapshot& snapshot, const std::string& node, Pod pod) {
  NodeState state = *snapshot.nodes.Find(node);
  pod.node_name = node;
  const auto place = std::find_if(state.pods.begin(), state.pods.end(), [&](const auto& other) {
    return std::pair(*other->namespace_name, other->name) >= std::pair(*pod.namespace_name, pod.name);
  });
  state.pods.insert(place, std::make_shared<const Pod>(std::move(pod)));
  snapshot.nodes.Put(node, std::move(state));
}

ClusterSnapshot Without(const ClusterSnapshot& snapshot, const std::string& node, const Move& move) {
  ClusterSnapshot changed = snapshot;
  NodeState state = *changed.nodes.Find(node);
  std::erase_if(state.pods, [&](const auto& pod) {
    return std::any_of(move.pods.begin(), move.pods.end(), [&](auto* moved) { return moved->pod == pod.get(); });
  });
  changed.nodes.Put(node, std::move(state));
  return changed;
}

class MoveTrials {
 public:
  explicit MoveTrials(const SearchInput& input) : input_(&input), left_(input.options.search.preparations) {}

  [[nodiscard]] bool used_up() const { return left_ == 0; }

  std::optional<Proposal> Try(const Move& move) {
    const std::string& node = input_->report.NodeName(move.node);
    ClusterSnapshot changed = Without(input_->snapshot, node, move);
    std::optional<Change> change = ChangeOf(EvaluateIn(changed, input_->incoming), ChangeKind::kDrainNode, "");
    if (!change || change->leads_to != Feasibility::kFitsNow) return std::nullopt;
    return Proposal{std::move(*change), input_->incoming, std::move(changed)};
  }

  // How many of the moved pods fit somewhere once the incoming pod has its place, taken one after the other.
  std::size_t CountHoused(const Move& move, const Proposal& proposal) {
    ClusterSnapshot after = *proposal.cluster;
    PutOn(after, proposal.change.node, proposal.pod);
    std::size_t housed = 0;
    for (const PreparedPod* moved : move.pods) {
      if (moved->pod->deleting) {  // it goes anyway
        ++housed;
        continue;
      }
      Pod homeless = *moved->pod;
      homeless.node_name = std::string();
      homeless.standing = SchedulingStatus{};
      const std::optional<Change> place = ChangeOf(EvaluateIn(after, homeless), ChangeKind::kDrainNode, "");
      if (!place || place->leads_to != Feasibility::kFitsNow) continue;
      ++housed;
      PutOn(after, place->node, std::move(homeless));
    }
    return housed;
  }

 private:
  // Once the bound is reached nothing fits any more.
  FeasibilityReport EvaluateIn(const ClusterSnapshot& snapshot, const Pod& pod) {
    if (left_ == 0) return {};
    --left_;
    return Evaluate(Prepare(snapshot, input_->cluster.rules), pod, input_->options.evaluate);
  }

  const SearchInput* input_;
  std::size_t left_;
};

// "move 2 pods away from gpu-a (ml/x, ml/y): they fit elsewhere"
std::string TextOf(const Move& move, const std::string& node, std::size_t housed) {
  const std::size_t count = move.pods.size();
  std::string names;
  for (std::size_t i = 0; i < std::min(count, kNamedPods); ++i)
    names += (i == 0 ? "" : ", ") + *move.pods[i]->pod->namespace_name + '/' + move.pods[i]->pod->name;
  if (count > kNamedPods) names += ", ...";
  const std::string start =
      "move " + std::to_string(count) + (count == 1 ? " pod" : " pods") + " away from " + node + " (" + names + "): ";
  if (housed == count) return start + (count == 1 ? "it fits elsewhere" : "they fit elsewhere");
  return start + "no place elsewhere was found for " + std::to_string(count - housed);
}

}  // namespace

std::vector<Proposal> MovePodsAway(const SearchInput& input) {
  MoveTrials trials(input);
  std::optional<Proposal> best;
  std::size_t best_homeless = 0;
  for (const Move& move : MovePlanner(input).Run()) {
    if (trials.used_up()) break;
    std::optional<Proposal> proposal = trials.Try(move);
    if (!proposal) continue;
    const std::size_t housed = trials.CountHoused(move, *proposal);
    const std::size_t homeless = move.pods.size() - housed;
    if (best && homeless >= best_homeless) continue;
    proposal->change.text = Printable(TextOf(move, input.report.NodeName(move.node), housed));
    best = std::move(proposal);
    best_homeless = homeless;
    if (homeless == 0) break;
  }
  return ListOf(std::move(best));
}

}  // namespace podium
