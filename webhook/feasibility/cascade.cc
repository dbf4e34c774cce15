#include "feasibility/cascade.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace podium {
namespace {

// More kinds of pods than this are forgotten and looked at afresh: each costs memory for every node.
constexpr std::size_t kMostKinds = 32;

bool IsMadeAnew(const Pod& pod) {
  return pod.controller && (*pod.controller)->kind != "DaemonSet" && (*pod.controller)->kind != "Node";
}

Pod ReplacementOf(const Pod& victim) {
  Pod pod = victim;
  pod.uid.clear();
  pod.node_name = {};
  pod.phase = PodPhase::kPending;
  pod.ready = false;
  pod.deleting = false;
  pod.start_time = {};
  pod.standing = {};
  return pod;
}

class Follower {
 public:
  Follower(ChangedCluster cluster, const EvaluateOptions& options, SearchBudget& budget)
      : cluster_(std::move(cluster)), options_(options), budget_(budget) {}

  Cascade Run(const std::vector<const Pod*>& victims) {
    Queue(victims);
    while (!queue_.empty()) {
      const std::size_t next = queue_.begin()->second;
      queue_.erase(queue_.begin());
      FindPlace(next);
    }
    return std::move(cascade_);
  }

 private:
  // Pods of one kind are equal to every filter. By address: values that repeat are interned.
  using Kind = std::array<const void*, 4>;
  struct Candidate {
    PreparedPod replacement;
    std::unique_ptr<Prospect> prospect;
  };

  static Kind KindOf(const Pod& pod) { return {&*pod.spec, &*pod.scheduling, &*pod.labels, &*pod.namespace_name}; }

  // Whom a replacement evicts has a lower priority than all that came before it, so nobody is displaced twice.
  void Queue(const std::vector<const Pod*>& victims) {
    for (const Pod* victim : victims) {
      Displaced& displaced = cascade_.displaced.emplace_back();
      displaced.pod = victim;
      displaced.recreated = IsMadeAnew(*victim);
      if (displaced.recreated) queue_.emplace(-PriorityOf(*victim), cascade_.displaced.size() - 1);
    }
  }

  Candidate& CandidateFor(const Pod& victim) {
    if (kinds_.size() >= kMostKinds) kinds_.clear();
    const auto [entry, is_new] = kinds_.try_emplace(KindOf(victim));
    if (is_new) {
      entry->second.replacement = cluster_.Announce(ReplacementOf(victim));
      entry->second.prospect = std::make_unique<Prospect>(cluster_, *entry->second.replacement.pod, options_, budget_);
    }
    return entry->second;
  }

  void FindPlace(std::size_t position) {
    if (budget_.IsSpent()) {
      ++cascade_.not_looked_at;
      return;
    }
    Candidate& candidate = CandidateFor(*cascade_.displaced[position].pod);
    const std::optional<Choices> choices = candidate.prospect->Look();
    if (!choices) {
      ++cascade_.not_looked_at;
      return;
    }
    Displaced& displaced = cascade_.displaced[position];
    displaced.verdict = choices->verdict;
    if (choices->nodes.empty()) {
      cascade_.homeless += choices->verdict == Feasibility::kUnknown ? 0 : 1;
      return;
    }
    displaced.node = choices->nodes.front();
    Settle(candidate, *choices, displaced);
  }

  void Settle(const Candidate& candidate, const Choices& choices, Displaced& displaced) {
    const std::uint32_t node = choices.nodes.front();
    std::vector<const Pod*> gone;
    if (choices.verdict == Feasibility::kFitsAfterPreemption)
      gone = cluster_.Evict(node, candidate.prospect->VictimsOn(node), *candidate.replacement.pod,
                            options_.scheduler_name);
    cluster_.Place(node, candidate.replacement);
    displaced.victims = gone.size();
    Queue(gone);
  }

  ChangedCluster cluster_;
  const EvaluateOptions& options_;
  SearchBudget& budget_;
  std::map<Kind, Candidate> kinds_;
  std::set<std::pair<std::int64_t, std::size_t>> queue_;  // highest priority first, then in order of eviction
  Cascade cascade_;
};

}  // namespace

Cascade FollowCascade(ChangedCluster cluster, const std::vector<const Pod*>& victims, const EvaluateOptions& options,
                      SearchBudget& budget) {
  return Follower(std::move(cluster), options, budget).Run(victims);
}

}  // namespace podium
