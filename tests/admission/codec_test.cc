#include "admission/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "wire/decode.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string ReadFixture(const std::string& name) {
  std::ifstream file(PODIUM_TEST_DIR "/conformance/admissionreview-1.36/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

Result<AdmissionRequest> Decode(const std::string& body) { return ReviewDecoder().Decode(body); }

std::string ErrorOf(const std::string& body) {
  const Result<AdmissionRequest> request = Decode(body);
  return request ? "decoded" : request.error().message;
}

Json MinimalReview() {
  return Json::parse(R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
      "uid": "u-1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE",
      "object": {"metadata": {"name": "a"}, "spec": {}}}})");
}

std::string With(const char* pointer, const Json& value) {
  Json review = MinimalReview();
  review[Json::json_pointer(pointer)] = value;
  return review.dump();
}

std::string Without(const char* parent, const char* key) {
  Json review = MinimalReview();
  review[Json::json_pointer(parent)].erase(key);
  return review.dump();
}

// A review of one object of any kind.
std::string ReviewOf(const Json& kind, const Json& object, const Json& old_object = nullptr) {
  Json review = MinimalReview();
  review["request"]["kind"] = kind;
  review["request"]["object"] = object;
  review["request"]["oldObject"] = old_object;
  if (!old_object.is_null()) review["request"]["operation"] = "UPDATE";
  return review.dump();
}

const Json kPodKind = {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}};
const Json kDeployment = {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}};
const Json kRayJob = {{"group", "ray.io"}, {"version", "v1"}, {"kind", "RayJob"}};
const Json kQuota = {{"group", ""}, {"version", "v1"}, {"kind", "ResourceQuota"}};
const Json kConfigMap = {{"group", ""}, {"version", "v1"}, {"kind", "ConfigMap"}};

// --- decoding -------------------------------------------------------------------------------------------------------

AdmissionRequest RecordedPod() {
  ObjectMeta metadata;
  metadata.generate_name = "chat-frontend-inference-5bf4965fdc-";
  metadata.namespace_name = "ai-lab";
  metadata.labels = {{"app", "chat"}, {"pod-template-hash", "5bf4965fdc"}, {"workload", "interactive-inference"}};
  metadata.owners = {{.api_version = "apps/v1",
                      .kind = "ReplicaSet",
                      .name = "chat-frontend-inference-5bf4965fdc",
                      .controller = true,
                      .uid = "b5acf313-9281-43c6-b0b1-e3bf9052358f"}};
  metadata.has_labels = true;

  PodSpec spec;
  spec.trio = {
      .class_name = "cluster-default", .priority = 100, .preemption_policy = PreemptionPolicy::kPreemptLowerPriority};
  const ResourceList one_gpu = {{"nvidia.com/gpu", Quantity::FromUnits(1)}};
  spec.containers = {{.name = "server", .requests = one_gpu, .limits = one_gpu}};

  AdmissionRequest request;
  request.uid = "af4dd3dd-5f76-44e0-b7a1-3a7461a0baea";
  request.kind = {.group = "", .version = "v1", .kind = "Pod"};
  request.resource = "pods";
  request.namespace_name = "ai-lab";
  request.operation = Operation::kCreate;
  request.user = "admin";
  request.groups = {"system:masters", "system:authenticated"};
  request.object = AdmissionObject{
      .metadata = metadata,
      .templates = {{.path = "", .has_metadata = true, .metadata = metadata, .spec = spec, .changed = true}},
      .quota = std::nullopt};
  return request;
}

bool SameRequest(const AdmissionRequest& a, const AdmissionRequest& b) {
  return a.uid == b.uid && a.kind == b.kind && a.resource == b.resource && a.sub_resource == b.sub_resource &&
         a.name == b.name && a.namespace_name == b.namespace_name && a.operation == b.operation && a.user == b.user &&
         a.groups == b.groups && a.dry_run == b.dry_run && a.object == b.object && a.old_object == b.old_object &&
         a.decode_error == b.decode_error;
}

