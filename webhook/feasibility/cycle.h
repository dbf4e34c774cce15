// One scheduling cycle: what is known of the incoming pod before any node is looked at, and one node as it would be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feasibility/pod_affinity.h"
#include "feasibility/prepared_cluster.h"
#include "feasibility/spread.h"

namespace podium {

struct FilterRow;

// A resource that the incoming pod asks for.
struct Demand {
  std::string resource;
  ResourceId id = 0;
  std::int64_t amount = 0;  // > 0
};

// More are not told apart (a bit each).
constexpr std::size_t kMostDemands = 40;

// What `incoming` asks for, sorted by resource; at most kMostDemands.
std::vector<Demand> DemandsOf(const PreparedCluster& cluster, const Pod& incoming);

struct Cycle {
  explicit Cycle(const PreparedCluster& its_cluster) : cluster(&its_cluster), affinity(its_cluster.nodes) {}

  const PreparedCluster* cluster;
  const Pod* pod = nullptr;
  const SchedulingSpec* spec = nullptr;
  std::int64_t priority = 0;
  std::vector<Demand> demands;              // sorted by resource
  std::vector<std::int64_t> held_by_shape;  // [shape * demands.size() + demand]: what such a pod holds of it
  SpreadState spread;
  PodAffinityState affinity;
  // By node: promised pods that count for this pod (priority at least its own, own scheduler, not itself).
  std::unordered_map<std::uint32_t, std::vector<PreparedPod>> promised;
  std::vector<const FilterRow*> filters;  // those that take part, in order
  std::size_t first_that_sees_pods = 0;   // in `filters`

  [[nodiscard]] const std::int64_t* HeldBy(const PreparedPod& pod_on_node) const {
    return held_by_shape.data() + pod_on_node.shape * demands.size();
  }
};

// Requires: `cluster`, `incoming` outlive the result.
Cycle BeginCycle(const PreparedCluster& cluster, const Pod& incoming, const EvaluateOptions& options);

// A pod came to `node` (`times` 1) or left it (-1) since BeginCycle, and the cluster says so too. Requires: its shape
// and group were known then, and no promise changed.
void CountChange(Cycle& cycle, std::uint32_t node, const PreparedPod& pod, std::int64_t times);

// A node with pods taken away or put on it: an overlay, the node itself never changes. Only what this cycle's filters
// read is kept. May be reset to another node, to save allocations.
class Overlay {
 public:
  explicit Overlay(const Cycle& cycle) : cycle_(&cycle) {}

  void Reset(std::uint32_t node);
  void Remove(const PreparedPod& pod) { Change(pod, -1); }
  void Add(const PreparedPod& pod) { Change(pod, 1); }

  [[nodiscard]] const Cycle& cycle() const { return *cycle_; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] const PreparedNode& node() const { return *node_; }
  [[nodiscard]] const Node& labels() const { return node_->state->node; }
  [[nodiscard]] std::int64_t pod_count() const { return pod_count_; }
  [[nodiscard]] std::int64_t allocatable(std::size_t demand) const { return allocatable_[demand]; }
  [[nodiscard]] std::int64_t free(std::size_t demand) const { return free_[demand]; }
  [[nodiscard]] const std::vector<HostPort>& used_ports() const { return used_ports_; }
  [[nodiscard]] const std::vector<std::int64_t>& spread() const { return spread_; }
  [[nodiscard]] const AffinityDelta& affinity() const { return affinity_; }

 private:
  void Change(const PreparedPod& pod, std::int64_t times);
  void ChangePorts(const Pod& pod, std::int64_t times);
  void ChangeTopology(std::uint32_t group, std::int64_t times);

  const Cycle* cycle_;
  std::uint32_t id_ = 0;
  const PreparedNode* node_ = nullptr;
  std::int64_t pod_count_ = 0;
  std::vector<std::int64_t> allocatable_;  // by demand
  std::vector<std::int64_t> free_;
  std::vector<HostPort> used_ports_;  // a set: what two pods use is freed by the first that goes
  std::vector<std::int64_t> spread_;  // by row
  AffinityDelta affinity_;
};

}  // namespace podium
