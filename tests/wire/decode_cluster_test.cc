#include "wire/decode_cluster.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::int64_t kFour = 4;

// Keeps the parser that the element lives in.
class Json {
 public:
  explicit Json(std::string_view text) { element_ = parser_.parse(text.data(), text.size()).value(); }
  [[nodiscard]] JsonElement operator*() const { return element_; }

 private:
  simdjson::dom::parser parser_;
  JsonElement element_;
};

std::string ReadTestFile(const std::string& name) {
  std::ifstream file(std::string(PODIUM_TEST_DIR) + "/wire/data/apiserver/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(DecodePodObject, ReadsWhatIsBeyondATemplate) {
  const Json json(R"({"metadata":{"name":"chat-1","namespace":"ml","uid":"u-1","labels":{"app":"chat"},
    "deletionTimestamp":"2026-11-29T12:00:00Z","ownerReferences":[
      {"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u-9"},
      {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"chat","uid":"u-2","controller":true}]},
    "spec":{"nodeName":"gpu-a","priorityClassName":"high","priority":7,"containers":[
      {"name":"c","resources":{"requests":{"nvidia.com/gpu":"4"}}}]},
    "status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True"},
      {"type":"Ready","status":"True","lastProbeTime":null}]}})");
  Pod want;
  want.name = "chat-1";
  want.namespace_name = std::string("ml");
  want.uid = "u-1";
  want.labels = Labels{{"app", "chat"}};
  want.controller = OwnerReference{"apps/v1", "ReplicaSet", "chat", true, "u-2"};
  PodSpec spec;
  spec.trio = {"high", 7, std::nullopt};
  spec.containers = {{"c", {{"nvidia.com/gpu", Quantity::FromUnits(kFour)}}, {}, false}};
  want.spec = spec;
  want.node_name = std::string("gpu-a");
  want.phase = PodPhase::kRunning;
  want.ready = true;
  want.deleting = true;
  want.standing = SchedulingStatus{.deletion_time = *ParseDate("2026-11-29") + std::chrono::hours(12)};
  const Result<Pod> pod = DecodePodObject(*json, "");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(*pod, want);
}

TEST(DecodePodObject, ReadyIsTheConditionAndNothingElse) {
  struct Row {
    std::string conditions;
    bool ready;
  };
  const Row rows[] = {
      {R"([])", false},
      {R"(null)", false},
      {R"([{"type":"Ready","status":"True"}])", true},
      {R"([{"status":"True","type":"Ready"}])", true},
      {R"([{"type":"Ready","status":"False"}])", false},
      {R"([{"type":"Ready","status":"Unknown"}])", false},
      {R"([{"type":"ContainersReady","status":"True"}])", false},
      {R"([{"type":"Ready","status":"False"},{"type":"Initialized","status":"True"}])", false},
  };
  for (const Row& row : rows) {
    const Json json(R"({"metadata":{"name":"a"},"status":{"conditions":)" + row.conditions + "}}");
    const Result<Pod> pod = DecodePodObject(*json, "");
    ASSERT_TRUE(pod) << pod.error().message;
    EXPECT_EQ(pod->ready, row.ready) << row.conditions;
  }
}

TEST(DecodePodObject, WhyItIsNotBoundIsTheSchedulersOwnText) {
  struct Row {
    std::string conditions;
    std::string unschedulable;
  };
  const Row rows[] = {
      {R"([{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/4 nodes"}])", "0/4 nodes"},
      {R"([{"message":"0/4 nodes","reason":"Unschedulable","status":"False","type":"PodScheduled"}])", "0/4 nodes"},
      {R"([{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"gated"}])", ""},
      {R"([{"type":"PodScheduled","status":"False","reason":"SchedulerError","message":"no"}])", ""},
      {R"([{"type":"PodScheduled","status":"True","reason":"Unschedulable","message":"0/4 nodes"}])", ""},
      {R"([{"type":"Ready","status":"False","reason":"Unschedulable","message":"0/4 nodes"}])", ""},
      {R"([{"type":"PodScheduled","status":"True"},
           {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/4 nodes"}])",
       ""},
  };
  for (const Row& row : rows) {
    const Json json(R"({"metadata":{"name":"a"},"status":{"conditions":)" + row.conditions + "}}");
    const Result<Pod> pod = DecodePodObject(*json, "");
    ASSERT_TRUE(pod) << pod.error().message;
    EXPECT_EQ(pod->standing->unschedulable, row.unschedulable) << row.conditions;
  }
}

