#include "admission/apiserver.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "admission/codec.h"

namespace podium {
namespace {

using Json = nlohmann::json;

PriorityClass Class(const std::string& name, std::int32_t value) {
  PriorityClass made;
  made.name = name;
  made.value = value;
  return made;
}

// The classes of a cluster with (or without) a global default.
ClusterSnapshot Cluster(const std::optional<std::string>& global_default) {
  ClusterSnapshot cluster;
  PriorityClass queue_jumper = Class("training-queue-jumper", 500000);
  queue_jumper.preemption_policy = PreemptionPolicy::kNever;
  for (PriorityClass each : {Class("cluster-default", 100), Class("inference-interactive", 1000000), queue_jumper}) {
    each.global_default = each.name == global_default;
    cluster.classes.Put(each.name, each);
  }
  return cluster;
}

struct ApiServer {
  Policy policy;
  ClusterSnapshot cluster = Cluster("cluster-default");

  [[nodiscard]] Result<std::string> Review(const Json& object) const {
    return AsAdmissionReview(object.dump(), "team-a", ClassView(policy, &cluster));
  }
  [[nodiscard]] Json Request(const Json& object) const {
    const Result<std::string> review = Review(object);
    return review ? Json::parse(*review)["request"] : Json(review.error().message);
  }
  [[nodiscard]] Result<std::string> Store(const Json& object) const {
    return AfterPriorityStep(object.dump(), ClassView(policy, &cluster));
  }
};

Json Pod(const Json& spec) {
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}}}, {"spec", spec}};
}

// --- the envelope ---------------------------------------------------------------------------------------------------

TEST(AsAdmissionReview, IsWhatAnApiServerWouldPost) {
  const Json object = {
      {"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", "chat"}}}, {"spec", {{"replicas", 3}}}};
  Json sent = object;
  sent["metadata"]["namespace"] = "team-a";
  const Json kind = {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}};
  const Json resource = {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}};
  const Json request = {{"uid", "a7c596b2-c1c6-ca11-c5da-76ef45151698"},
                        {"kind", kind},
                        {"resource", resource},
                        {"requestKind", kind},
                        {"requestResource", resource},
                        {"name", "chat"},
                        {"namespace", "team-a"},
                        {"operation", "CREATE"},
                        {"userInfo", {{"username", "podium-review"}, {"groups", Json::array()}}},
                        {"object", sent},
                        {"oldObject", nullptr},
                        {"dryRun", false},
                        {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}};
  const Result<std::string> review = ApiServer().Review(object);
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_EQ(Json::parse(*review),
            (Json{{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"request", request}}));
}