TEST(DecodeReview, ReadsARecordedPodAsAWhole) {
  const Result<AdmissionRequest> request =
      Decode(ReadFixture("020-mutate-create-pod-chat-frontend-inference-5bf4965fdc.json"));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_TRUE(SameRequest(*request, RecordedPod()));
  EXPECT_EQ(request->DisplayName(), "chat-frontend-inference-5bf4965fdc-");
}

TEST(DecodeReview, OneDecoderReadsReviewAfterReview) {
  ReviewDecoder decoder;
  const std::string pod = ReadFixture("020-mutate-create-pod-chat-frontend-inference-5bf4965fdc.json");
  for (const std::string& other : {ReadFixture("037-mutate-update-deployment-chat-frontend-inference.json"),
                                   std::string("{"), std::string(kMaxJsonBytes - 1, ' ') + "{", std::string()}) {
    static_cast<void>(decoder.Decode(other));
    const Result<AdmissionRequest> request = decoder.Decode(pod);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_TRUE(SameRequest(*request, RecordedPod())) << "after " << other.substr(0, 40);
  }
}

struct BadBody {
  std::string name;
  std::string body;
  std::string message;
};

const std::vector<BadBody>& BadBodies() {
  static const std::vector<BadBody> rows = {
      {"Empty", "", "the body is not JSON: Empty: no JSON found"},
      {"NotJson", "<html>", "the body is not JSON: "},
      {"TrailingText", MinimalReview().dump() + "x", "the body is not JSON: "},
      {"ByteOrderMark", "\xEF\xBB\xBF" + MinimalReview().dump(), "the body is not JSON: "},
      {"InvalidUtf8", "{\"kind\": \"\xFF\"}", "the body is not JSON: The input is not valid UTF-8"},
      {"LoneSurrogate", R"({"kind": "\ud800"})", "the body is not JSON: "},
      {"ControlCharacter", "{\"kind\": \"a\nb\"}",
       "the body is not JSON: Within strings, some characters must be escaped"},
      {"HugeNumber", R"({"kind": 1e400})", "the body is not JSON: "},
      {"Array", "[]", "the document: found an array; expected an object"},
      {"OverTheByteLimit", std::string(kMaxJsonBytes + 1, ' '), "the body has 7340033 bytes; at most 7340032 are read"},
      {"NoKind", Without("", "kind"),
       "/kind: found ''; expected 'AdmissionReview'. This endpoint answers a kube-apiserver only"},
      {"OtherKind", With("/kind", "Pod"),
       "/kind: found 'Pod'; expected 'AdmissionReview'. This endpoint answers a kube-apiserver only"},
      {"KindOfAnotherType", With("/kind", 5), "/kind: found a number; expected a string"},
      {"V1Beta1", With("/apiVersion", "admission.k8s.io/v1beta1"),
       "/apiVersion: found 'admission.k8s.io/v1beta1'; supported: 'admission.k8s.io/v1'. Set admissionReviewVersions: "
       "[v1] "
       "in the webhook configuration"},
      {"NoRequest", Without("", "request"), "/request is missing; expected the request to decide on"},
      {"NullRequest", With("/request", nullptr), "/request is missing; expected the request to decide on"},
      {"RequestOfAnotherType", With("/request", "x"), "/request: found a string; expected an object"},
      {"NoUid", Without("/request", "uid"), "/request/uid: found ''; expected 1 to 128 printable ASCII characters"},
      {"LongUid", With("/request/uid", std::string(129, 'u')),
       "/request/uid: found '" + std::string(40, 'u') + "...'; expected 1 to 128 printable ASCII characters"},
      {"UidWithNewline", With("/request/uid", "a\nb"),
       "/request/uid: found 'a?b'; expected 1 to 128 printable ASCII characters"},
      {"UidOfAnotherType", With("/request/uid", Json::array()), "/request/uid: found an array; expected a string"},
      {"UidTwice", R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                       "request": {"uid": "a", "uid": "b"}})",
       "/request/uid is given twice; expected once"},
      {"OperationTwice", R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                             "request": {"uid": "a", "operation": "CREATE", "operation": "DELETE"}})",
       "/request/operation is given twice; expected once"},
      {"RequestTwice", R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {},
                           "request": null})",
       "/request is given twice; expected once"},
      {"NoOperation", Without("/request", "operation"),
       "/request/operation: found ''; allowed: CREATE, UPDATE, DELETE, CONNECT"},
      {"UnknownOperation", With("/request/operation", "create"),
       "/request/operation: found 'create'; allowed: CREATE, UPDATE, DELETE, CONNECT"},
      {"NoObjectKind", Without("/request", "kind"), "/request/kind/kind is missing; expected the kind of the object"},
      {"GroupOfAnotherType", With("/request/kind/group", true),
       "/request/kind/group: found a boolean; expected a string"},
      {"NameOfAnotherType", With("/request/name", 7), "/request/name: found a number; expected a string"},
      {"GroupsOfAnotherType", With("/request/userInfo", {{"groups", "a"}}),
       "/request/userInfo/groups: found a string; expected an array of strings"},
      {"GroupOfAnotherTypeInside", With("/request/userInfo", {{"groups", {"a", 1}}}),
       "/request/userInfo/groups: found a number; expected a string"},
      {"DryRunOfAnotherType", With("/request/dryRun", "true"), "/request/dryRun: found a string; expected a boolean"},
  };
  return rows;
}

