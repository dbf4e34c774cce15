#include "feasibility/move_planner.h"

#include <algorithm>
#include <utility>

#include "feasibility/filters.h"
#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

using Pods = std::vector<const PreparedPod*>;

// A DaemonSet's pod comes back to its node, and a static pod (owned by its Node) never leaves.
bool CanLeave(const Pod& pod) {
  if (!pod.controller) return true;
  const std::string& kind = (*pod.controller)->kind;
  return kind != "DaemonSet" && kind != "Node";
}

// Least important first.
Pods MovablePods(const PreparedNode& node) {
  Pods movable;
  for (auto pod = node.pods.rbegin(); pod != node.pods.rend(); ++pod)
    if (CanLeave(*pod->pod)) movable.push_back(&*pod);
  return movable;
}

bool FitsWithout(const Pods& pods, std::uint32_t node, Overlay& scratch) {
  scratch.Reset(node);
  for (const PreparedPod* pod : pods) scratch.Remove(*pod);
  return RunFilters(scratch, Pass::kAllFilters).passed();
}

// All leave, and come back one by one as long as the pod still fits, the most important first.
Pods Reprieve(const Pods& movable, std::uint32_t node, Overlay& scratch) {
  Pods moved;
  if (!FitsWithout(movable, node, scratch)) return moved;
  for (auto pod = movable.rbegin(); pod != movable.rend(); ++pod) {
    scratch.Add(**pod);
    if (RunFilters(scratch, Pass::kAllFilters).passed()) continue;
    scratch.Remove(**pod);
    moved.push_back(*pod);
  }
  return moved;
}

bool IsAnyMissing(const std::vector<std::int64_t>& missing) {
  return std::any_of(missing.begin(), missing.end(), [](std::int64_t units) { return units > 0; });
}

}  // namespace

MovePlanner::MovePlanner(const SearchInput& input)
    : input_(&input), cycle_(BeginCycle(input.cluster, input.incoming, input.options.evaluate)) {
  for (const Demand& demand : cycle_.demands)
    holdings_.emplace_back(input.cluster, input.incoming, demand.resource, input.options.evaluate.scheduler_name);
}

std::vector<Evacuation> MovePlanner::Run() const {
  std::vector<Evacuation> moves;
  Overlay scratch(cycle_);
  const std::vector<char> usable = UsableNodes(input_->report);
  for (std::uint32_t node = 0; node < usable.size(); ++node) {
    if (usable[node] == 0) continue;
    Pods pods = PodsInTheWay(node, scratch);
    if (!pods.empty()) moves.push_back({node, std::move(pods)});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Evacuation& a, const Evacuation& b) { return a.pods.size() < b.pods.size(); });
  return moves;
}

// Where only units are missing, the largest holders make it few. Where a neighbour or a port is in the way as well, the
// filters tell which pods those are.
MovePlanner::Pods MovePlanner::PodsInTheWay(std::uint32_t node, Overlay& scratch) const {
  const Pods movable = MovablePods(input_->cluster.nodes[node]);
  Pods holders = LargestHolders(node, movable);
  if (!holders.empty() && FitsWithout(holders, node, scratch)) return holders;
  return Reprieve(movable, node, scratch);
}

// Largest share of what is missing first; of equal ones the least important. Empty: nothing is missing, or too much.
MovePlanner::Pods MovePlanner::LargestHolders(std::uint32_t node, Pods movable) const {
  Pods holders;
  std::vector<std::int64_t> missing = MissingOn(node);
  while (IsAnyMissing(missing)) {
    const auto best = std::max_element(movable.begin(), movable.end(),
                                       [&](auto* a, auto* b) { return ShareOf(*a, missing) < ShareOf(*b, missing); });
    if (best == movable.end() || ShareOf(**best, missing) <= 0) return {};
    for (std::size_t i = 0; i < missing.size(); ++i)
      missing[i] = std::max<std::int64_t>(0, WrappingSubtract(missing[i], HeldBy(**best, i)));
    holders.push_back(*best);
    movable.erase(best);
  }
  return holders;
}

// Units by demand, and behind them pod slots. Empty: the node is too small.
std::vector<std::int64_t> MovePlanner::MissingOn(std::uint32_t node) const {
  std::vector<std::int64_t> missing;
  missing.reserve(cycle_.demands.size() + 1);
  for (std::size_t i = 0; i < cycle_.demands.size(); ++i) {
    const NodeAmounts amounts = holdings_[i].On(node);
    if (cycle_.demands[i].amount > amounts.allocatable) return {};
    missing.push_back(std::max<std::int64_t>(0, WrappingSubtract(cycle_.demands[i].amount, amounts.free)));
  }
  const PreparedNode& prepared = input_->cluster.nodes[node];
  const auto slots = static_cast<std::int64_t>(prepared.pods.size()) + 1;
  missing.push_back(std::max<std::int64_t>(0, slots - prepared.pod_limit));
  return missing;
}

std::int64_t MovePlanner::HeldBy(const PreparedPod& pod, std::size_t demand) const {
  return demand == holdings_.size() ? 1 : holdings_[demand].HeldBy(pod);
}

double MovePlanner::ShareOf(const PreparedPod& pod, const std::vector<std::int64_t>& missing) const {
  double share = 0;
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i] > 0)
      share += static_cast<double>(std::min(HeldBy(pod, i), missing[i])) / static_cast<double>(missing[i]);
  return share;
}

}  // namespace podium
