#include "core/snapshot_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace podium {
namespace {

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'796'000'000));

Pod PodOn(const std::string& node, const std::string& name, const std::string& namespace_name = "ml") {
  Pod pod;
  pod.name = name;
  pod.namespace_name = namespace_name;
  pod.labels = Labels{{"app", "chat"}};
  pod.controller = OwnerReference{"apps/v1", "ReplicaSet", "chat", true, "u-1"};
  PodSpec spec;
  spec.containers = {{"c", {{"nvidia.com/gpu", Quantity::FromUnits(1)}}, {}, false}};
  pod.spec = spec;
  pod.node_name = node;
  return pod;
}

Workload WorkloadNamed(const std::string& kind, const std::string& name) {
  Workload workload;
  workload.api_version = kind == "Job" ? "batch/v1" : "apps/v1";
  workload.kind = kind;
  workload.namespace_name = "ml";
  workload.name = name;
  return workload;
}

void PutWorkload(TableDraft<Workload>& draft, const std::string& kind, const std::string& name) {
  const Workload workload = WorkloadNamed(kind, name);
  draft.Put(WorkloadKey(workload.api_version, kind, "ml", name), workload);
}

std::vector<std::string> Names(const PodList& pods) {
  std::vector<std::string> names;
  for (const auto& pod : pods) names.push_back(*pod->namespace_name + '/' + pod->name);
  return names;
}

template <typename T>
std::vector<std::string> Keys(const Table<T>& table) {
  std::vector<std::string> keys;
  for (const auto& row : table) keys.push_back(row.key);
  return keys;
}

using Strings = std::vector<std::string>;

TEST(WorkloadKey, NamesKindAndGroup) {
  EXPECT_EQ(WorkloadKey("apps/v1", "Deployment", "ml", "chat"), "Deployment.apps/ml/chat");
  EXPECT_EQ(WorkloadKey("v1", "ReplicationController", "ml", "old"), "ReplicationController/ml/old");
}

TEST(SnapshotBuilder, PodsStandOnTheirNodesInOrder) {
  SnapshotBuilder builder;
  builder.placement().PutPod(PodOn("gpu-a", "chat-2"));
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));
  builder.placement().PutPod(PodOn("gpu-a", "zero", "chat"));
  builder.placement().PutPod(PodOn("gone", "lost"));
  builder.placement().PutPod(PodOn("", "pending"));
  builder.placement().PutNode({.name = "gpu-b"});
  builder.placement().PutNode({.name = "gpu-a", .unschedulable = true});
  const auto snapshot = builder.Build(7, kNow, {{"pods", {.synced = true}}});
  EXPECT_EQ(snapshot->generation, 7U);
  EXPECT_EQ(snapshot->taken_at, kNow);
  EXPECT_TRUE(snapshot->sources.at("pods").synced);
  EXPECT_EQ(Keys(snapshot->nodes), (Strings{"gpu-a", "gpu-b"}));
  EXPECT_EQ(snapshot->nodes.Find("gpu-a")->node, (Node{.name = "gpu-a", .unschedulable = true}));
  EXPECT_EQ(Names(snapshot->nodes.Find("gpu-a")->pods), (Strings{"chat/zero", "ml/chat-1", "ml/chat-2"}));
  EXPECT_EQ(*snapshot->nodes.Find("gpu-a")->pods[1], PodOn("gpu-a", "chat-1"));
  EXPECT_EQ(Names(snapshot->waiting), (Strings{"ml/lost", "ml/pending"}));
}

