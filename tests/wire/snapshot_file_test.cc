#include "wire/snapshot_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/selector.h"
#include "wire/decode.h"

namespace podium {
namespace {

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'796'000'000));

constexpr std::string_view kCluster = R"(
kind: Namespace
metadata: {name: nlp, labels: {kubernetes.io/metadata.name: nlp, team: language}}
---
kind: Namespace
metadata: {name: kube-system}
---
kind: PriorityClass
metadata: {name: inference}
value: 1000
preemptionPolicy: Never
globalDefault: true
---
kind: ResourceQuota
metadata: {name: gpu, namespace: nlp}
spec:
  hard: {requests.nvidia.com/gpu: "8", requests.cpu: 1500m}
  scopes: [NotTerminating]
  scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [inference]}]}
---
kind: Node
metadata: {name: rack7-a, labels: {kubernetes.io/hostname: rack7-a, nvidia.com/gpu.product: H100, rack: rack7}}
spec: {unschedulable: true}
status: {allocatable: {cpu: 31500m, nvidia.com/gpu: 4}}
---
kind: Node
metadata: {name: rack7-b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: nlp, uid: u-1, labels: {app: chat}, deletionTimestamp: "2026-11-29T12:00:00Z"}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}, matchExpressions: [{key: tier, operator: NotIn, values: [canary]}]}
  strategy: {rollingUpdate: {maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: chat, podium.gpu/workload-type: interactive}, annotations: {a: b}}
    spec:
      priorityClassName: inference
      priority: 1000
      preemptionPolicy: Never
      serviceAccountName: chat-runner
      overhead: {cpu: 10m}
      resources: {requests: {cpu: 2}}
      initContainers: [{name: proxy, restartPolicy: Always, resources: {requests: {cpu: 100m}}}]
      containers: [{name: chat, resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache, namespace: nlp}
spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, template: {spec: {}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: nlp}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old, namespace: nlp}
spec: {selector: {app: old}}
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: train, namespace: nlp}
spec: {entrypoint: x}
---
kind: PodDisruptionBudget
metadata: {name: chat, namespace: nlp, uid: u-5, resourceVersion: "7", labels: {app: chat},
  annotations: {podium.gpu/reason: shields}}
spec: {minAvailable: 1, selector: {matchLabels: {app: chat}}, unhealthyPodEvictionPolicy: AlwaysAllow}
status: {disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, disruptedPods: {chat-1: "x"}}
---
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: nlp}
spec: {minReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}}
---
kind: Pod
metadata: {name: chat-1, namespace: nlp, uid: u-6, labels: {app: chat, replica: "1"}, deletionTimestamp: "2026",
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: chat, uid: u-1, controller: true}]}
spec: {nodeName: rack7-a, priorityClassName: inference, containers: [{name: chat, resources: {limits: {nvidia.com/gpu: 1}}}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
kind: Pod
metadata: {name: chat-2, namespace: nlp, labels: {app: chat}}
spec: {nodeName: gone-node}
status: {phase: Failed}
---
kind: Pod
metadata: {name: chat-3}
)";

ClusterSnapshot Cluster() {
  Result<ClusterSnapshot> cluster = DecodeClusterFile("c.yaml", kCluster, kNow);
  EXPECT_TRUE(cluster) << cluster.error().message;
  return *cluster;
}

// Tables and waiting pods; NodeState has no comparison of its own.
void ExpectSame(const ClusterSnapshot& a, const ClusterSnapshot& b) {
  const auto same_pods = [](const PodList& x, const PodList& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) { return *p == *q; });
  };
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.namespaces, b.namespaces);
  EXPECT_EQ(a.quotas, b.quotas);
  EXPECT_EQ(a.budgets, b.budgets);
  EXPECT_EQ(a.workloads, b.workloads);
  EXPECT_EQ(a.autoscalers, b.autoscalers);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (const auto& row : a.nodes) {
    const NodeState* other = b.nodes.Find(row.key);
    ASSERT_NE(other, nullptr) << row.key;
    EXPECT_EQ(row.value.node, other->node);
    EXPECT_TRUE(same_pods(row.value.pods, other->pods)) << row.key;
  }
  EXPECT_TRUE(same_pods(a.waiting, b.waiting));
}