class DecodeBadBody : public ::testing::TestWithParam<BadBody> {};

TEST_P(DecodeBadBody, IsInvalidInputAndSaysWhatIsWrong) {
  const Result<AdmissionRequest> request = Decode(GetParam().body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().kind, ErrorKind::kInvalidInput);
  EXPECT_EQ(request.error().message.substr(0, GetParam().message.size()), GetParam().message);
  // simdjson's own words follow "not JSON: "; every other message is ours from end to end.
  if (GetParam().message.find("not JSON") == std::string::npos) {
    EXPECT_EQ(request.error().message, GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, DecodeBadBody, ::testing::ValuesIn(BadBodies()),
                         [](const auto& row) { return row.param.name; });

TEST(DecodeReview, NestingIsAllowedUpToTheLimitAndNoFurther) {
  const auto nested = [](std::size_t levels) {
    std::string review = MinimalReview().dump();
    review.pop_back();
    return review + ",\"x\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  const std::string message = "the body is nested more than 128 levels deep";
  EXPECT_EQ(ErrorOf(nested(100)), "decoded");
  EXPECT_EQ(ErrorOf(nested(kMaxJsonDepth)), "decoded");
  EXPECT_EQ(ErrorOf(nested(kMaxJsonDepth + 1)), message);
  EXPECT_EQ(ErrorOf(nested(1000)), message);
  EXPECT_EQ(ErrorOf(nested(1'000'000)), message);
}

TEST(DecodeReview, IsTolerantOfEverythingItDoesNotNeed) {
  const AdmissionRequest plain = *Decode(MinimalReview().dump());
  for (const char* pointer : {"/request/userInfo", "/request/resource", "/request/subResource", "/request/name",
                              "/request/namespace", "/request/oldObject", "/request/dryRun", "/request/options",
                              "/request/userInfo/groups", "/request/userInfo/extra", "/response"}) {
    const Result<AdmissionRequest> request = Decode(With(pointer, nullptr));
    ASSERT_TRUE(request) << pointer << ": " << request.error().message;
    EXPECT_TRUE(SameRequest(*request, plain)) << pointer;
  }
  for (const char* pointer : {"/fromTheFuture", "/request/fromTheFuture", "/request/kind/fromTheFuture",
                              "/request/object/fromTheFuture", "/request/object/spec/fromTheFuture"}) {
    const Result<AdmissionRequest> request = Decode(With(pointer, {{"a", {1, 2.5, nullptr, "x"}}}));
    ASSERT_TRUE(request) << pointer << ": " << request.error().message;
    EXPECT_TRUE(SameRequest(*request, plain)) << pointer;
  }
}

TEST(DecodeReview, ReadsTheMatchedKindAndNotTheCalledOne) {
  Json review = MinimalReview();
  review["request"]["requestKind"] = {{"group", "extensions"}, {"version", "v1beta1"}, {"kind", "Deployment"}};
  const Result<AdmissionRequest> request = Decode(review.dump());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, (GroupVersionKind{"", "v1", "Pod"}));
}

TEST(DecodeReview, KeepsTextWithControlCharactersAsItIs) {
  const Result<AdmissionRequest> request =
      Decode(With("/request/userInfo", {{"username", "sam\n\x1b[31m\xF0\x9F\x92\xA5"}}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->user, "sam\n\x1b[31m\xF0\x9F\x92\xA5");
}

struct BadObject {
  std::string name;
  std::string body;
  std::string decode_error;
};

const Json& GoodTemplate() {
  static const Json pod = {{"metadata", {{"labels", {{"a", "b"}}}}}, {"spec", {{"priorityClassName", "x"}}}};
  return pod;
}

Json RayWorkers(const Json& groups) { return {{"spec", {{"rayClusterSpec", {{"workerGroupSpecs", groups}}}}}}; }

const std::vector<BadObject>& BadObjects() {
  static const std::vector<BadObject> rows = {
      {"NoObject", Without("/request", "object"), "the request has no object"},
      {"ObjectIsANumber", With("/request/object", 5), "the document: found a number; expected an object"},
      {"SpecOfAPodIsAString", With("/request/object/spec", "x"), "/spec: found the string \"x\"; expected an object"},
      {"PriorityIsAString", With("/request/object/spec/priority", "5"),
       "/spec/priority: found the string \"5\"; expected "},
      {"LabelsAreAnArray", With("/request/object/metadata/labels", {"a"}),
       "/metadata/labels: found an array; expected "},
      {"SpecOfADeploymentIsAString", ReviewOf(kDeployment, {{"spec", "x"}}),
       "/spec: found a string; expected an object"},
      {"TemplateIsAnArray", ReviewOf(kDeployment, {{"spec", {{"template", {1}}}}}),
       "/spec/template: found an array; expected an object"},
      {"WorkerGroupsAreANumber", ReviewOf(kRayJob, RayWorkers(3)),
       "/spec/rayClusterSpec/workerGroupSpecs: found a number; expected an array or an object"},
      {"SecondWorkerGroupIsAString", ReviewOf(kRayJob, RayWorkers({Json::object(), "x"})),
       "/spec/rayClusterSpec/workerGroupSpecs/1: found a string; expected an object"},
      {"QuotaHasNoQuantity", ReviewOf(kQuota, {{"spec", {{"hard", {{"requests.nvidia.com/gpu", "many"}}}}}}),
       "/spec/hard/requests.nvidia.com~1gpu"},
      {"OldObjectIsANumber", ReviewOf(kQuota, Json::object(), 5),
       "oldObject: the document: found a number; expected an object"},
  };
  return rows;
}

class DecodeBadObject : public ::testing::TestWithParam<BadObject> {};

TEST_P(DecodeBadObject, CanStillBeAnswered) {
  const Result<AdmissionRequest> request = Decode(GetParam().body);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->uid, "u-1");
  EXPECT_FALSE(request->object);
  EXPECT_FALSE(request->old_object);
  ASSERT_TRUE(request->decode_error);
  EXPECT_EQ(request->decode_error->substr(0, GetParam().decode_error.size()), GetParam().decode_error);
}

INSTANTIATE_TEST_SUITE_P(Rows, DecodeBadObject, ::testing::ValuesIn(BadObjects()),
                         [](const auto& row) { return row.param.name; });

TEST(DecodeReview, NoFaultOfAnUndecidedObjectHoldsTheRequestUp) {
  const Json broken = {{"metadata", {{"name", "a"}, {"labels", 5}}}, {"spec", "x"}};
  Json scale = Json::parse(With("/request/object", broken));
  scale["request"]["subResource"] = "scale";
  Json deleted = Json::parse(With("/request/oldObject", broken));
  deleted["request"]["operation"] = "DELETE";
  deleted["request"]["object"] = nullptr;
  for (const std::string& body : {scale.dump(), deleted.dump(), ReviewOf(kConfigMap, broken)}) {
    const Result<AdmissionRequest> request = Decode(body);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->decode_error, std::nullopt);
  }
}

// Custom resources may hold what no pod can: such an object must stay editable, and deletable.
TEST(DecodeReview, AnUnreadableTemplateThatStaysAsItWasIsNoError) {
  const Json broken = {{"template", {{"spec", {{"priority", "high"}}}}}};
  const Json stored = RayWorkers(Json::array({broken}));
  const Result<AdmissionRequest> request = Decode(ReviewOf(kRayJob, stored, stored));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->decode_error, std::nullopt);
  ASSERT_TRUE(request->object);
  ASSERT_THAT(request->object->templates, SizeIs(1));
  EXPECT_FALSE(request->object->templates[0].changed);
}

