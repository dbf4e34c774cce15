#include "wire/snapshot_file.h"

#include <gtest/gtest.h>

#include <algorithm>
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
spec: {unschedulable: true, taints: [{key: team, value: language, effect: NoSchedule}]}
status: {allocatable: {cpu: 31500m, nvidia.com/gpu: 4}, declaredFeatures: [VolumeBindMountOptions]}
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
---
kind: Pod
metadata: {name: chat-4, namespace: nlp, deletionTimestamp: "2026-11-29T12:00:00+01:00"}
spec:
  schedulerName: volcano
  schedulingGates: [{name: example.com/quota}]
  tolerations: [{key: team, operator: Equal, value: language, effect: NoSchedule}]
  nodeSelector: {rack: rack7}
  terminationGracePeriodSeconds: 600
  hostNetwork: true
  hostUsers: false
  volumes: [{name: weights, persistentVolumeClaim: {claimName: w}}, {name: scratch, emptyDir: {}}]
  resourceClaims: [{name: nic}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: rack, operator: In, values: [rack7]}, {key: mem, operator: Gt, values: ["40"]}]
          matchFields: [{key: metadata.name, operator: In, values: [rack7-a]}]
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {labelSelector: {matchLabels: {app: chat}}, namespaceSelector: {}, topologyKey: rack}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [nlp], topologyKey: kubernetes.io/hostname}]
  topologySpreadConstraints:
  - {maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: chat}},
     minDomains: 3, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, matchLabelKeys: [replica]}
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
  initContainers: [{name: proxy, restartPolicy: Always, ports: [{containerPort: 1, hostPort: 81}]}]
  containers:
  - name: chat
    resources: {requests: {cpu: 2}}
    ports: [{containerPort: 80, hostIP: 10.0.0.1, protocol: UDP}]
    restartPolicyRules: [{action: RestartAllContainers}]
    volumeMounts: [{name: weights, bindMountOptions: [ro]}]
status:
  phase: Running
  startTime: "2026-11-29T10:00:00Z"
  nominatedNodeName: rack7-a
  conditions:
  - {type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}
  - {type: PodResizePending, status: "True", reason: Deferred}
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: "0/2 nodes are available: 2 cannot reach the cache."}
  containerStatuses:
  - {name: chat, resources: {requests: {cpu: 1}}, allocatedResources: {cpu: 1}}
  - {name: proxy, resources: {requests: {}}, allocatedResources: {}}
  resources: {}
  allocatedResources: {}
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
  EXPECT_EQ(cluster.waiting.size(), 3U);
  const std::string file = EncodeSnapshot(cluster);
  const Result<ClusterSnapshot> again = DecodeClusterFile("s.json", file, kNow);
  ASSERT_TRUE(again) << again.error().message;
  ExpectSame(cluster, *again);
  EXPECT_EQ(EncodeSnapshot(*again), file);
}

// The pod chat-4 as the scheduler reads it.
TEST(EncodeSnapshot, TheClusterHoldsWhatTheSchedulerReads) {
  const ClusterSnapshot cluster = Cluster();
  const auto found = std::find_if(cluster.waiting.begin(), cluster.waiting.end(),
                                  [](const auto& pod) { return pod->name == "chat-4"; });
  ASSERT_NE(found, cluster.waiting.end());
  SchedulingSpec want;
  want.scheduler_name = "volcano";
  want.gates = {"example.com/quota"};
  want.tolerations = {{"team", "Equal", "language", "NoSchedule"}};
  want.node_selector = {{"rack", "rack7"}};
  want.node_affinity = NodeSelector{{{{{"rack", NodeSelectorOp::kIn, {"rack7"}}, {"mem", NodeSelectorOp::kGt, {"40"}}},
                                      {{"metadata.name", NodeSelectorOp::kIn, {"rack7-a"}}}}}};
  const LabelSelector chat = {{{"app", "chat"}}, {}};
  want.pod_affinity = {{chat, {}, LabelSelector{}, "rack"}};
  want.pod_anti_affinity = {{std::nullopt, {"nlp"}, std::nullopt, "kubernetes.io/hostname"}};
  want.spread = {{2, "rack", chat, 3, NodeInclusion::kIgnore, NodeInclusion::kHonor, {"replica"}}};
  want.host_ports = {{"10.0.0.1", "UDP", 80}, {"0.0.0.0", "TCP", 81}};
  want.needs = {true, true, true};
  want.grace_period_seconds = 600;
  want.volumes = {"weights"};
  want.resource_claims = {"nic"};
  const Pod& pod = **found;
  EXPECT_TRUE(*pod.scheduling == want);
  SchedulingStatus standing;
  standing.nominated_node = "rack7-a";
  standing.deletion_time = TimePoint(std::chrono::seconds(1'795'950'000));
  standing.preempted_by_scheduler = true;
  standing.unschedulable = "0/2 nodes are available: 2 cannot reach the cache.";
  const ResourceList one = {{"cpu", Quantity::FromUnits(1)}};
  standing.containers = {{"chat", {true, one, one}}};  // what the proxy reports is what its spec says
  standing.pod = {true, std::nullopt, ResourceList{}};
  EXPECT_TRUE(*pod.standing == standing);
  EXPECT_EQ(pod.start_time, TimePoint(std::chrono::seconds(1'795'946'400)));
  const Node& node = cluster.nodes.begin()->value.node;
  EXPECT_EQ(node.taints, (std::vector<Taint>{{"team", "language", "NoSchedule"}}));
  EXPECT_EQ(node.declared_features, std::vector<std::string>{"VolumeBindMountOptions"});
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
                                        "canary", "u-1", "u-5", "u-6", "proxy", "chat-runner", "weights", "\"nic\""})
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
