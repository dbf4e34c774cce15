#include "accuracy/compare.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

namespace podium {
namespace {

constexpr std::chrono::seconds kDefaultGrace{30};
constexpr std::chrono::seconds kTimestampStep{1};  // the API keeps whole seconds

// The deletion timestamp is the end of the grace period.
bool WasToldToGoBefore(const Pod& pod, TimePoint since) {
  if (!pod.standing->deletion_time) return false;
  const std::chrono::seconds grace =
      pod.scheduling->grace_period_seconds.value_or(kDefaultGrace.count()) * std::chrono::seconds(1);
  return *pod.standing->deletion_time - grace + kTimestampStep < since;
}

bool Has(const std::vector<std::string>& sorted, const std::string& text) {
  return std::binary_search(sorted.begin(), sorted.end(), text);
}

bool HasNone(const std::vector<std::string>& wanted, const std::vector<std::string>& sorted) {
  return std::none_of(wanted.begin(), wanted.end(), [&](const std::string& each) { return Has(sorted, each); });
}

bool HasAll(const std::vector<std::string>& wanted, const std::vector<std::string>& sorted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& each) { return Has(sorted, each); });
}

bool MadeRoomAsPlanned(const Advice& advice, const std::string& node, const Evictions& evictions) {
  if (!advice.chosen_nodes.Contains(node)) return false;
  const auto plan = std::find_if(advice.chosen.begin(), advice.chosen.end(),
                                 [&](const AdvisedPlan& each) { return each.node == node; });
  if (plan == advice.chosen.end()) return true;
  return HasNone(plan->victims, evictions.standing) && HasAll(evictions.marked, plan->victims);
}

// --- what moved -----------------------------------------------------------------------------------------------------

bool SamePodsBeside(const PodList& before, const PodList& after, const std::vector<std::string>& uids) {
  auto left = before.begin();
  auto right = after.begin();
  const auto skip = [&](PodList::const_iterator at, PodList::const_iterator end) {
    while (at != end && Has(uids, (*at)->uid)) ++at;
    return at;
  };
  while (true) {
    left = skip(left, before.end());
    right = skip(right, after.end());
    if (left == before.end() || right == after.end()) return left == before.end() && right == after.end();
    if (*left != *right && !(**left == **right)) return false;
    ++left;
    ++right;
  }
}

std::map<std::string, std::string> NominationsBeside(const ClusterSnapshot& snapshot,
                                                     const std::vector<std::string>& uids) {
  std::map<std::string, std::string> nominations;
  for (const auto& pod : snapshot.waiting)
    if (!pod->standing->nominated_node.empty() && !Has(uids, pod->uid))
      nominations.emplace(pod->uid, pod->standing->nominated_node);
  return nominations;
}

// Rows that did not change are the same objects in both.
bool SameNodesBeside(const Table<NodeState>& before, const Table<NodeState>& after,
                     const std::vector<std::string>& uids) {
  if (before.size() != after.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& left = before.rows()[i];
    const auto& right = after.rows()[i];
    if (left == right) continue;
    const bool same = left->key == right->key && left->value.node == right->value.node &&
                      SamePodsBeside(left->value.pods, right->value.pods, uids);
    if (!same) return false;
  }
  return true;
}

}  // namespace

std::string_view ToString(Actual actual) {
  switch (actual) {
    case Actual::kNothing: return "Nothing";
    case Actual::kBound: return "Bound";
    case Actual::kNominated: return "Nominated";
    case Actual::kUnschedulable: break;
  }
  return "Unschedulable";
}

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAgreed: return "agreed";
    case Outcome::kDisagreed: return "disagreed";
    case Outcome::kOvertaken: return "overtaken";
    case Outcome::kUnknown: break;
  }
  return "unknown";
}

Sighting See(const Pod& pod) {
  if (!pod.node_name->empty()) return {Actual::kBound, *pod.node_name, ""};
  const SchedulingStatus& standing = *pod.standing;
  if (!standing.nominated_node.empty()) return {Actual::kNominated, standing.nominated_node, standing.unschedulable};
  if (!standing.unschedulable.empty()) return {Actual::kUnschedulable, "", standing.unschedulable};
  return {};
}

Evictions SeeEvictions(const NodeState& node, TimePoint since) {
  Evictions seen;
  for (const auto& pod : node.pods) {
    if (!pod->deleting && !pod->IsOver() && !pod->standing->preempted_by_scheduler) seen.standing.push_back(pod->uid);
    if (pod->standing->preempted_by_scheduler && !WasToldToGoBefore(*pod, since)) seen.marked.push_back(pod->uid);
  }
  std::sort(seen.marked.begin(), seen.marked.end());
  std::sort(seen.standing.begin(), seen.standing.end());
  return seen;
}

bool Agrees(const Advice& advice, const Sighting& sighting, const Evictions& evictions) {
  switch (advice.verdict) {
    case Feasibility::kFitsNow: return sighting.what == Actual::kBound && advice.fit.Contains(sighting.node);
    case Feasibility::kFitsAfterPreemption:
      return (sighting.what == Actual::kNominated || sighting.what == Actual::kBound) &&
             MadeRoomAsPlanned(advice, sighting.node, evictions);
    case Feasibility::kPreemptionForbidden:
    case Feasibility::kPreemptionCannotHelp:
    case Feasibility::kShapeNeverFits:
      return sighting.what == Actual::kUnschedulable && sighting.message == advice.message;
    case Feasibility::kUnknown: break;
  }
  return false;
}

bool MovedBeside(const ClusterSnapshot& before, const ClusterSnapshot& after, const std::vector<std::string>& uids) {
  return !SameNodesBeside(before.nodes, after.nodes, uids) || !(before.budgets == after.budgets) ||
         NominationsBeside(before, uids) != NominationsBeside(after, uids);
}

std::string Describe(const Advice& advice) {
  const std::string verdict(ToString(advice.verdict));
  if (advice.verdict == Feasibility::kFitsNow)
    return verdict + " on one of " + std::to_string(advice.fit.size()) + " nodes";
  if (advice.verdict != Feasibility::kFitsAfterPreemption) return verdict + ": " + advice.message;
  const std::size_t equal = advice.chosen_nodes.size();
  return verdict + " on " + advice.node + " with " + std::to_string(advice.victims) + " victims" +
         (equal > 1 ? ", or on one of " + std::to_string(equal - 1) + " equal nodes" : "");
}

std::string Describe(const Sighting& sighting) {
  const std::string what(ToString(sighting.what));
  if (sighting.what == Actual::kUnschedulable) return what + ": " + sighting.message;
  return sighting.node.empty() ? what : what + " on " + sighting.node;
}

}  // namespace podium