TEST(DecodeReview, TheOldObjectIsReadWhenTheNewOneCannotBe) {
  Json dying = RayWorkers(Json::array());
  dying["metadata"] = {{"deletionTimestamp", "2026-05-04T09:00:00Z"}};
  const Result<AdmissionRequest> request = Decode(ReviewOf(kRayJob, RayWorkers(5), dying));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_TRUE(request->decode_error);
  EXPECT_FALSE(request->object);
  ASSERT_TRUE(request->old_object);
  EXPECT_TRUE(request->old_object->metadata.deleting);
}

// --- pod templates --------------------------------------------------------------------------------------------------

std::vector<std::string> PathsOf(const std::string& body) {
  const Result<AdmissionRequest> request = Decode(body);
  if (!request || !request->object) return {"not decoded"};
  std::vector<std::string> paths;
  for (const PodTemplate& each : request->object->templates) paths.push_back(each.path);
  return paths;
}

TEST(PodTemplates, AreFoundBelowEveryStarInOrder) {
  const Json group = {{"template", GoodTemplate()}};
  Json ray = RayWorkers({group, Json::object(), {{"template", nullptr}}, group});
  ray["spec"]["rayClusterSpec"]["headGroupSpec"] = group;
  EXPECT_THAT(PathsOf(ReviewOf(kRayJob, ray)),
              ::testing::ElementsAre("/spec/rayClusterSpec/headGroupSpec/template",
                                     "/spec/rayClusterSpec/workerGroupSpecs/0/template",
                                     "/spec/rayClusterSpec/workerGroupSpecs/3/template"));
  const Json torch = {{"group", "kubeflow.org"}, {"version", "v1"}, {"kind", "PyTorchJob"}};
  const Json replicas = {{"spec", {{"pytorchReplicaSpecs", {{"Master", group}, {"a/b~c", group}}}}}};
  EXPECT_THAT(PathsOf(ReviewOf(torch, replicas)), ::testing::ElementsAre("/spec/pytorchReplicaSpecs/Master/template",
                                                                         "/spec/pytorchReplicaSpecs/a~1b~0c/template"));
}

