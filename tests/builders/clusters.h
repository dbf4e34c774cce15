// Small clusters for the evaluator: nodes with GPUs, pods on them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podium/snapshot.h"

namespace podium {

struct NodeWish {
  std::int64_t gpus = 0;
  Labels labels = {};
  std::vector<Taint> taints = {};
  std::int64_t cpus = 64;
  std::int64_t pods = 110;
};

inline Node MakeNode(const std::string& name, const NodeWish& wish) {
  Node node;
  node.name = name;
  node.labels = wish.labels;
  node.labels.try_emplace("kubernetes.io/hostname", name);
  node.allocatable = {{"cpu", Quantity::FromUnits(wish.cpus)},
                      {"memory", Quantity::FromUnits(std::int64_t{64} << 30)},
                      {"pods", Quantity::FromUnits(wish.pods)}};
  if (wish.gpus > 0) node.allocatable["nvidia.com/gpu"] = Quantity::FromUnits(wish.gpus);
  node.taints = wish.taints;
  return node;
}

struct PodWish {
  std::int64_t gpus = 0;
  std::int64_t priority = 0;
  int start_minute = 1;  // 0: not started
  Labels labels = {};
  SchedulingSpec scheduling = {};
  SchedulingStatus standing = {};
  ResourceList requests = {};
};

// `name` in the namespace "default" unless it says "namespace/name".
inline Pod MakePod(const std::string& name, PodWish wish) {
  const std::size_t slash = name.find('/');
  Pod pod;
  pod.namespace_name = slash == std::string::npos ? std::string("default") : name.substr(0, slash);
  pod.name = slash == std::string::npos ? name : name.substr(slash + 1);
  pod.uid = "uid-" + name;
  pod.labels = std::move(wish.labels);
  PodSpec spec;
  spec.trio.priority = wish.priority;
  if (wish.gpus > 0) wish.requests["nvidia.com/gpu"] = Quantity::FromUnits(wish.gpus);
  spec.containers.push_back({"main", std::move(wish.requests), {}, false});
  pod.spec = std::move(spec);
  if (wish.start_minute > 0) pod.start_time = TimePoint(std::chrono::minutes(wish.start_minute));
  pod.scheduling = std::move(wish.scheduling);
  pod.standing = std::move(wish.standing);
  return pod;
}

// Nodes and pods keep the order in which they are added; nodes must come sorted by name.
class ClusterBuilder {
 public:
  ClusterBuilder& WithNode(const std::string& name, const NodeWish& wish) {
    nodes_.push_back({MakeNode(name, wish), {}});
    return *this;
  }
  // On the node that was added last, as is the next.
  ClusterBuilder& WithAllocatable(const std::string& resource, std::int64_t units) {
    nodes_.back().node.allocatable[resource] = Quantity::FromUnits(units);
    return *this;
  }
  ClusterBuilder& WithPod(const std::string& name, PodWish wish) {
    Pod pod = MakePod(name, std::move(wish));
    pod.node_name = nodes_.back().node.name;
    return WithPod(std::move(pod));
  }
  ClusterBuilder& WithPod(Pod pod) {
    nodes_.back().pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    return *this;
  }
  // The node that was added last.
  ClusterBuilder& Cordoned() {
    nodes_.back().node.unschedulable = true;
    return *this;
  }
  ClusterBuilder& Waiting(const std::string& name, PodWish wish) { return Waiting(MakePod(name, std::move(wish))); }
  ClusterBuilder& Waiting(Pod pod) {
    snapshot_.waiting.push_back(std::make_shared<const Pod>(std::move(pod)));
    return *this;
  }
  ClusterBuilder& WithBudget(const std::string& name, const Labels& selected, std::int64_t allowed,
                             std::vector<std::string> disrupted = {}) {
    Pdb pdb;
    pdb.namespace_name = "default";
    pdb.name = name;
    pdb.selector = LabelSelector{selected, {}};
    pdb.disruptions_allowed = allowed;
    pdb.disrupted_pods = std::move(disrupted);
    snapshot_.budgets.Put("default/" + name, pdb);
    return *this;
  }
  ClusterBuilder& WithNamespace(const std::string& name, const Labels& labels) {
    snapshot_.namespaces.Put(name, Namespace{name, labels});
    return *this;
  }

  ClusterSnapshot Build() {
    Table<NodeState>::Rows rows;
    for (NodeState& state : nodes_) {
      std::string key = state.node.name;
      rows.push_back(std::make_shared<const Table<NodeState>::Row>(Table<NodeState>::Row{key, std::move(state)}));
    }
    snapshot_.nodes = Table<NodeState>(std::move(rows));
    return std::move(snapshot_);
  }

 private:
  std::vector<NodeState> nodes_;
  ClusterSnapshot snapshot_;
};

}  // namespace podium
