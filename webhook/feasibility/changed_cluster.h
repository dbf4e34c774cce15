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

  // Every node that changed, in order, as often as it did. Only grows.
  [[nodiscard]] const std::vector<std::uint32_t>& changes() const { return changes_; }

  [[nodiscard]] std::size_t dropped_promises() const { return dropped_promises_; }

  // A pod that may be placed, once or several times. It is newer than every pod on a node.
  PreparedPod Announce(Pod pod);

  void Place(std::uint32_t node, const PreparedPod& announced);

  // What a preemption does: the pods at these positions of PreparedNode::pods are gone, and pods of a lower priority
  // than the preemptor lose their nomination to the node (framework/preemption/executor.go). Returns those pods.
  std::vector<const Pod*> Evict(std::uint32_t node, const std::vector<std::uint32_t>& victims,
                                std::int64_t preemptor_priority);

  // The pod with this uid, if it was nominated, no longer is. An empty uid names none.
  void DropPromise(const std::string& uid);

 private:
  std::uint32_t GroupOf(const Pod& pod);

  PreparedCluster cluster_;
  const Table<Pdb>* budgets_;
  std::vector<std::shared_ptr<const Pod>> announced_;
  std::vector<std::uint32_t> changes_;
  std::size_t dropped_promises_ = 0;
};

}  // namespace podium