TEST(PodTemplates, AbsentOnesAreNone) {
  EXPECT_THAT(PathsOf(ReviewOf(kDeployment, Json::object())), SizeIs(0));
  EXPECT_THAT(PathsOf(ReviewOf(kDeployment, {{"spec", nullptr}})), SizeIs(0));
  EXPECT_THAT(PathsOf(ReviewOf(kRayJob, RayWorkers(nullptr))), SizeIs(0));
  EXPECT_THAT(PathsOf(ReviewOf(kRayJob, RayWorkers(Json::array()))), SizeIs(0));
  EXPECT_THAT(PathsOf(ReviewOf(kConfigMap, {{"spec", {{"template", GoodTemplate()}}}})), SizeIs(0));
}

std::vector<bool> ChangedOf(const std::string& body) {
  const Result<AdmissionRequest> request = Decode(body);
  if (!request || !request->object) return {};
  std::vector<bool> changed;
  for (const PodTemplate& each : request->object->templates) changed.push_back(each.changed);
  return changed;
}

TEST(PodTemplates, AreChangedWhereTheOldObjectDiffers) {
  const auto deployment = [](const Json& pod, int replicas) -> Json {
    return {{"spec", {{"replicas", replicas}, {"template", pod}}}};
  };
  Json other = GoodTemplate();
  other["spec"]["containers"] = Json::array({{{"name", "c"}, {"image", "b"}}});
  EXPECT_EQ(ChangedOf(ReviewOf(kDeployment, deployment(GoodTemplate(), 3))), std::vector<bool>{true}) << "CREATE";
  EXPECT_EQ(ChangedOf(ReviewOf(kDeployment, deployment(GoodTemplate(), 3), deployment(GoodTemplate(), 1))),
            std::vector<bool>{false});
  EXPECT_EQ(ChangedOf(ReviewOf(kDeployment, deployment(other, 1), deployment(GoodTemplate(), 1))),
            std::vector<bool>{true})
      << "a field Podium does not read counts too";
  EXPECT_EQ(ChangedOf(ReviewOf(kDeployment, deployment(GoodTemplate(), 1), Json::object())), std::vector<bool>{true});
  const Json group = {{"template", GoodTemplate()}};
  EXPECT_EQ(ChangedOf(ReviewOf(kRayJob, RayWorkers({group, group}), RayWorkers(Json::array({group})))),
            (std::vector<bool>{false, true}));
}