TEST(SnapshotBuilder, PodsMoveWithTheirNodesFate) {
  SnapshotBuilder builder;
  PlacementDraft& placement = builder.placement();
  placement.PutPod(PodOn("gpu-a", "chat-1"));
  EXPECT_EQ(Names(builder.Build(1, kNow)->waiting), Strings{"ml/chat-1"});
  placement.PutNode({.name = "gpu-a"});
  const auto known = builder.Build(2, kNow);
  EXPECT_EQ(Names(known->waiting), Strings{});
  EXPECT_EQ(Names(known->nodes.Find("gpu-a")->pods), Strings{"ml/chat-1"});
  placement.RemoveNode("gpu-a");
  placement.RemoveNode("gpu-z");
  const auto gone = builder.Build(3, kNow);
  EXPECT_EQ(Names(gone->waiting), Strings{"ml/chat-1"});
  EXPECT_TRUE(gone->nodes.empty());
  placement.RemovePod("ml", "chat-1");
  placement.RemovePod("ml", "never-was");
  EXPECT_EQ(Names(builder.Build(4, kNow)->waiting), Strings{});
  EXPECT_EQ(placement.pod_count(), 0U);
  EXPECT_EQ(placement.node_count(), 0U);
}

TEST(SnapshotBuilder, APodThatIsBoundLeavesTheQueue) {
  SnapshotBuilder builder;
  builder.placement().PutNode({.name = "gpu-a"});
  builder.placement().PutPod(PodOn("", "chat-1"));
  const auto before = builder.Build(1, kNow);
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));
  const auto after = builder.Build(2, kNow);
  EXPECT_EQ(Names(before->waiting), Strings{"ml/chat-1"});
  EXPECT_EQ(Names(before->nodes.Find("gpu-a")->pods), Strings{});
  EXPECT_EQ(Names(after->waiting), Strings{});
  EXPECT_EQ(Names(after->nodes.Find("gpu-a")->pods), Strings{"ml/chat-1"});
}

TEST(SnapshotBuilder, SharesEverythingThatDidNotChange) {
  SnapshotBuilder builder;
  builder.placement().PutNode({.name = "gpu-a"});
  builder.placement().PutNode({.name = "gpu-b"});
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));
  builder.namespaces().Put("ml", {"ml", {}});
  PutWorkload(builder.workloads("deployments.apps"), "Deployment", "chat");
  const auto first = builder.Build(1, kNow);
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));  // the same values again
  builder.placement().PutNode({.name = "gpu-b"});
  builder.namespaces().Put("ml", {"ml", {}});
  PutWorkload(builder.workloads("deployments.apps"), "Deployment", "chat");
  const auto second = builder.Build(2, kNow);
  EXPECT_EQ(&first->nodes.rows(), &second->nodes.rows());
  EXPECT_EQ(&first->namespaces.rows(), &second->namespaces.rows());
  EXPECT_EQ(&first->workloads.rows(), &second->workloads.rows());
  builder.placement().PutPod(PodOn("gpu-b", "chat-2"));
  const auto third = builder.Build(3, kNow);
  EXPECT_EQ(first->nodes.rows()[0], third->nodes.rows()[0]);
  EXPECT_NE(first->nodes.rows()[1], third->nodes.rows()[1]);
  EXPECT_EQ(Names(second->nodes.Find("gpu-b")->pods), Strings{});
}

TEST(SnapshotBuilder, HoldsRepeatedValuesOnce) {
  SnapshotBuilder builder;
  builder.placement().PutNode({.name = "gpu-a"});
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));
  builder.placement().PutPod(PodOn("gpu-a", "chat-2"));
  const auto snapshot = builder.Build(1, kNow);
  const PodList& pods = snapshot->nodes.Find("gpu-a")->pods;
  EXPECT_EQ(pods[0]->namespace_name.pointer(), pods[1]->namespace_name.pointer());
  EXPECT_EQ(pods[0]->labels.pointer(), pods[1]->labels.pointer());
  EXPECT_EQ(pods[0]->spec.pointer(), pods[1]->spec.pointer());
  EXPECT_EQ(pods[0]->node_name.pointer(), pods[1]->node_name.pointer());
  EXPECT_EQ(pods[0]->controller->pointer(), pods[1]->controller->pointer());
}

TEST(SnapshotBuilder, ForgetsValuesThatNoPodHasAnyMore) {
  SnapshotBuilder builder;
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    Pod pod = PodOn("gpu-a", name);
    pod.labels = Labels{{"job-name", name}};
    builder.placement().PutPod(pod);
    builder.placement().RemovePod("ml", name);
    (void)builder.Build(1, kNow);
  }
  EXPECT_LE(builder.placement().interned_count(), 100U);
}

