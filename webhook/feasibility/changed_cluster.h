// A prepared cluster in which pods come and go, node by node: what Prepare would say of the snapshot after that,
// without its cost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feasibility/prepared_cluster.h"

namespace podium {

// Budgets stay as the snapshot has them. A copy is independent; it shares the pods it was told about.
class ChangedCluster {
 public:
  // Requires: `budgets` and the snapshot behind `before` outlive it and its copies.
  ChangedCluster(PreparedCluster before, const Table<Pdb>& budgets) : cluster_(std::move(before)), budgets_(&budgets) {}

  [[nodiscard]] const PreparedCluster& prepared() const { return cluster_; }

  // One pod that came or went.
  struct Change {
    std::uint32_t node = 0;
    std::int64_t times = 0;  // 1: it came; -1: it went
    PreparedPod pod;
  };

  // In order; only grows.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  // A pod that may be placed, once or several times. It is newer than every pod on a node.
  PreparedPod Announce(Pod pod);

  void Place(std::uint32_t node, const PreparedPod& announced);

  // What a preemption does: the pods at these positions of PreparedNode::pods are gone, and pods of a lower priority
  // than the preemptor lose their nomination to the node. Returns the pods that are gone.
  std::vector<const Pod*> Evict(std::uint32_t node, const std::vector<std::uint32_t>& victims, const Pod& preemptor,
                                const std::string& scheduler);

  // The pod with this uid, if it was nominated, no longer is. An empty uid names none. Is no change: for the beginning.
  void DropPromise(const std::string& uid);

 private:
  std::uint32_t GroupOf(const Pod& pod);

  PreparedCluster cluster_;
  const Table<Pdb>* budgets_;
  std::vector<std::shared_ptr<const Pod>> announced_;
  std::vector<Change> changes_;
};

}  // namespace podium
