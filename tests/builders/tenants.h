// Two tenants on four nodes of one GPU each, full of batch pods; and what asks for room on them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "builders/clusters.h"
#include "builders/policies.h"
#include "core/cell.h"
#include "podium/ports.h"

namespace podium::builders {

inline Pod BatchPod(const std::string& name, const std::string& node, std::int64_t priority) {
  Pod pod = MakePod(name, {.gpus = 1, .priority = priority});
  PodSpec spec = *pod.spec;
  spec.trio.class_name = "inference-batch";
  pod.spec = std::move(spec);
  pod.node_name = node;
  pod.phase = PodPhase::kRunning;
  pod.ready = true;
  return pod;
}

// Nodes a to d with theirs/embed-a ... theirs/embed-c, and mine/tune-d, which is the most important of them.
inline std::shared_ptr<const ClusterSnapshot> TenantCluster(std::uint64_t generation = 1) {
  ClusterBuilder cluster;
  for (const char* node : {"a", "b", "c"})
    cluster.WithNode(node, {.gpus = 1}).WithPod(BatchPod(std::string("theirs/embed-") + node, node, 1'000));
  cluster.WithNode("d", {.gpus = 1}).WithPod(BatchPod("mine/tune-d", "d", 1'001));
  ClusterSnapshot snapshot = cluster.Build();
  snapshot.generation = generation;
  for (const LadderClass& row : ThreeTiers().ladder) snapshot.classes.Put(row.priority_class.name, row.priority_class);
  return std::make_shared<const ClusterSnapshot>(std::move(snapshot));
}

inline std::string ChatPod(int gpus, const std::string& namespace_name = "mine") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"chat","namespace":")" + namespace_name +
         R"(","labels":{"podium.gpu/workload-type":"interactive"}},"spec":{"containers":[{"name":"main","image":"x",)"
         R"("resources":{"limits":{"nvidia.com/gpu":")" +
         std::to_string(gpus) + R"("}}}]}})";
}

inline std::string ChatDeployment(int replicas) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"chat","namespace":"mine"},"spec":{)"
         R"("replicas":)" +
         std::to_string(replicas) +
         R"(,"template":{"metadata":{"labels":{"podium.gpu/workload-type":"interactive"}},"spec":{"containers":[)"
         R"({"name":"main","image":"x","resources":{"limits":{"nvidia.com/gpu":1}}}]}}}})";
}

// Replaced as a whole, as a live one is.
class ShownSnapshot final : public SnapshotSource {
 public:
  explicit ShownSnapshot(std::shared_ptr<const ClusterSnapshot> snapshot) : cell_(std::move(snapshot)) {}
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> Current() const override { return cell_.Load(); }
  void Show(std::shared_ptr<const ClusterSnapshot> snapshot) { cell_.Store(std::move(snapshot)); }

 private:
  Cell<ClusterSnapshot> cell_;
};

}  // namespace podium::builders