TEST(SnapshotBuilder, AListReplacesTheKindAtItsEnd) {
  SnapshotBuilder builder;
  PlacementDraft& placement = builder.placement();
  placement.PutNode({.name = "gpu-a"});
  placement.PutNode({.name = "gpu-b"});
  placement.PutPod(PodOn("gpu-a", "kept"));
  placement.PutPod(PodOn("gpu-a", "moved"));
  placement.PutPod(PodOn("gpu-a", "gone"));
  const auto before = builder.Build(1, kNow);
  placement.BeginPods();
  placement.PutPod(PodOn("gpu-a", "kept"));
  placement.PutPod(PodOn("gpu-b", "moved"));
  placement.PutPod(PodOn("gpu-b", "new"));
  const auto during = builder.Build(2, kNow);
  EXPECT_EQ(&during->nodes.rows(), &before->nodes.rows());
  placement.EndPods();
  const auto after = builder.Build(3, kNow);
  EXPECT_EQ(Names(before->nodes.Find("gpu-a")->pods), (Strings{"ml/gone", "ml/kept", "ml/moved"}));
  EXPECT_EQ(Names(after->nodes.Find("gpu-a")->pods), Strings{"ml/kept"});
  EXPECT_EQ(Names(after->nodes.Find("gpu-b")->pods), (Strings{"ml/moved", "ml/new"}));
  EXPECT_EQ(after->nodes.Find("gpu-a")->pods[0], before->nodes.Find("gpu-a")->pods[1]) << "the same object";
  placement.BeginNodes();
  placement.PutNode({.name = "gpu-a"});
  placement.EndNodes();
  const auto one_node = builder.Build(4, kNow);
  EXPECT_EQ(Keys(one_node->nodes), Strings{"gpu-a"});
  EXPECT_EQ(Names(one_node->waiting), (Strings{"ml/moved", "ml/new"}));
}

TEST(SnapshotBuilder, AnAbandonedListChangesNothing) {
  SnapshotBuilder builder;
  builder.placement().PutNode({.name = "gpu-a"});
  builder.placement().PutPod(PodOn("gpu-a", "chat-1"));
  builder.namespaces().Put("ml", {"ml", {}});
  const auto before = builder.Build(1, kNow);
  builder.placement().BeginPods();
  builder.placement().PutPod(PodOn("gpu-a", "chat-2"));
  builder.placement().AbandonPods();
  builder.placement().BeginNodes();
  builder.placement().AbandonNodes();
  builder.namespaces().BeginList();
  builder.namespaces().AbandonList();
  const auto after = builder.Build(2, kNow);
  EXPECT_EQ(&after->nodes.rows(), &before->nodes.rows());
  EXPECT_EQ(&after->namespaces.rows(), &before->namespaces.rows());
}

TEST(SnapshotBuilder, WorkloadsOfAllResourcesAreOneSortedTable) {
  SnapshotBuilder builder;
  PutWorkload(builder.workloads("statefulsets.apps"), "StatefulSet", "cache");
  PutWorkload(builder.workloads("deployments.apps"), "Deployment", "web");
  PutWorkload(builder.workloads("deployments.apps"), "Deployment", "chat");
  PutWorkload(builder.workloads("jobs.batch"), "Job", "train");
  EXPECT_EQ(Keys(builder.Build(1, kNow)->workloads), (Strings{"Deployment.apps/ml/chat", "Deployment.apps/ml/web",
                                                              "Job.batch/ml/train", "StatefulSet.apps/ml/cache"}));
  TableDraft<Workload>& deployments = builder.workloads("deployments.apps");
  deployments.BeginList();
  PutWorkload(deployments, "Deployment", "new");
  deployments.EndList();
  builder.workloads("jobs.batch").Remove("Job.batch/ml/train");
  EXPECT_EQ(Keys(builder.Build(2, kNow)->workloads), (Strings{"Deployment.apps/ml/new", "StatefulSet.apps/ml/cache"}));
}