TEST(DecodeReview, ReadsOldQuotaAndMetadataAndNoOldTemplates) {
  const Json quota = {{"metadata", {{"name", "q"}, {"deletionTimestamp", "2026-05-04T09:00:00Z"}}},
                      {"spec", {{"hard", {{"requests.nvidia.com/gpu", "8"}}}}}};
  const Result<AdmissionRequest> update = Decode(ReviewOf(kQuota, Json::object(), quota));
  ASSERT_TRUE(update && update->old_object);
  EXPECT_TRUE(update->old_object->metadata.deleting);
  ASSERT_TRUE(update->old_object->quota);
  EXPECT_EQ(update->old_object->quota->hard, (ResourceList{{"requests.nvidia.com/gpu", Quantity::FromUnits(8)}}));
  const Json pod = {{"spec", {{"template", GoodTemplate()}}}};
  EXPECT_THAT(Decode(ReviewOf(kDeployment, pod, pod))->old_object->templates, SizeIs(0));
}

TEST(DecodeReview, AReviewOfTheFullSizeIsRead) {
  Json review = Json::parse(With("/request/object/metadata/annotations", {{"big", ""}}));
  review["request"]["object"]["metadata"]["annotations"]["big"] =
      std::string(kMaxJsonBytes - review.dump().size(), 'x');
  const std::string body = review.dump();
  ASSERT_EQ(body.size(), kMaxJsonBytes);
  EXPECT_EQ(ErrorOf(body), "decoded");
}

// --- encoding -------------------------------------------------------------------------------------------------------

Decision Injected() {
  Decision decision;
  decision.request_uid = "u-1";
  decision.policy_name = "gpu-tiers";
  decision.policy_revision = "abc123";
  decision.templates = {{.path = "",
                         .classification = {"batch", ClassificationSource::kLabel},
                         .gpus = {},
                         .before = {},
                         .after = {.class_name = "inference-batch", .priority = 1000, .preemption_policy = {}}}};
  decision.edits = {{.path = "/spec/priorityClassName",
                     .before = std::nullopt,
                     .after = "inference-batch",
                     .missing_parent = "",
                     .rule = "inject-priority-class",
                     .reason = ""}};
  return decision;
}

