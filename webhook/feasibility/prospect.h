// How pods of one kind fare, one after the other, in a cluster that changes between them. What Evaluate says of each,
// looking again only at what changed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "feasibility/changed_cluster.h"
#include "feasibility/cycle.h"
#include "feasibility/preemption.h"

namespace podium {

// What a search may cost. One check: the filters on one node once. A look is charged some checks of its own.
struct SearchBudget {
  std::int64_t checks = 0;
  [[nodiscard]] bool IsSpent() const { return checks <= 0; }
};

// Where the next pod can go.
struct Choices {
  Feasibility verdict = Feasibility::kUnknown;
  // kFitsNow: all fit nodes. kFitsAfterPreemption: the nodes the scheduler may take, equal in every criterion; all
  // candidates behind the best ones when it would examine only a part of them. Ours is the first.
  std::vector<std::uint32_t> nodes;
  bool sampled = false;               // it examines a part of the possible nodes only
  bool budget_order_matters = false;  // CaveatKind::kBudgetOrder
};

class Prospect {
 public:
  // Requires: everything outlives it; `pod` is an announced one and is nominated to no node; while this lives, no pod
  // of a higher priority evicts (nominations that such a pod takes away count here). Evaluates the pod once.
  Prospect(const ChangedCluster& cluster, const Pod& pod, const EvaluateOptions& options, SearchBudget& budget);
  Prospect(const Prospect&) = delete;
  Prospect& operator=(const Prospect&) = delete;

  // Absent: the budget is spent.
  std::optional<Choices> Look();

  // Of a node that the last look offered for evictions: positions in PreparedNode::pods.
  [[nodiscard]] const std::vector<std::uint32_t>& VictimsOn(std::uint32_t node) const;

  // What this pod meets on a node follows from that node's pods alone, so that what happens on other nodes changes
  // nothing: neither spreading nor affinity plays a part, and anti-affinity only between pods of one node.
  [[nodiscard]] bool IsNodeLocal() const { return reach_ != Reach::kCluster; }

  [[nodiscard]] const Cycle& cycle() const { return cycle_; }

 private:
  enum class Reach { kResources, kNode, kCluster };  // how far other pods act on this one
  enum class Standing : std::uint8_t { kStale, kFits, kHopeless, kMayHelp, kCandidate, kNoCandidate };

  void CatchUp();
  void Renew();
  [[nodiscard]] Reach ReachOf(const Cycle& cycle) const;
  void Filter();
  void DryRuns();
  Choices Preemption();
  void Forget(std::uint32_t node);

  // A node where evictions make room.
  struct Offer {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> victims;
    Rank rank = {};
    bool budget_order_matters = false;
  };
  static bool IsBefore(const Offer& offer, std::uint32_t node) { return offer.node < node; }

  const ChangedCluster* cluster_;
  const Pod* pod_;
  const EvaluateOptions* options_;
  SearchBudget* budget_;
  Cycle cycle_;
  Reach reach_ = Reach::kCluster;
  std::optional<Feasibility> without_looking_;  // the scheduler does not try it, or there are no nodes
  bool is_evaluated_ = true;                    // nothing was left out that could keep it from a node
  std::size_t seen_changes_ = 0;
  std::size_t seen_groups_ = 0;
  std::size_t seen_shapes_ = 0;
  std::vector<Standing> standing_;  // by node
  std::vector<Offer> offers_;       // ascending by node
};

}  // namespace podium
