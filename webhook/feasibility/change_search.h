// The search for changes after which a pod fits: one function for each kind of change, one list that says their order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feasibility/outlook.h"

namespace podium {

// What every search reads. All of it outlives the search.
struct SearchInput {
  const PreparedCluster& cluster;
  const ClusterSnapshot& snapshot;
  const FeasibilityReport& report;
  const Pod& incoming;
  const OutlookOptions& options;

  [[nodiscard]] bool MayPreempt() const { return incoming.spec->trio.preemption_policy != PreemptionPolicy::kNever; }
};

// A change with what it was evaluated on, so that it can be evaluated again.
struct Proposal {
  Change change;
  Pod pod;                                      // as changed
  std::optional<ClusterSnapshot> cluster = {};  // as changed; absent: as it is
};

// Evaluates changed pods, as often as the bounds allow for one kind.
class Trials {
 public:
  Trials(const SearchInput& input, ChangeKind kind)
      : input_(&input), kind_(kind), left_(input.options.search.evaluations_per_kind) {}

  // Absent: it does not fit either, or the bound is reached.
  std::optional<Proposal> Try(Pod changed, const std::string& text);
  [[nodiscard]] bool used_up() const { return left_ == 0; }

 private:
  const SearchInput* input_;
  ChangeKind kind_;
  std::size_t left_;
};

inline std::vector<Proposal> ListOf(std::optional<Proposal> proposal) {
  std::vector<Proposal> list;
  if (proposal) list.push_back(std::move(*proposal));
  return list;
}

// What `report` says, as a change. Absent: it is no fit.
std::optional<Change> ChangeOf(const FeasibilityReport& report, ChangeKind kind, const std::string& text);

std::vector<Proposal> FindProposals(const SearchInput& input);

// --- the kinds ------------------------------------------------------------------------------------------------------

// Less CPU, memory, ... than a node has beside the GPUs that it could give. Tries the smallest cuts first.
std::vector<Proposal> AskLessOfAnother(const SearchInput& input);

// The largest number of GPUs (of the resource the pod is about) that fits.
std::vector<Proposal> AskFewerGpus(const SearchInput& input);

// For each entry of node selector, node affinity, pod (anti-)affinity and spread constraints: without it, or with the
// value of a node where the pod then fits.
std::vector<Proposal> ChangeOneEntry(const SearchInput& input);

// Taints that only say who a node is for; those of sick and leaving nodes are never proposed.
std::vector<Proposal> TolerateTaints(const SearchInput& input);

// Everything at once that keeps the pod from one node: labels, and taints beside them. Of the kind kNodeOfAVictim when
// there are victims, of kOtherLabel when the node has room.
std::vector<Proposal> ReachANode(const SearchInput& input);

std::vector<Proposal> AllowPreemption(const SearchInput& input);

// The lowest class of the snapshot that may preempt and makes it fit. Never Kubernetes' own.
std::vector<Proposal> RaiseClass(const SearchInput& input);

// The node where the fewest pods have to move (MovePlanner); one whose pods all fit elsewhere is preferred.
std::vector<Proposal> MovePodsAway(const SearchInput& input);

}  // namespace podium