TEST(DecodePodObject, ReadsAVictimAsTheApiServerReturnsIt) {
  const std::string text = ReadTestFile("pod-victim-terminating.json");
  const Json json(text);
  const Result<Pod> pod = DecodePodObject(*json, "");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_TRUE(pod->deleting);
  EXPECT_FALSE(pod->uid.empty());
  EXPECT_EQ(pod->spec->containers.at(0).requests.at("nvidia.com/gpu"), Quantity::FromUnits(1));
}

TEST(DecodeNode, ReadsLabelsAllocatableAndCordon) {
  const Json json(R"({"metadata":{"name":"gpu-a","labels":{"zone":"a"}},"spec":{"unschedulable":true},
    "status":{"capacity":{"cpu":"9"},"allocatable":{"nvidia.com/gpu":"4"}}})");
  const Result<Node> node = DecodeNode(*json, "");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(*node, (Node{.name = "gpu-a",
                         .labels = {{"zone", "a"}},
                         .allocatable = {{"nvidia.com/gpu", Quantity::FromUnits(kFour)}},
                         .unschedulable = true}));
}

TEST(DecodePdb, ReadsSpecStatusAndOwnAnnotations) {
  const Json json(R"({"metadata":{"name":"chat","namespace":"ml","uid":"u-1","resourceVersion":"77",
      "labels":{"app":"chat"},"annotations":{"podium.gpu/reason":"shields","team":"nlp"},
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"chat","uid":"u-2"}]},
    "spec":{"minAvailable":1,"maxUnavailable":"25%","unhealthyPodEvictionPolicy":"AlwaysAllow",
      "selector":{"matchLabels":{"app":"chat"},"matchExpressions":[
        {"key":"tier","operator":"NotIn","values":["canary"]},{"key":"zone","operator":"Exists"}]}},
    "status":{"disruptionsAllowed":1,"currentHealthy":4,"desiredHealthy":3,"expectedPods":4,
      "disruptedPods":{"chat-2":"2026-11-29T12:00:00Z","chat-1":"2026-11-29T12:00:00Z"}}})");
  Pdb want;
  want.namespace_name = "ml";
  want.name = "chat";
  want.uid = "u-1";
  want.resource_version = "77";
  want.labels = {{"app", "chat"}};
  want.annotations = {{"podium.gpu/reason", "shields"}};
  want.owners = {{"apps/v1", "Deployment", "chat", false, "u-2"}};
  want.selector =
      LabelSelector{{{"app", "chat"}}, {{"tier", SelectorOp::kNotIn, {"canary"}}, {"zone", SelectorOp::kExists, {}}}};
  want.min_available = "1";
  want.max_unavailable = "25%";
  want.unhealthy_pod_eviction_policy = "AlwaysAllow";
  want.disruptions_allowed = 1;
  want.current_healthy = kFour;
  want.desired_healthy = 3;
  want.expected_pods = kFour;
  want.disrupted_pods = {"chat-1", "chat-2"};
  const Result<Pdb> pdb = DecodePdb(*json, "");
  ASSERT_TRUE(pdb) << pdb.error().message;
  EXPECT_EQ(*pdb, want);
}

TEST(DecodePdb, NoSelectorIsNotAnEmptyOne) {
  const Result<Pdb> none = DecodePdb(*Json(R"({"metadata":{"name":"a"},"spec":{"selector":null}})"), "");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(none->selector, std::nullopt);
  const Result<Pdb> empty = DecodePdb(*Json(R"({"metadata":{"name":"a"},"spec":{"selector":{}}})"), "");
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->selector, LabelSelector{});
}

TEST(DecodeAutoscaler, MinReplicasIsOneWhenAbsent) {
  const Json json(R"({"metadata":{"name":"chat","namespace":"ml"},
    "spec":{"maxReplicas":9,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"chat"}}})");
  const Result<Autoscaler> autoscaler = DecodeAutoscaler(*json, "");
  ASSERT_TRUE(autoscaler) << autoscaler.error().message;
  EXPECT_EQ(*autoscaler, (Autoscaler{"ml", "chat", "apps/v1", "Deployment", "chat", 1}));
}

// A template with the label app=x and one container "c".
constexpr std::string_view kTemplate =
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c"}]}})";

