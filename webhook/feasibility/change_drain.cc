// Moving pods away from one node.
#include <algorithm>
#include <utility>

#include "core/text.h"
#include "feasibility/change_search.h"
#include "feasibility/move_planner.h"

namespace podium {
namespace {

constexpr std::size_t kNamedPods = 3;

void PutOn(ClusterSnapshot& snapshot, const std::string& node, Pod pod) {
  NodeState state = *snapshot.nodes.Find(node);
  pod.node_name = node;
  const auto place = std::find_if(state.pods.begin(), state.pods.end(), [&](const auto& other) {
    return std::pair(*other->namespace_name, other->name) >= std::pair(*pod.namespace_name, pod.name);
  });
  state.pods.insert(place, std::make_shared<const Pod>(std::move(pod)));
  snapshot.nodes.Put(node, std::move(state));
}

ClusterSnapshot Without(const ClusterSnapshot& snapshot, const std::string& node, const Evacuation& move) {
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

  std::optional<Proposal> Try(const Evacuation& move) {
    const std::string& node = input_->report.NodeName(move.node);
    ClusterSnapshot changed = Without(input_->snapshot, node, move);
    std::optional<Change> change = ChangeOf(EvaluateIn(changed, input_->incoming), ChangeKind::kDrainNode, "");
    if (!change || change->leads_to != Feasibility::kFitsNow) return std::nullopt;
    return Proposal{std::move(*change), input_->incoming, std::move(changed)};
  }

  // How many of the moved pods fit somewhere once the incoming pod has its place, taken one after the other.
  std::size_t CountHoused(const Evacuation& move, const Proposal& proposal) {
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
std::string TextOf(const Evacuation& move, const std::string& node, std::size_t housed) {
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
  if (input.report.verdict == Feasibility::kShapeNeverFits) return {};
  MoveTrials trials(input);
  std::optional<Proposal> best;
  std::size_t best_homeless = 0;
  for (const Evacuation& move : MovePlanner(input).Run()) {
    if (trials.used_up()) break;
    std::optional<Proposal> proposal = trials.Try(move);
    if (!proposal) continue;
    const std::size_t housed = trials.CountHoused(move, *proposal);
    const std::size_t homeless = move.pods.size() - housed;
    if (best && homeless >= best_homeless) continue;
    proposal->change.text = Printable(TextOf(move, input.report.NodeName(move.node), housed));
    for (std::size_t i = 0; i < std::min(move.pods.size(), kNamedPods); ++i)
      proposal->change.named.push_back(move.pods[i]->pod);
    best = std::move(proposal);
    best_homeless = homeless;
    if (homeless == 0) break;
  }
  return ListOf(std::move(best));
}

}  // namespace podium
