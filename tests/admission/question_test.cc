#include "admission/question.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "admission/codec.h"
#include "admission/replicas.h"
#include "admission/workloads.h"
#include "builders/policies.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using builders::ThreeTiers;

constexpr const char* kInteractive = "inference-interactive";

// The three tiers as a cluster's own classes.
ClusterSnapshot Cluster() {
  ClusterSnapshot cluster;
  for (const LadderClass& row : ThreeTiers().ladder) cluster.classes.Put(row.priority_class.name, row.priority_class);
  return cluster;
}

Result<ManifestQuestions> Ask(const Json& object) {
  const Policy policy = ThreeTiers();
  const ClusterSnapshot cluster = Cluster();
  return AskAbout(object.dump(), {.policy = policy, .snapshot = &cluster, .default_namespace = "chat"});
}

std::vector<PodQuestion> Questions(const Json& object) {
  const Result<ManifestQuestions> asked = Ask(object);
  EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
  return asked ? asked->questions : std::vector<PodQuestion>();
}

Json Container(int gpus) { return {{"name", "c"}, {"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}; }

Json Template(const std::string& workload_type, Json more = Json::object(), int gpus = 1) {
  more["containers"] = Json::array({Container(gpus)});
  Json made = {{"metadata", {{"labels", Json::object()}}}, {"spec", std::move(more)}};
  if (!workload_type.empty()) made["metadata"]["labels"]["podium.gpu/workload-type"] = workload_type;
  return made;
}

Json Object(const std::string& api_version, const std::string& kind, const Json& spec) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", "w"}}}, {"spec", spec}};
}

Toleration Lasting(const std::string& condition, const std::string& effect) {
  return {.key = "node.kubernetes.io/" + condition, .op = "Exists", .effect = effect};
}

const std::vector<Toleration> kGivenToAll = {Lasting("not-ready", "NoExecute"), Lasting("unreachable", "NoExecute")};

// --- the pod --------------------------------------------------------------------------------------------------------

TEST(QuestionsOf, APodIsAskedAboutAsItWillBeStored) {
  Json object = Template("interactive", {{"nodeSelector", {{"zone", "a"}}}, {"terminationGracePeriodSeconds", 5}});
  object["apiVersion"] = "v1";
  object["kind"] = "Pod";
  object["metadata"]["name"] = "chat-0";
  object["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "chat"}, {"controller", true}}});
  PodQuestion want;
  want.pod.name = "chat-0";
  want.pod.namespace_name = std::string("chat");
  want.pod.labels = Labels{{"podium.gpu/workload-type", "interactive"}};
  want.pod.controller = OwnerReference{"apps/v1", "ReplicaSet", "chat", true};
  PodSpec spec;
  spec.trio = {kInteractive, 1'000'000, PreemptionPolicy::kPreemptLowerPriority};
  const ResourceList gpus = {{"nvidia.com/gpu", Quantity::FromUnits(1)}};
  spec.containers = {{.name = "c", .requests = gpus, .limits = gpus}};
  want.pod.spec = spec;
  SchedulingSpec scheduling;
  scheduling.node_selector = {{"zone", "a"}};
  scheduling.grace_period_seconds = 5;
  scheduling.tolerations = kGivenToAll;
  want.pod.scheduling = scheduling;
  const std::vector<PodQuestion> questions = Questions(object);
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].path, "");
  EXPECT_EQ(questions[0].pod, want.pod);
  EXPECT_EQ(questions[0].replicas, 1);
}

TEST(QuestionsOf, ATemplatesPodsHaveTheClassAndTheLabelThatThePolicyGivesThem) {
  Json object = Object("apps/v1", "Deployment", {{"replicas", 3}, {"template", Template("")}});
  object["metadata"]["labels"] = {{"podium.gpu/workload-type", "interactive"}};
  const std::vector<PodQuestion> questions = Questions(object);
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].path, "/spec/template");
  EXPECT_EQ(questions[0].pod.name, "w");
  EXPECT_EQ(*questions[0].pod.namespace_name, "chat");
  EXPECT_EQ(*questions[0].pod.labels, (Labels{{"podium.gpu/workload-type", "interactive"}}));
  EXPECT_EQ(questions[0].pod.spec->trio, (Trio{kInteractive, 1'000'000, PreemptionPolicy::kPreemptLowerPriority}));
  EXPECT_EQ(questions[0].pod.spec->containers[0].requests, questions[0].pod.spec->containers[0].limits);
  EXPECT_EQ(questions[0].replicas, 3);
}