PodTemplate Template(const std::string& path) {
  PodTemplate pod_template;
  pod_template.path = path;
  pod_template.has_metadata = true;
  pod_template.metadata.labels = {{"app", "x"}};
  pod_template.metadata.has_labels = true;
  pod_template.spec.containers = {{"c", {}, {}, false}};
  return pod_template;
}

TEST(DecodeWorkload, ReadsEachKindAsItsApiDefinesIt) {
  struct Row {
    std::string api_version;
    std::string kind;
    std::string spec;  // beside the template
    std::optional<std::int64_t> replicas;
    std::optional<LabelSelector> selector;
    std::optional<std::string> max_unavailable;
  };
  const LabelSelector app{{{"app", "x"}}, {}};
  const std::string selector = R"("selector":{"matchLabels":{"app":"x"}},)";
  const Row rows[] = {
      {"apps/v1", "Deployment", selector + R"("replicas":4,"strategy":{"rollingUpdate":{"maxUnavailable":"25%"}},)",
       kFour, app, "25%"},
      {"apps/v1", "Deployment", selector + R"("strategy":{"type":"Recreate","rollingUpdate":null},)", 1, app, {}},
      {"apps/v1", "StatefulSet", selector + R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":2}},)", 1, app, "2"},
      {"apps/v1", "StatefulSet", selector + R"("replicas":0,)", 0, app, {}},
      {"apps/v1", "ReplicaSet", selector, 1, app, {}},
      {"apps/v1", "DaemonSet", selector + R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":2}},)", {}, app, {}},
      {"batch/v1", "Job", selector + R"("parallelism":4,)", {}, app, {}},
      {"v1", "ReplicationController", R"("selector":{"app":"x"},)", 1, app, {}},
      {"v1", "ReplicationController", "", 1, app, {}},
      {"argoproj.io/v1alpha1", "Rollout", selector + R"("replicas":4,)", kFour, app, {}},
      {"serving.example.com/v1", "Model", R"("selector":{"app":"x"},)", {}, {}, {}},
      {"example.com/v1", "Deployment", selector, {}, app, {}},
      {"apps/v1", "ReplicationController", selector, {}, app, {}},
  };
  for (const Row& row : rows) {
    const Json json(R"({"apiVersion":")" + row.api_version + R"(","kind":")" + row.kind +
                    R"(","metadata":{"name":"a","namespace":"ml","uid":"u-1","labels":{"team":"t"}},"spec":{)" +
                    row.spec + std::string(kTemplate) + "}}");
    Workload want;
    want.api_version = row.api_version;
    want.kind = row.kind;
    want.namespace_name = "ml";
    want.name = "a";
    want.uid = "u-1";
    want.labels = {{"team", "t"}};
    want.replicas = row.replicas;
    want.selector = row.selector;
    want.pod_template = Template("/spec/template");
    want.rollout_max_unavailable = row.max_unavailable;
    const Result<Workload> workload = DecodeWorkload(*json, "", {});
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_EQ(*workload, want) << row.kind << ' ' << row.spec;
  }
}

TEST(DecodeWorkload, ACronJobsTemplateIsDeeper) {
  const Json json(R"({"metadata":{"name":"a"},"spec":{"jobTemplate":{"spec":{)" + std::string(kTemplate) + "}}}}");
  const Result<Workload> workload = DecodeWorkload(*json, "/items/0", {"batch/v1", "CronJob"});
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->kind, "CronJob");
  EXPECT_EQ(workload->api_version, "batch/v1");
  EXPECT_EQ(*workload->pod_template, Template("/spec/jobTemplate/spec/template"));
  EXPECT_EQ(workload->selector, std::nullopt);
}

using Decoder = Status (*)(JsonElement);

template <auto Function>
Status Try(JsonElement json) {
  const auto result = Function(json, "/items/3");
  return result ? Status() : Status(result.error());
}

Result<Workload> AsDeployment(JsonElement json, std::string_view pointer) {
  return DecodeWorkload(json, pointer, {"apps/v1", "Deployment"});
}