Decision Refused(int code) {
  Decision decision = Injected();
  decision.verdict = Verdict::kRefuse;
  decision.code = code;
  decision.message = "no \"2\" GPUs\nhere";
  return decision;
}

// base64 of [{"op":"add","path":"/spec/priorityClassName","value":"inference-batch"}]
constexpr const char* kPatch =
    "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvcHJpb3JpdHlDbGFzc05hbWUiLCJ2YWx1ZSI6ImluZmVyZW5jZS1iYXRjaCJ9XQ==";

Json Response(const Json& response) {
  return {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", response}};
}

const Json kAnnotations = {
    {"workload-type", "batch"}, {"priority-class", "inference-batch"}, {"policy-revision", "abc123"}};

TEST(EncodeReview, CarriesThePatchOnlyWhereItIsAllowed) {
  EXPECT_EQ(Json::parse(EncodeReview(Injected(), Endpoint::kMutate)), Response({{"uid", "u-1"},
                                                                                {"allowed", true},
                                                                                {"patchType", "JSONPatch"},
                                                                                {"patch", kPatch},
                                                                                {"auditAnnotations", kAnnotations}}));
  EXPECT_EQ(Json::parse(EncodeReview(Injected(), Endpoint::kValidate)),
            Response({{"uid", "u-1"}, {"allowed", true}, {"auditAnnotations", kAnnotations}}));
}

TEST(EncodeReview, APatchThatChangesNothingIsLeftOutWithItsType) {
  Decision decision = Injected();
  decision.edits[0].before = decision.edits[0].after;
  EXPECT_EQ(Json::parse(EncodeReview(decision, Endpoint::kMutate)),
            Response({{"uid", "u-1"}, {"allowed", true}, {"auditAnnotations", kAnnotations}}));
}

TEST(EncodeReview, ARefusalHasAStatusAndNoPatch) {
  const std::pair<int, const char*> rows[] = {{403, "Forbidden"}, {422, "Invalid"}, {500, "InternalError"}};
  for (const auto& [code, reason] : rows) {
    const Json status = {{"code", code}, {"reason", reason}, {"message", "no \"2\" GPUs\nhere"}};
    for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate})
      EXPECT_EQ(Json::parse(EncodeReview(Refused(code), endpoint)),
                Response({{"uid", "u-1"}, {"allowed", false}, {"status", status}, {"auditAnnotations", kAnnotations}}));
  }
}

TEST(EncodeReview, WarningsAreSentAsTheyAre) {
  Decision decision;
  decision.request_uid = "u-1";
  decision.warnings = {"first", "second \"quoted\""};
  EXPECT_EQ(EncodeReview(decision, Endpoint::kValidate),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true,)"
            R"("warnings":["first","second \"quoted\""],"auditAnnotations":{}}})");
}

TEST(EncodeReview, AnAnswerSaysWhyThePolicyWasNotApplied) {
  Decision decision;
  decision.policy_revision = "abc123";
  decision.skipped = SkipReason::kProtectedNamespace;
  EXPECT_EQ(Json::parse(EncodeReview(decision, Endpoint::kMutate))["response"]["auditAnnotations"],
            (Json{{"policy-revision", "abc123"}, {"skipped", "protected_namespace"}}));
}

TEST(EncodeReview, SeveralTemplatesShareOneAuditAnnotation) {
  Decision decision = Injected();
  for (const char* type : {"interactive", "batch", ""}) {
    decision.templates.push_back(decision.templates[0]);
    decision.templates.back().classification.workload_type = type;
  }
  decision.templates[1].after.class_name = "inference-interactive";
  decision.templates[3].after.class_name = std::nullopt;
  const Json annotations = Json::parse(EncodeReview(decision, Endpoint::kMutate))["response"]["auditAnnotations"];
  EXPECT_EQ(annotations, (Json{{"workload-type", "batch,interactive"},
                               {"priority-class", "inference-batch,inference-interactive"},
                               {"policy-revision", "abc123"}}));
}

}  // namespace
}  // namespace podium