TEST(AsAdmissionReview, IsReadByTheDecoder) {
  const Result<AdmissionRequest> request = ReviewDecoder().Decode(*ApiServer().Review(Pod(Json::object())));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->name, "p");
  EXPECT_EQ(request->namespace_name, "team-a");
  EXPECT_EQ(request->user, "podium-review");
  ASSERT_TRUE(request->object);
  EXPECT_EQ(request->object->templates.at(0).spec.trio,
            (Trio{"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority}));
}

TEST(AsAdmissionReview, TheUidFollowsTheObject) {
  const ApiServer server;
  const Json uid = server.Request(Pod(Json::object()))["uid"];
  EXPECT_EQ(uid.get<std::string>().size(), 36U);
  EXPECT_EQ(server.Request(Pod(Json::object()))["uid"], uid);
  EXPECT_NE(server.Request(Pod({{"hostname", "x"}}))["uid"], uid);
}

struct Naming {
  std::string name;
  const char* api_version;
  const char* kind;
  const char* metadata;
  const char* resource;
  const char* request_name;       // null: absent
  const char* request_namespace;  // null: absent
};

class AsAdmissionReviewNaming : public ::testing::TestWithParam<Naming> {};

TEST_P(AsAdmissionReviewNaming, FollowsTheKind) {
  const Naming& row = GetParam();
  const Json object = {{"apiVersion", row.api_version}, {"kind", row.kind}, {"metadata", Json::parse(row.metadata)}};
  const Json request = ApiServer().Request(object);
  ASSERT_TRUE(request.is_object()) << request;
  const auto expected = [](const char* text) { return text == nullptr ? Json() : Json(text); };
  EXPECT_EQ(request["resource"]["resource"], row.resource);
  EXPECT_EQ(request.value("name", Json()), expected(row.request_name));
  EXPECT_EQ(request.value("namespace", Json()), expected(row.request_namespace));
  const bool namespaced = row.request_namespace != nullptr && std::string(row.kind) != "Namespace";
  EXPECT_EQ(request["object"]["metadata"].value("namespace", Json()),
            namespaced ? expected(row.request_namespace) : Json());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AsAdmissionReviewNaming,
    ::testing::Values(
        Naming{"Pod", "v1", "Pod", R"({"name": "a", "namespace": "b"})", "pods", "a", "b"},
        Naming{"GeneratedName", "v1", "Pod", R"({"generateName": "a-"})", "pods", nullptr, "team-a"},
        Naming{"NoMetadata", "batch/v1", "CronJob", "null", "cronjobs", nullptr, "team-a"},
        Naming{"EmptyNamespace", "v1", "ResourceQuota", R"({"name": "q", "namespace": ""})", "resourcequotas", "q",
               "team-a"},
        Naming{"RayJob", "ray.io/v1", "RayJob", R"({"name": "r"})", "rayjobs", "r", "team-a"},
        Naming{"NetworkPolicy", "networking.k8s.io/v1", "NetworkPolicy", R"({"name": "n"})", "networkpolicies", "n",
               "team-a"},
        Naming{"Ingress", "networking.k8s.io/v1", "Ingress", R"({"name": "i"})", "ingresses", "i", "team-a"},
        Naming{"Gateway", "gateway.networking.k8s.io/v1", "Gateway", R"({"name": "g"})", "gateways", "g", "team-a"},
        Naming{"Endpoints", "v1", "Endpoints", R"({"name": "e"})", "endpoints", "e", "team-a"},
        Naming{"Mailbox", "example.com/v1", "Mailbox", R"({"name": "m"})", "mailboxes", "m", "team-a"},
        Naming{"PriorityClass", "scheduling.k8s.io/v1", "PriorityClass", R"({"name": "c", "namespace": "x"})",
               "priorityclasses", "c", nullptr},
        Naming{"Node", "v1", "Node", R"({"name": "n"})", "nodes", "n", nullptr},
        Naming{"ClusterRole", "rbac.authorization.k8s.io/v1", "ClusterRole", R"({"name": "c"})", "clusterroles", "c",
               nullptr},
        Naming{"Namespace", "v1", "Namespace", R"({"name": "ai-lab"})", "namespaces", "ai-lab", "ai-lab"}),
    [](const auto& row) { return row.param.name; });

TEST(AsAdmissionReview, BadManifestsAreToldApart) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "the manifest is no valid JSON"},
      {"{", "the manifest is no valid JSON"},
      {"[]", "the manifest is no JSON object; expected an object with apiVersion and kind"},
      {R"({"kind": "Pod"})", "apiVersion is missing or no text; expected for example 'v1' or 'apps/v1'"},
      {R"({"apiVersion": 1, "kind": "Pod"})",
       "apiVersion is missing or no text; expected for example 'v1' or 'apps/v1'"},
      {R"({"apiVersion": "v1"})", "kind is missing or no text; expected for example 'Pod'"},
      {R"({"apiVersion": "a/b/c", "kind": "X"})", "apiVersion 'a/b/c' is none; expected 'version' or 'group/version'"},
      {R"({"apiVersion": "/v1", "kind": "X"})", "apiVersion '/v1' is none; expected 'version' or 'group/version'"},
      {R"({"apiVersion": "v1", "kind": "Pod", "metadata": 5})", "metadata is no object"},
      {R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": 5}})", "metadata.namespace is no text"},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": []})", "spec is no object"},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"priority": 1.5}})", "spec.priority is no whole number"},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"priorityClassName": 5}})", "spec.priorityClassName is no text"},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"preemptionPolicy": 5}})", "spec.preemptionPolicy is no text"},
      {std::string(200'000, '[') + std::string(200'000, ']'), "the manifest is nested more than 128 levels deep"},
  };
  const ApiServer server;
  for (const auto& [manifest, message] : rows) {
    const Result<std::string> review = AsAdmissionReview(manifest, "team-a", ClassView(server.policy, &server.cluster));
    ASSERT_FALSE(review) << manifest.substr(0, 80);
    EXPECT_EQ(review.error(), (Error{ErrorKind::kInvalidInput, message}));
  }
}

// --- defaults -------------------------------------------------------------------------------------------------------

TEST(AsAdmissionReview, LimitsBecomeRequestsOnPodsOfEveryContainerKind) {
  const Json limited = {{"name", "c"}, {"resources", {{"limits", {{"cpu", "2"}, {"nvidia.com/gpu", 1}}}}}};
  Json partly = limited;
  partly["resources"]["requests"] = {{"cpu", "500m"}};
  const Json bare = {{"name", "d"}, {"resources", {{"requests", {{"cpu", "1"}}}}}};
  const Json spec = ApiServer().Request(
      Pod({{"containers", {limited, partly, bare, {{"name", "e"}}}}, {"initContainers", {limited}}}))["object"]["spec"];
  const Json all = {{"cpu", "2"}, {"nvidia.com/gpu", 1}};
  EXPECT_EQ(spec["containers"][0]["resources"]["requests"], all);
  EXPECT_EQ(spec["containers"][1]["resources"]["requests"], (Json{{"cpu", "500m"}, {"nvidia.com/gpu", 1}}));
  EXPECT_EQ(spec["containers"][2], bare);
  EXPECT_EQ(spec["containers"][3], (Json{{"name", "e"}}));
  EXPECT_EQ(spec["initContainers"][0]["resources"]["requests"], all);
}