TEST(DecodeCluster, WrongTypesAreErrorsWithTheirPointer) {
  struct Row {
    Decoder decode;
    std::string json;
    std::string want;
  };
  const std::string name = R"("metadata":{"name":"a"})";
  const std::string no_name = "/items/3/metadata/name: is missing; every object needs a name";
  const std::string operators = R"("In", "NotIn", "Exists" or "DoesNotExist")";
  const std::string requirement =
      "/items/3/matchExpressions/0: found an object; expected an operator, with values for In and NotIn and without "
      "for "
      "the others";
  const Row rows[] = {
      {Try<DecodePodObject>, "{}", no_name},
      {Try<DecodePodObject>, R"({"metadata":null})", no_name},
      {Try<DecodePodObject>, R"({"metadata":{"name":""}})", no_name},
      {Try<DecodePodObject>, R"({"metadata":{"name":"a","uid":5}})",
       "/items/3/metadata/uid: found the number 5; expected a string"},
      {Try<DecodePodObject>, "{" + name + R"(,"spec":{"nodeName":[]}})",
       "/items/3/spec/nodeName: found an array; expected a string"},
      {Try<DecodePodObject>, "{" + name + R"(,"spec":{"priority":"x"}})",
       "/items/3/spec/priority: found the string \"x\"; expected a whole number of 64 bits"},
      {Try<DecodePodObject>, "{" + name + R"(,"status":{"conditions":[{"type":1}]}})",
       "/items/3/status/conditions/0/type: found the number 1; expected a string"},
      {Try<DecodePodObject>, "7", "/items/3: found the number 7; expected an object"},
      {Try<DecodeNode>, "{}", no_name},
      {Try<DecodeNode>, R"({"metadata":{"name":"a/b"}})", "/items/3/metadata: found 'a/b'; no name has a '/' in it"},
      {Try<DecodeNode>, "{" + name + R"(,"spec":{"unschedulable":"yes"}})",
       "/items/3/spec/unschedulable: found the string \"yes\"; expected true or false"},
      {Try<DecodeNode>, "{" + name + R"(,"status":{"allocatable":{"cpu":true}}})",
       "/items/3/status/allocatable/cpu: found true; expected a quantity: a string or a number"},
      {Try<DecodeNamespace>, R"({"metadata":{"name":"a","labels":{"x":1}}})",
       "/items/3/metadata/labels/x: found the number 1; expected a string"},
      {Try<DecodePdb>, "{" + name + "}", "/items/3/spec: is missing in a PodDisruptionBudget"},
      {Try<DecodePdb>, "{" + name + R"(,"spec":{"minAvailable":"half"}})",
       "/items/3/spec/minAvailable: found the string \"half\"; expected a whole number or a percentage"},
      {Try<DecodePdb>, "{" + name + R"(,"spec":{"maxUnavailable":"1"}})",
       "/items/3/spec/maxUnavailable: found the string \"1\"; expected a whole number or a percentage"},
      {Try<DecodePdb>, "{" + name + R"(,"spec":{},"status":{"disruptionsAllowed":"1"}})",
       "/items/3/status/disruptionsAllowed: found the string \"1\"; expected a whole number of 64 bits"},
      {Try<DecodeAutoscaler>, "{" + name + R"(,"spec":{"scaleTargetRef":{"kind":false}}})",
       "/items/3/spec/scaleTargetRef/kind: found false; expected a string"},
      {Try<AsDeployment>, "{" + name + R"(,"spec":{"replicas":2.5}})",
       "/items/3/spec/replicas: found the number 2.5; expected a whole number of 64 bits"},
      {Try<AsDeployment>, "{" + name + R"(,"spec":{"template":{"spec":[]}}})",
       "/items/3/spec/template/spec: found an array; expected an object"},
      {Try<DecodeLabelSelector>, R"({"matchLabels":[]})", "/items/3/matchLabels: found an array; expected an object"},
      {Try<DecodeLabelSelector>, R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})",
       "/items/3/matchExpressions/0/operator: found the string \"Gt\"; expected " + operators},
      {Try<DecodeLabelSelector>, R"({"matchExpressions":[{"key":"a","operator":"In"}]})", requirement},
      {Try<DecodeLabelSelector>, R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["1"]}]})",
       requirement},
      {Try<DecodeLabelSelector>, R"({"matchExpressions":[{"key":"a","values":["1"]}]})", requirement},
  };
  for (const Row& row : rows) {
    const Json json(row.json);
    const Status status = row.decode(*json);
    ASSERT_FALSE(status) << row.json;
    EXPECT_EQ(status.error(), (Error{ErrorKind::kInvalidInput, row.want})) << row.json;
  }
}

TEST(DecodeObjectName, ReadsWhatADeletionNeeds) {
  const Json json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"ml"}})");
  const Result<ObjectName> name = DecodeObjectName(*json, "");
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, (ObjectName{{"apps/v1", "Deployment"}, "ml", "a"}));
}

}  // namespace
}  // namespace podium
