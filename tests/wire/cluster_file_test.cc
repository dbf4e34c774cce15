#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/decode.h"

namespace podium {
namespace {

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'796'000'000));

constexpr std::string_view kCluster = R"(apiVersion: v1
kind: Namespace
metadata: {name: nlp-batch, labels: {team: nlp}}
---
apiVersion: v1
kind: List
items:
- kind: Node
  metadata: {name: gpu-a}
  status: {allocatable: {cpu: 32, nvidia.com/gpu: "4"}}
- kind: Pod
  metadata: {name: asr, namespace: nlp-batch, labels: {app: asr}}
  spec:
    nodeName: gpu-a
    priorityClassName: inference-batch
    priority: 1000
    containers:
    - name: w
      resources: {limits: {nvidia.com/gpu: 1}}
  status: {phase: Running}
- kind: PriorityClass
  metadata: {name: cluster-default}
  value: 100
  globalDefault: true
---
kind: ResourceQuota
metadata: {name: gpu}
spec: {hard: {requests.nvidia.com/gpu: 8}}
---
kind: PodDisruptionBudget
metadata: {name: chat, namespace: chat}
spec: {minAvailable: 50%, selector: {matchLabels: {app: chat}}}
)";

void ExpectCluster(const Result<ClusterSnapshot>& result) {
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->generation, 1U);
  EXPECT_EQ(result->taken_at, kNow);
  Table<Namespace> namespaces;
  namespaces.Put("nlp-batch", {"nlp-batch", {{"team", "nlp"}}});
  EXPECT_EQ(result->namespaces, namespaces);
  ASSERT_EQ(result->nodes.size(), 1U);
  const NodeState& node = *result->nodes.Find("gpu-a");
  EXPECT_EQ(node.node,
            (Node{.name = "gpu-a",
                  .allocatable = {{"cpu", Quantity::FromUnits(32)}, {"nvidia.com/gpu", Quantity::FromUnits(4)}}}));
  PodSpec spec;
  spec.trio = {"inference-batch", 1000, std::nullopt};
  spec.containers = {{"w", {}, {{"nvidia.com/gpu", Quantity::FromUnits(1)}}, false}};
  Pod asr;
  asr.name = "asr";
  asr.namespace_name = std::string("nlp-batch");
  asr.labels = Labels{{"app", "asr"}};
  asr.spec = spec;
  asr.node_name = std::string("gpu-a");
  asr.phase = PodPhase::kRunning;
  ASSERT_EQ(node.pods.size(), 1U);
  EXPECT_EQ(*node.pods[0], asr);
  Table<PriorityClass> classes;
  classes.Put("cluster-default", {"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority, true});
  EXPECT_EQ(result->classes, classes);
  Table<Quota> quotas;
  quotas.Put("default/gpu", {{{"requests.nvidia.com/gpu", Quantity::FromUnits(8)}}, {}, {}});
  EXPECT_EQ(result->quotas, quotas);
}

TEST(DecodeClusterFile, ReadsDocumentsAndLists) { ExpectCluster(DecodeClusterFile("c.yaml", kCluster, kNow)); }

TEST(DecodeClusterFile, ReadsJsonAsKubectlPrintsIt) {
  ExpectCluster(DecodeClusterFile("c.json", R"({"apiVersion":"v1","kind":"List","items":[
    {"kind":"NamespaceList","items":[{"metadata":{"name":"nlp-batch","labels":{"team":"nlp"},
        "annotations":{"note":"\ud83d\ude00"}}}]},
    {"kind":"Node","metadata":{"name":"gpu-a"},"status":{"allocatable":{"cpu":"32","nvidia.com/gpu":"4"}}},
    {"kind":"Pod","metadata":{"name":"asr","namespace":"nlp-batch","labels":{"app":"asr"}},
     "spec":{"nodeName":"gpu-a","priorityClassName":"inference-batch","priority":1000,
             "containers":[{"name":"w","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Running"}},
    {"kind":"PriorityClass","metadata":{"name":"cluster-default"},"value":100,"globalDefault":true},
    {"kind":"ResourceQuota","metadata":{"name":"gpu","namespace":"default"},"spec":{"hard":{"requests.nvidia.com/gpu":"8"}}},
    {"kind":"PodList","items":null}]})",
                                  kNow));
}

struct BadRow {
  std::string name;
  std::string text;
  std::string want;
};

TEST(DecodeClusterFile, TellsEveryProblemOnALineOfItsOwn) {
  const std::string allowed =
      "allowed are CronJob, DaemonSet, Deployment, HorizontalPodAutoscaler, Job, Namespace, Node, Pod, "
      "PodDisruptionBudget, PriorityClass, ReplicaSet, ReplicationController, ResourceQuota, StatefulSet, custom "
      "resources with a spec, and List";
  const BadRow rows[] = {
      {"empty", "# nothing\n", "c.yaml: no Kubernetes object in it; " + allowed},
      {"unknown kind", "kind: Service\nmetadata: {name: x}\n",
       "c.yaml:1:1: kind 'Service' does not belong in a cluster file; " + allowed},
      {"no kind", "metadata: {name: x}\n", "c.yaml:1:1: kind is missing or not a text; " + allowed},
      {"no object", "[1]", "c.yaml:1:1: this is no Kubernetes object: expected a mapping with a kind"},
      {"no name", "kind: Node\n---\nkind: Pod\nmetadata: {generateName: a-}\n",
       "c.yaml:1:1: /metadata/name: is missing; every object needs a name\n"
       "c.yaml:3:1: /metadata/name: is missing; every object needs a name"},
      {"same object twice, once without its namespace",
       "kind: Pod\nmetadata: {name: a}\n---\nkind: List\nitems:\n- kind: Pod\n  metadata: {name: a, namespace: "
       "default}\n",
       "c.yaml:4:1: /items/0: Pod 'default/a' is already written at c.yaml:1:1; remove one of the two"},
      {"wrong types, each told",
       "kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n  spec: {priority: high}\n- kind: Pod\n"
       "  metadata: {name: b}\n  status: {phase: 5}\n- kind: Node\n  metadata: {name: n1}\n"
       "  status: {allocatable: [1]}\n- kind: Node\n  metadata: {name: 7}\n- 5\n",
       "c.yaml:1:1: /items/0/spec/priority: found the string \"high\"; expected a whole number of 64 bits\n"
       "c.yaml:1:1: /items/1/status/phase: found the number 5; expected a string\n"
       "c.yaml:1:1: /items/2/status/allocatable: found an array; expected an object\n"
       "c.yaml:1:1: /items/3/metadata/name: found the number 7; expected a string\n"
       "c.yaml:1:1: /items/4: this is no Kubernetes object: expected a mapping with a kind"},
      {"budgets",
       "kind: PodDisruptionBudget\nmetadata: {name: a}\n---\nkind: PodDisruptionBudget\nmetadata: {name: b}\n"
       "spec: {minAvailable: 1.5}\n---\nkind: PodDisruptionBudget\nmetadata: {name: c}\nspec: {selector: app}\n",
       "c.yaml:1:1: /spec: is missing in a PodDisruptionBudget\n"
       "c.yaml:4:1: /spec/minAvailable: found the number 1.5; expected a whole number or a percentage\n"
       "c.yaml:8:1: /spec/selector: found the string \"app\"; expected an object"},
      {"items", "kind: List\nitems: {a: 1}\n", "c.yaml:1:1: /items: expected a sequence"},
      {"YAML problem", "kind: Node\nkind: Pod\nmetadata: {name: a}\n",
       "c.yaml:2:1: duplicate key 'kind': it is already written at line 1, column 1; remove one of the two"},
      {"broken JSON", "{\"kind\": \"List\",\n\"items\": [}\n", "c.yaml:2:11: a ']' or '}' without its opening bracket"},
  };
  for (const BadRow& row : rows) {
    const Result<ClusterSnapshot> result = DecodeClusterFile("c.yaml", row.text, kNow);
    ASSERT_FALSE(result) << row.name;
    EXPECT_EQ(result.error().message, row.want) << row.name;
    EXPECT_EQ(result.error().kind, ErrorKind::kInvalidInput) << row.name;
  }
}

TEST(DecodeClusterFile, KeepsWhatMakesPods) {
  const Result<ClusterSnapshot> cluster = DecodeClusterFile("c.yaml", R"(
kind: Deployment
metadata: {name: chat, namespace: ml}
spec: {replicas: 2}
---
kind: DeploymentList
items:
- metadata: {name: listed}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec: {minAvailable: 2}
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: train, namespace: ml}
spec: {entrypoint: x}
---
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: ml}
spec: {minReplicas: 3}
---
kind: PodDisruptionBudget
metadata: {name: chat}
spec: {minAvailable: 50%}
)",
                                                            kNow);
  ASSERT_TRUE(cluster) << cluster.error().message;
  std::vector<std::string> keys;
  for (const auto& row : cluster->workloads) keys.push_back(row.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"Deployment.apps/default/listed", "Deployment.apps/ml/chat",
                                            "Job.batch.volcano.sh/ml/train", "Job.batch/ml/train",
                                            "RayJob.ray.io/ml/train"}));
  EXPECT_EQ(cluster->workloads.Find("Deployment.apps/ml/chat")->replicas, 2);
  EXPECT_EQ(cluster->autoscalers.Find("ml/chat")->min_replicas, 3);
  EXPECT_EQ(cluster->budgets.Find("default/chat")->min_available, "50%");
}

TEST(DecodeClusterFile, ShowsTheFirstFiftyProblems) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "--- 1\n";
  const Result<ClusterSnapshot> result = DecodeClusterFile("c.yaml", text, kNow);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.ends_with("\nand 10 more problems")) << result.error().message;
}

}  // namespace
}  // namespace podium