TEST(QuestionsOf, PodsOfACustomWorkloadAreGivenTheirClassLater) {
  const Json group = {{"replicas", 4}, {"numOfHosts", 2}, {"template", Template("interactive")}};
  const Json object =
      Object("ray.io/v1", "RayCluster",
             {{"headGroupSpec", {{"template", Template("")}}}, {"workerGroupSpecs", Json::array({group})}});
  const std::vector<PodQuestion> questions = Questions(object);
  ASSERT_EQ(questions.size(), 2U);
  EXPECT_EQ(questions[0].pod.spec->trio, (Trio{"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority}))
      << "the global default";
  EXPECT_EQ(questions[0].replicas, 1);
  EXPECT_EQ(questions[1].path, "/spec/workerGroupSpecs/0/template");
  EXPECT_EQ(questions[1].pod.spec->trio, (Trio{kInteractive, 1'000'000, PreemptionPolicy::kPreemptLowerPriority}));
  EXPECT_EQ(questions[1].replicas, 8);
}

TEST(QuestionsOf, ADaemonSetsPodsTolerateWhatItsControllerSays) {
  const Toleration own = {.key = "node.kubernetes.io/not-ready", .op = "Exists"};
  const Json written = Json::array({{{"key", own.key}, {"operator", "Exists"}}});
  const std::vector<PodQuestion> questions =
      Questions(Object("apps/v1", "DaemonSet", {{"template", Template("", {{"tolerations", written}})}}));
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_TRUE(questions[0].per_node);
  EXPECT_EQ(questions[0].pod.scheduling->tolerations,
            (std::vector<Toleration>{own, Lasting("disk-pressure", "NoSchedule"),
                                     Lasting("memory-pressure", "NoSchedule"), Lasting("pid-pressure", "NoSchedule"),
                                     Lasting("unschedulable", "NoSchedule"), Lasting("unreachable", "NoExecute")}));
}

TEST(QuestionsOf, AProtectedNamespaceIsSkippedByThePolicyAndAskedAboutAllTheSame) {
  Json object = Object("apps/v1", "Deployment", {{"template", Template("interactive")}});
  object["metadata"]["namespace"] = "kube-system";
  const Result<ManifestQuestions> asked = Ask(object);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->decision.skipped, SkipReason::kProtectedNamespace);
  ASSERT_EQ(asked->questions.size(), 1U);
  EXPECT_EQ(asked->questions[0].pod.spec->trio.class_name, "cluster-default") << "what the API server gives";
}

TEST(QuestionsOf, APodThatNamesItsNodeIsBound) {
  Json object = Object("v1", "Pod", Template("interactive", {{"nodeName", "gpu-1"}})["spec"]);
  const std::vector<PodQuestion> questions = Questions(object);
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(*questions[0].pod.node_name, "gpu-1");
}

TEST(QuestionsOf, TemplatesThatAnUpdateLeavesAsTheyWereAreNotAskedAbout) {
  const Json object = Object("apps/v1", "Deployment", {{"template", Template("interactive")}});
  Json request = {{"uid", "u"},          {"kind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}},
                  {"namespace", "chat"}, {"operation", "UPDATE"},
                  {"object", object},    {"oldObject", object}};
  const std::string review =
      Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}.dump();
  const Policy policy = ThreeTiers();
  const Result<AdmissionRequest> decoded = ReviewDecoder().Decode(review);
  ASSERT_TRUE(decoded);
  const Result<std::vector<PodQuestion>> questions =
      QuestionsOf(*decoded, Decide(*decoded, policy, nullptr, {}, {}), ClassView(policy, nullptr), review);
  ASSERT_TRUE(questions);
  EXPECT_TRUE(questions->empty());
}

TEST(AskAbout, SaysWhatIsWrongWithASelectorThatKubernetesRefuses) {
  const Json term = {{"topologyKey", "zone"},
                     {"labelSelector", {{"matchExpressions", Json::array({{{"key", "a"}, {"operator", "Near"}}})}}}};
  const Json affinity = {
      {"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({term})}}}};
  const Result<ManifestQuestions> asked =
      Ask(Object("apps/v1", "Deployment", {{"template", Template("", {{"affinity", affinity}})}}));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message.substr(0, 35), "/spec/template/spec/affinity/podAnt") << asked.error().message;
}

// A verdict on what Kubernetes will not take would be worth nothing.
TEST(AskAbout, SaysWhatKubernetesWillNotTake) {
  const auto pod_of = [](const Json& limits) {
    return Object("v1", "Pod", {{"containers", {{{"name", "main"}, {"resources", {{"limits", limits}}}}}}});
  };
  const auto replicas_of = [](const Json& replicas) {
    return Object("apps/v1", "Deployment", {{"replicas", replicas}, {"template", Template("", Json::object())}});
  };
  struct Row {
    const char* name;
    Json object;
    const char* want;
  };
  const Row rows[] = {
      {"fewer than no GPU", pod_of({{"nvidia.com/gpu", "-1"}}),
       "/spec/containers 'main' asks for -1 of nvidia.com/gpu; allowed: whole numbers from 0"},
      {"a part of a GPU", pod_of({{"nvidia.com/gpu", "500m"}}),
       "/spec/containers 'main' asks for 0.5 of nvidia.com/gpu; allowed: whole numbers from 0"},
      {"no container", Object("v1", "Pod", {{"containers", Json::array()}}),
       "/spec/containers is empty; a pod needs a container"},
      {"a text for a number", replicas_of("3"),
       "/spec/replicas is \"3\"; allowed: a whole number from 0 to 2147483647"},
      {"less than none", replicas_of(-5), "/spec/replicas is -5; allowed: a whole number from 0 to 2147483647"},
      {"too many", replicas_of(2'147'483'648),
       "/spec/replicas is 2147483648; allowed: a whole number from 0 to 2147483647"},
  };
  for (const Row& row : rows) {
    const Result<ManifestQuestions> asked = Ask(row.object);
    ASSERT_FALSE(asked) << row.name;
    EXPECT_EQ(asked.error().message, row.want) << row.name;
  }
  EXPECT_TRUE(Ask(pod_of({{"cpu", "1500m"}})));
}

TEST(AskAbout, RefusalsAreDecisions) {
  const Result<ManifestQuestions> by_api_server =
      Ask(Object("v1", "Pod", Template("", {{"priorityClassName", "gold"}})["spec"]));
  ASSERT_TRUE(by_api_server);
  EXPECT_EQ(by_api_server->decision.message, "pods \"w\" is forbidden: no PriorityClass with name gold was found");
  const Result<ManifestQuestions> by_policy =
      Ask(Object("apps/v1", "Deployment", {{"template", Template("batch", Json::object(), 2)}}));
  ASSERT_TRUE(by_policy);
  EXPECT_EQ(by_policy->decision.verdict, Verdict::kRefuse) << "two GPUs in a preemptible class";
  EXPECT_TRUE(by_policy->questions.empty());
}

// --- replicas -------------------------------------------------------------------------------------------------------

ReplicaCount CountOf(const GroupVersionKind& kind, const std::string& object, const std::string& path) {
  simdjson::dom::parser parser;
  return CountReplicas(kind, parser.parse(object).value(), path);
}

TEST(CountReplicas, ReadsEachKindAsItsControllerDoes) {
  constexpr Placing kGang = Placing::kAllOrNothing;
  const struct {
    const char* name;
    GroupVersionKind kind;
    std::string object;
    std::string path;
    ReplicaCount want;
  } rows[] = {
      {"Deployment", {"apps", "v1", "Deployment"}, R"({"spec":{"replicas":5}})", "/spec/template", {5}},
      {"default", {"apps", "v1", "StatefulSet"}, R"({"spec":{}})", "/spec/template", {1}},
      {"scaled to nothing", {"apps", "v1", "ReplicaSet"}, R"({"spec":{"replicas":0}})", "/spec/template", {0}},
      {"no number", {"apps", "v1", "Deployment"}, R"({"spec":{"replicas":"5"}})", "/spec/template", {1}},
      {"negative", {"apps", "v1", "Deployment"}, R"({"spec":{"replicas":-5}})", "/spec/template", {0}},
      {"Job", {"batch", "v1", "Job"}, R"({"spec":{"parallelism":8}})", "/spec/template", {8}},
      {"few completions",
       {"batch", "v1", "Job"},
       R"({"spec":{"parallelism":8,"completions":3}})",
       "/spec/template",
       {3}},
      {"CronJob",
       {"batch", "v1", "CronJob"},
       R"({"spec":{"jobTemplate":{"spec":{"parallelism":2}}}})",
       "/spec/jobTemplate/spec/template",
       {2}},
      {"JobSet",
       {"jobset.x-k8s.io", "v1alpha2", "JobSet"},
       R"({"spec":{"replicatedJobs":[{},{"replicas":4,"template":{"spec":{"parallelism":2}}}]}})",
       "/spec/replicatedJobs/1/template/spec/template",
       {8, false, kGang}},
      {"Ray workers start with their minimum",
       {"ray.io", "v1", "RayJob"},
       R"({"spec":{"rayClusterSpec":{"workerGroupSpecs":[{"minReplicas":3,"numOfHosts":4}]}}})",
       "/spec/rayClusterSpec/workerGroupSpecs/0/template",
       {12}},
      {"Ray submitter", {"ray.io", "v1", "RayJob"}, R"({"spec":{}})", "/spec/submitterPodTemplate", {1}},
      {"leaders",
       {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"},
       R"({"spec":{"replicas":2,"leaderWorkerTemplate":{"size":4,"leaderTemplate":{}}}})",
       "/spec/leaderWorkerTemplate/leaderTemplate",
       {2, false, kGang}},
      {"workers beside leaders",
       {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"},
       R"({"spec":{"replicas":2,"leaderWorkerTemplate":{"size":4,"leaderTemplate":{}}}})",
       "/spec/leaderWorkerTemplate/workerTemplate",
       {6, false, kGang}},
      {"workers only",
       {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"},
       R"({"spec":{"replicas":2,"leaderWorkerTemplate":{"size":4}}})",
       "/spec/leaderWorkerTemplate/workerTemplate",
       {8, false, kGang}},
      {"PyTorchJob",
       {"kubeflow.org", "v1", "PyTorchJob"},
       R"({"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":7}}}})",
       "/spec/pytorchReplicaSpecs/Worker/template",
       {7, false, kGang}},
      {"absurd counts do not overflow",
       {"jobset.x-k8s.io", "v1alpha2", "JobSet"},
       R"({"spec":{"replicatedJobs":[{"replicas":9000000000,"template":{"spec":{"parallelism":9000000000}}}]}})",
       "/spec/replicatedJobs/0/template/spec/template",
       {2'147'483'647, false, kGang}},
      {"DaemonSet", {"apps", "v1", "DaemonSet"}, R"({"spec":{}})", "/spec/template", {1, true}},
      {"unknown", {"example.org", "v1", "Thing"}, R"({"spec":{"replicas":3}})", "/spec/template", {1}},
  };
  for (const auto& row : rows) EXPECT_EQ(CountOf(row.kind, row.object, row.path), row.want) << row.name;
}

TEST(CountReplicas, KnowsEveryWorkloadKind) {
  for (const WorkloadKind& kind : WorkloadKinds())
    EXPECT_TRUE(HasReplicaRow(kind.group, kind.kind)) << kind.group << "/" << kind.kind;
}

}  // namespace
}  // namespace podium