TEST(AsAdmissionReview, TemplatesAreLeftAsTheyAreWritten) {
  const Json limited = {{"name", "c"}, {"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}};
  const Json spec = {{"template", {{"spec", {{"containers", {limited}}}}}}};
  const Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", "j"}}}, {"spec", spec}};
  EXPECT_EQ(ApiServer().Request(job)["object"]["spec"], spec);
}

// --- the Priority step ----------------------------------------------------------------------------------------------

struct PriorityStep {
  std::string name;
  const char* given;
  const char* stored;  // the three fields, or the API server's refusal
};

class AfterPriorityStepRows : public ::testing::TestWithParam<PriorityStep> {};

TEST_P(AfterPriorityStepRows, IsTheApiServers) {
  const Result<std::string> stored = ApiServer().Store(Pod(Json::parse(GetParam().given)));
  if (!stored) {
    EXPECT_EQ(stored.error(), (Error{ErrorKind::kInvalidInput, GetParam().stored}));
    return;
  }
  EXPECT_EQ(Json::parse(*stored), Pod(Json::parse(GetParam().stored)));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AfterPriorityStepRows,
    ::testing::Values(
        PriorityStep{"GlobalDefault", "{}",
                     R"({"priorityClassName": "cluster-default", "priority": 100,
                         "preemptionPolicy": "PreemptLowerPriority"})"},
        PriorityStep{"NullsAndEmptyNamesAreAbsent",
                     R"({"priorityClassName": "", "priority": null, "preemptionPolicy": null})",
                     R"({"priorityClassName": "cluster-default", "priority": 100,
                         "preemptionPolicy": "PreemptLowerPriority"})"},
        PriorityStep{"Named", R"({"priorityClassName": "training-queue-jumper"})",
                     R"({"priorityClassName": "training-queue-jumper", "priority": 500000,
                         "preemptionPolicy": "Never"})"},
        PriorityStep{"System", R"({"priorityClassName": "system-node-critical", "priority": 2000001000})",
                     R"({"priorityClassName": "system-node-critical", "priority": 2000001000,
                         "preemptionPolicy": "PreemptLowerPriority"})"},
        PriorityStep{"WrongNumber", R"({"priorityClassName": "inference-interactive", "priority": 100})",
                     R"(pods "p" is forbidden: the integer value of priority (100) must not be provided in pod spec; )"
                     "priority admission controller computed 1000000 from the given PriorityClass name"},
        PriorityStep{
            "WrongPolicy",
            R"({"priorityClassName": "training-queue-jumper", "preemptionPolicy": "PreemptLowerPriority"})",
            R"(pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided )"
            "in pod spec; priority admission controller computed Never from the given PriorityClass name"},
        PriorityStep{"UnknownClass", R"({"priorityClassName": "inference-realtime"})",
                     R"(pods "p" is forbidden: no PriorityClass with name inference-realtime was found)"}),
    [](const auto& row) { return row.param.name; });

TEST(AfterPriorityStep, WithoutAGlobalDefaultThePodGetsZeroAndNoName) {
  ApiServer server;
  server.cluster = Cluster(std::nullopt);
  EXPECT_EQ(Json::parse(*server.Store(Pod(Json::object()))),
            Pod({{"priority", 0}, {"preemptionPolicy", "PreemptLowerPriority"}}));
}

TEST(AfterPriorityStep, ARefusalNamesThePrefixOfAGeneratedName) {
  Json pod = Pod({{"priorityClassName", "none"}});
  pod["metadata"] = {{"generateName", "embed-"}};
  EXPECT_EQ(ApiServer().Store(pod).error().message,
            "pods \"embed-\" is forbidden: no PriorityClass with name none was found");
  pod.erase("metadata");
  EXPECT_EQ(ApiServer().Store(pod).error().message,
            "pods \"Unknown\" is forbidden: no PriorityClass with name none was found");
}

TEST(AfterPriorityStep, OtherKindsComeBackAsTheyAre) {
  const std::string quota = R"({ "kind":"ResourceQuota","apiVersion":"v1","spec":{"priority":1e2} })";
  const ApiServer server;
  EXPECT_EQ(*AfterPriorityStep(quota, ClassView(server.policy, &server.cluster)), quota);
}

}  // namespace
}  // namespace podium
