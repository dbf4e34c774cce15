#include "feasibility/gpu_stock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders/clusters.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<GpuResource>& Gpus() {
  static const std::vector<GpuResource> gpus = {{"nvidia.com/gpu", GpuUnit::kDevice},
                                                {"nvidia.com/mig-*", GpuUnit::kSlice}};
  return gpus;
}

Pod OfClass(const std::string& name, const std::string& class_name, std::int64_t priority, std::int64_t gpus) {
  Pod pod = MakePod(name, {.gpus = gpus, .priority = priority});
  PodSpec spec = *pod.spec;
  spec.trio.class_name = class_name;
  pod.spec = std::move(spec);
  return pod;
}

template <typename Key>
std::string TextOf(const std::map<Key, std::int64_t>& amounts) {
  std::string text;
  for (const auto& [key, amount] : amounts) {
    text += text.empty() ? "" : " ";
    if constexpr (std::is_same_v<Key, std::string>)
      text += '\'' + key + '\'';
    else
      text += std::to_string(key);
    text += ':' + std::to_string(amount);
  }
  return text;
}

std::vector<std::string> TextsOf(const std::vector<GpuStock>& stocks) {
  std::vector<std::string> texts;
  for (const GpuStock& stock : stocks)
    texts.push_back("'" + stock.pool + "' " + stock.resource + ' ' + std::string(ToString(stock.unit)) + " nodes " +
                    std::to_string(stock.nodes) + " capacity " + std::to_string(stock.capacity) + " free " +
                    std::to_string(stock.free) + " unusable " + std::to_string(stock.on_unusable_nodes) + " held {" +
                    TextOf(stock.held) + "} preemptible {" + TextOf(stock.preemptible) + "} per node {" +
                    TextOf(stock.free_per_node) + "} largest " + std::to_string(stock.largest_free));
  return texts;
}

TEST(GpuStock, CountsByPoolAndClass) {
  ClusterBuilder cluster;
  const Labels pool = {{"karpenter.sh/nodepool", "a100"}};
  cluster.WithNode("a", {.gpus = 8, .labels = pool})
      .WithPod(OfClass("train", "training", 100, 4))
      .WithPod(OfClass("chat", "interactive", 1000, 1));
  cluster.WithNode("b", {.gpus = 8, .labels = pool}).WithPod("plain", {.gpus = 2});
  cluster.WithNode("c", {.gpus = 8, .labels = pool}).Cordoned();
  cluster.WithNode("d", {.labels = pool});
  ClusterSnapshot snapshot = cluster.Build();
  snapshot.classes.Put("interactive", {"interactive", 1000, PreemptionPolicy::kPreemptLowerPriority, false});
  snapshot.classes.Put("training", {"training", 100, PreemptionPolicy::kPreemptLowerPriority, false});
  snapshot.classes.Put("polite", {"polite", 5000, PreemptionPolicy::kNever, false});
  EXPECT_THAT(
      TextsOf(CountGpus(snapshot, Gpus(), "")),
      ElementsAre("'a100' nvidia.com/gpu device nodes 3 capacity 24 free 17 unusable 8 held {'':2 "
                  "'interactive':1 'training':4} preemptible {'interactive':6 'polite':0 'training':2} per node "
                  "{3:1 6:1} largest 6"));
}

TEST(GpuStock, UnitsAndPoolsAreNotAddedUp) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2, .labels = {{"cloud.google.com/gke-nodepool", "gke"}, {"team", "red"}}});
  cluster.WithNode("b", {.gpus = 4, .labels = {{"node.kubernetes.io/instance-type", "p4d"}}});
  cluster.WithNode("c", {.gpus = 1});
  ClusterSnapshot snapshot = cluster.Build();
  NodeState sliced = *snapshot.nodes.Find("c");
  sliced.node.allocatable["nvidia.com/mig-1g.10gb"] = Quantity::FromUnits(7);
  snapshot.nodes.Put("c", sliced);
  EXPECT_THAT(TextsOf(CountGpus(snapshot, Gpus(), "")),
              ElementsAre("'' nvidia.com/gpu device nodes 1 capacity 1 free 1 unusable 0 held {} preemptible {} per "
                          "node {1:1} largest 1",
                          "'' nvidia.com/mig-1g.10gb slice nodes 1 capacity 7 free 7 unusable 0 held {} preemptible {} "
                          "per node {7:1} largest 7",
                          "'gke' nvidia.com/gpu device nodes 1 capacity 2 free 2 unusable 0 held {} preemptible {} per "
                          "node {2:1} largest 2",
                          "'p4d' nvidia.com/gpu device nodes 1 capacity 4 free 4 unusable 0 held {} preemptible {} per "
                          "node {4:1} largest 4"));
  const std::vector<GpuStock> by_team = CountGpus(snapshot, Gpus(), "team");
  ASSERT_EQ(by_team.size(), 3U);
  EXPECT_EQ(by_team[0].capacity, 5);  // without the label
  EXPECT_EQ(by_team[2].pool, "red");
}

TEST(GpuStock, WhoHoldsAndWhoDoesNot) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 8});
  Pod over = MakePod("over", {.gpus = 1});
  over.phase = PodPhase::kSucceeded;
  Pod going = MakePod("going", {.gpus = 2});
  going.deleting = true;
  cluster.WithPod(over).WithPod(going);
  cluster.Waiting("promised", {.gpus = 4, .standing = {.nominated_node = "a"}});
  EXPECT_THAT(
      TextsOf(CountGpus(cluster.Build(), Gpus(), "")),
      ElementsAre("'' nvidia.com/gpu device nodes 1 capacity 8 free 6 unusable 0 held {'':2} preemptible {} per "
                  "node {6:1} largest 6"));
}

// A lost device does not take from what is free elsewhere.
TEST(GpuStock, AnOvercommittedNodeHasNothingFree) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {}).WithPod("lost", {.gpus = 3});
  cluster.WithNode("b", {.gpus = 2});
  EXPECT_THAT(
      TextsOf(CountGpus(cluster.Build(), Gpus(), "")),
      ElementsAre("'' nvidia.com/gpu device nodes 2 capacity 2 free 2 unusable 0 held {'':3} preemptible {} per "
                  "node {0:1 2:1} largest 2"));
}

TEST(GpuStock, AClusterWithoutGpus) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {}).WithPod("cpu-only", {});
  EXPECT_THAT(CountGpus(cluster.Build(), Gpus(), ""), IsEmpty());
}

}  // namespace
}  // namespace podium