TEST(EncodeSnapshot, ReadsBackToAnEqualSnapshot) {
  const ClusterSnapshot cluster = Cluster();
  EXPECT_EQ(cluster.workloads.size(), 5U);
  EXPECT_EQ(cluster.waiting.size(), 2U);
  const std::string file = EncodeSnapshot(cluster);
  const Result<ClusterSnapshot> again = DecodeClusterFile("s.json", file, kNow);
  ASSERT_TRUE(again) << again.error().message;
  ExpectSame(cluster, *again);
  EXPECT_EQ(EncodeSnapshot(*again), file);
}

TEST(EncodeSnapshot, AnEmptyClusterIsAnEmptyList) {
  EXPECT_EQ(EncodeSnapshot({}), "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}\n");
}

TEST(EncodeSnapshot, WritesRecordedObjectsOfAnApiServer) {
  for (const std::string name : {"list-pods.json", "list-nodes.json", "list-pdbs.json", "list-namespaces.json"}) {
    std::ifstream file(std::string(PODIUM_TEST_DIR) + "/wire/data/apiserver/" + name);
    std::stringstream text;
    text << file.rdbuf();
    const Result<ClusterSnapshot> cluster = DecodeClusterFile(name, text.str(), kNow);
    ASSERT_TRUE(cluster) << cluster.error().message;
    const Result<ClusterSnapshot> again = DecodeClusterFile(name, EncodeSnapshot(*cluster), kNow);
    ASSERT_TRUE(again) << again.error().message;
    ExpectSame(*cluster, *again);
  }
}

TEST(EncodeSnapshot, ABigFileNeedsTheLargerLimit) {
  const std::string file = EncodeSnapshot(Cluster());
  EXPECT_FALSE(DecodeClusterFile("s.json", file, kNow, file.size() - 1));
  EXPECT_TRUE(DecodeClusterFile("s.json", file, kNow, file.size()));
}

TEST(RedactSnapshot, HidesNamesAndValues) {
  const std::string file = EncodeSnapshot(Cluster(), {.redact = true});
  for (const std::string_view hidden : {"nlp", "language", "rack7", "chat", "gone-node", "cache", "nightly", "train\"",
                                        "canary", "u-1", "u-5", "u-6", "proxy", "chat-runner"})
    EXPECT_EQ(file.find(hidden), std::string::npos) << hidden;
  for (const std::string_view kept : {"inference", "kube-system", "H100", "podium.gpu/workload-type\":\"interactive",
                                      "requests.nvidia.com/gpu", "\"replica\":\"1\"", "RayJob", "shields"})
    EXPECT_NE(file.find(kept), std::string::npos) << kept;
}

TEST(RedactSnapshot, ReferencesStillHold) {
  const ClusterSnapshot cluster = RedactSnapshot(Cluster());
  ASSERT_EQ(cluster.nodes.size(), 2U);
  const NodeState& node = cluster.nodes.begin()->value;
  EXPECT_EQ(node.node.labels.at("kubernetes.io/hostname"), node.node.name);
  ASSERT_EQ(node.pods.size(), 1U);
  const Pod& pod = *node.pods[0];
  EXPECT_EQ(*pod.node_name, node.node.name);
  const Namespace* home = cluster.namespaces.Find(*pod.namespace_name);
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(home->labels.at("kubernetes.io/metadata.name"), home->name);
  const OwnerReference& owner = **pod.controller;
  const Workload* workload = cluster.workloads.Find("Deployment.apps/" + home->name + '/' + owner.name);
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->uid, owner.uid);
  EXPECT_TRUE(Matches(*workload->selector, *pod.labels));
  const Pdb* budget = cluster.budgets.Find(home->name + '/' + owner.name);
  ASSERT_NE(budget, nullptr);
  EXPECT_TRUE(Matches(*budget->selector, *pod.labels));
  EXPECT_EQ(budget->disrupted_pods, std::vector<std::string>{pod.name});
  EXPECT_EQ(cluster.autoscalers.begin()->value.target_name, workload->name);
  EXPECT_EQ(cluster.quotas.begin()->key.substr(0, home->name.size() + 1), home->name + '/');
}

TEST(RedactSnapshot, GivesTheSamePseudonymsAgainInAlphabeticalOrder) {
  const ClusterSnapshot cluster = Cluster();
  EXPECT_EQ(EncodeSnapshot(cluster, {.redact = true}), EncodeSnapshot(cluster, {.redact = true}));
  const ClusterSnapshot redacted = RedactSnapshot(cluster);
  EXPECT_EQ(redacted.nodes.begin()->key, "node-02");  // of gone-node, rack7-a, rack7-b
  EXPECT_EQ(redacted.generation, cluster.generation);
  EXPECT_EQ(redacted.taken_at, kNow);
}

}  // namespace
}  // namespace podium