TEST(SnapshotBuilder, TwoResourcesOfOneKindAreStillSorted) {
  SnapshotBuilder builder;
  PutWorkload(builder.workloads("one"), "Job", "a");
  PutWorkload(builder.workloads("one"), "Job", "c");
  PutWorkload(builder.workloads("two"), "Job", "b");
  EXPECT_EQ(Keys(builder.Build(1, kNow)->workloads), (Strings{"Job.batch/ml/a", "Job.batch/ml/b", "Job.batch/ml/c"}));
}

TEST(TableDraft, OfObjectsListedTwiceTheLastCounts) {
  TableDraft<Namespace> draft;
  draft.BeginList();
  draft.Put("b", {"b", {{"x", "1"}}});
  draft.Put("a", {"a", {}});
  draft.Put("b", {"b", {{"x", "2"}}});
  draft.EndList();
  const Table<Namespace> table = draft.Build();
  EXPECT_EQ(Keys(table), (Strings{"a", "b"}));
  EXPECT_EQ(table.Find("b")->labels, (Labels{{"x", "2"}}));
}

// Any sequence of events gives what a plain model says, at every build.
struct Step {
  int what;  // 0, 1 put pod; 2 remove pod; 3 put node; 4 remove node; 5 relist pods
  int pod;
  int node;
};

class Model {
 public:
  void Apply(const Step& step, PlacementDraft& placement) {
    const std::string pod = "pod-" + std::to_string(step.pod);
    const std::string node = step.node == 0 ? "" : "node-" + std::to_string(step.node);
    if (step.what <= 1) {
      placement.PutPod(PodOn(node, pod));
      pods_[pod] = node;
    } else if (step.what == 2) {
      placement.RemovePod("ml", pod);
      pods_.erase(pod);
    } else if (step.what == 3 && !node.empty()) {
      placement.PutNode({.name = node});
      nodes_[node] = true;
    } else if (step.what == 4) {
      placement.RemoveNode(node);
      nodes_.erase(node);
    } else if (step.what == 5) {
      Relist(step, placement);
    }
  }

  [[nodiscard]] std::map<std::string, Strings> Expected() const {
    std::map<std::string, Strings> by_node;
    for (const auto& [node, known] : nodes_) by_node[node];
    for (const auto& [pod, node] : pods_) by_node[nodes_.contains(node) ? node : ""].push_back("ml/" + pod);
    by_node[""];
    return by_node;
  }

 private:
  // Every second pod is gone, the others are on the step's node.
  void Relist(const Step& step, PlacementDraft& placement) {
    const std::string node = "node-" + std::to_string(step.node);
    std::map<std::string, std::string> next;
    for (const auto& [pod, old] : pods_)
      if ((pod.back() - '0') % 2 == step.pod % 2) next[pod] = node;
    placement.BeginPods();
    for (const auto& [pod, on] : next) placement.PutPod(PodOn(on, pod));
    placement.EndPods();
    pods_ = next;
  }

  std::map<std::string, std::string> pods_;
  std::map<std::string, bool> nodes_;
};

std::map<std::string, Strings> Seen(const ClusterSnapshot& snapshot) {
  std::map<std::string, Strings> by_node;
  for (const auto& row : snapshot.nodes) by_node[row.key] = Names(row.value.pods);
  by_node[""] = Names(snapshot.waiting);
  return by_node;
}

TEST(SnapshotBuilder, AgreesWithAPlainModel) {
  EXPECT_TRUE(rc::check("any events", [](const std::vector<std::uint16_t>& picks) {
    SnapshotBuilder builder;
    Model model;
    for (const std::uint16_t pick : picks) {
      model.Apply({pick % 6, pick / 6 % 6, pick / 36 % 4}, builder.placement());
      if (pick % 5 == 0) continue;  // several events for one build
      RC_ASSERT(Seen(*builder.Build(1, kNow)) == model.Expected());
    }
  }));
}

}  // namespace
}  // namespace podium
