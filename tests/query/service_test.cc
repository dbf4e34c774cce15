#include "query/service.h"

#include <gmock/gmock.h>

#include <future>
#include <nlohmann/json.hpp>

#include "builders/tenants.h"
#include "fakes/access_reviewer.h"
#include "fakes/manual_clock.h"

namespace podium {
namespace {

using builders::ChatDeployment;
using builders::ChatPod;
using builders::ShownSnapshot;
using builders::TenantCluster;
using std::chrono::milliseconds;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

constexpr const char* kNotKnown =
    "{\"error\": \"the API server does not say now who you are and what you may do; try again in a moment\"}\n";

class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    access_.Admit("alice-token", {"alice", "u-1", {"dev"}, {}});
    access_.Allow("alice", "create", "mine");
    access_.Allow("alice", "list", "mine");
    access_.Admit("admin-token", {"admin", "u-2", {}, {}});
    access_.Allow("admin", "create", "");
    access_.Allow("admin", "list", "");
  }

  FeasibilityService Make(const QueryLimits& limits = {}) {
    QueryDeps deps;
    deps.policy = &policy_;
    deps.snapshots = &snapshots_;
    deps.access = &access_;
    deps.clock = &clock_;
    deps.steady_now = [this] { return steady_; };
    return FeasibilityService(std::move(deps), limits);
  }

  QueryRequest Question(const std::string& body, const std::string& authorization = "Bearer alice-token",
                        const std::string& parameters = "") {
    return {authorization, parameters, body, steady_};
  }

  fakes::MemoryReviewer access_;
  ManualClock clock_;
  SteadyTime steady_{std::chrono::hours(1)};
  Cell<Policy> policy_{std::make_shared<const Policy>(builders::ThreeTiers())};
  ShownSnapshot snapshots_{TenantCluster()};
};

std::vector<std::string> VictimNames(const Json& candidates) {
  std::vector<std::string> names;
  for (const Json& candidate : candidates)
    for (const Json& victim : candidate["victims"])
      names.push_back(victim["namespace"].get<std::string>() + "/" + victim["name"].get<std::string>());
  return names;
}

// --- the answer -----------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, TheReportIsGivenAndOtherPeoplesPodsHaveNoName) {
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatPod(1)));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json report = Json::parse(answer.body);
  EXPECT_EQ(report["kind"], "FeasibilityReport");
  EXPECT_EQ(report["verdict"], "FitsAfterPreemption");
  EXPECT_EQ(report["pod"], (Json{{"namespace", "mine"}, {"name", "chat"}}));
  EXPECT_EQ(report["plan"]["node"], "a");
  Json victim = report["plan"]["victims"][0];
  EXPECT_EQ(victim["namespace"], "(hidden)");
  EXPECT_EQ(victim["name"], "(hidden)");
  EXPECT_EQ(victim["priority"], 1000);
  EXPECT_EQ(victim["priorityClassName"], "inference-batch");
  EXPECT_EQ(victim["gpus"], Json::parse(R"([{"resource":"nvidia.com/gpu","unit":"device","count":1}])"));
  EXPECT_THAT(VictimNames(report["candidates"]),
              ElementsAre("(hidden)/(hidden)", "(hidden)/(hidden)", "(hidden)/(hidden)", "mine/tune-d"));
  EXPECT_THAT(answer.body, Not(HasSubstr("embed")));
  EXPECT_THAT(answer.body, Not(HasSubstr("theirs")));
  EXPECT_FALSE(report.contains("workload"));
  EXPECT_EQ(answer.user, "alice");
  EXPECT_EQ(answer.object, "mine/chat");
  EXPECT_EQ(answer.verdict, "FitsAfterPreemption");
  EXPECT_EQ(ToString(answer.outcome), "answered");
}

TEST_F(ServiceTest, WhoMayListAllPodsReadsAllNames) {
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatPod(1), "bearer  admin-token"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(VictimNames(Json::parse(answer.body)["candidates"]),
              ElementsAre("theirs/embed-a", "theirs/embed-b", "theirs/embed-c", "mine/tune-d"));
}

TEST_F(ServiceTest, AWorkloadIsPlacedAsAWhole) {
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatDeployment(5)));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json report = Json::parse(answer.body);
  EXPECT_EQ(report["template"], "/spec/template");
  EXPECT_EQ(report["workload"]["wanted"], 5);
  EXPECT_EQ(report["workload"]["fitAfter"], 4);
  EXPECT_EQ(report["workload"]["feasible"], false);
  EXPECT_EQ(report["workload"]["placing"], "OneByOne");
  EXPECT_THAT(answer.body, Not(HasSubstr("embed")));
}

TEST_F(ServiceTest, ParametersTakeTheObjectsPlace) {
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatPod(1), "Bearer alice-token", "replicas=4&gang"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json report = Json::parse(answer.body);
  EXPECT_EQ(report["workload"]["wanted"], 4);
  EXPECT_EQ(report["workload"]["feasible"], true);
  EXPECT_EQ(report["workload"]["placing"], "AllOrNothing");
}

TEST_F(ServiceTest, AnOldPictureIsCalledOld) {
  auto snapshot = std::make_shared<ClusterSnapshot>(*TenantCluster());
  snapshot->sources["pods"] = {.synced = true, .last_event = clock_.Now()};
  snapshots_.Show(snapshot);
  clock_.Advance(std::chrono::seconds(1'000));
  FeasibilityService service = Make();
  const Json report = Json::parse(service.Answer(Question(ChatPod(1))).body);
  EXPECT_EQ(report["warnings"].back(), "the cluster's pods were last heard of 1000 s ago (staleAfterSeconds: " +
                                           std::to_string(policy_.Load()->stale_after.count()) +
                                           "): this may not be true any more");
}

// --- who may not ask ------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, WithoutATokenNobodyIsAskedAndNothingIsRead) {
  FeasibilityService service = Make();
  for (const std::string authorization : {"", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "Beareralice-token",
                                          "Bearer two words", "Bearer a,b", "Bearer t\xC3\xA4"}) {
    const QueryAnswer answer = service.Answer(Question("no JSON", authorization));
    EXPECT_EQ(answer.status, 401) << authorization;
    EXPECT_EQ(answer.body,
              "{\"error\": \"who are you? Send 'Authorization: Bearer TOKEN' with a token of this cluster, for example "
              "of 'kubectl create token NAME'\"}\n");
  }
  EXPECT_EQ(service.Answer(Question("{}", "Bearer " + std::string(16'385, 'a'))).status, 401);
  EXPECT_THAT(access_.Asked(), IsEmpty());
}

TEST_F(ServiceTest, ATokenThatIsNotGoodIsA401) {
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatPod(1), "Bearer stolen"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body,
            "{\"error\": \"the API server does not accept the bearer token; it may have expired: get a new one\"}\n");
  EXPECT_EQ(answer.user, "");
  EXPECT_THAT(access_.Asked(), ElementsAre("who is stolen"));
}

TEST_F(ServiceTest, WhoMayNotCreatePodsThereMayNotAsk) {
  FeasibilityService service = Make();
  // Whatever else is wrong with the object: nothing is said about it, nor about the cluster.
  for (const std::string& body :
       {ChatPod(1, "theirs"), ChatPod(8, "theirs"), std::string(R"({"metadata":{"namespace":"theirs"}})"),
        std::string(R"({"metadata":{"namespace":"mine","namespace":"theirs"}})")}) {
    const QueryAnswer answer = service.Answer(Question(body));
    EXPECT_EQ(answer.status, 403) << body;
    EXPECT_EQ(answer.body,
              "{\"error\": \"'alice' may not create pods in the namespace 'theirs'; only who may is answered: ask "
              "for that right, or about an object in another namespace\"}\n");
  }
  EXPECT_EQ(service.Answer(Question(R"({"apiVersion":"v1","kind":"Pod"})")).status, 403) << "default is a namespace";
  EXPECT_THAT(access_.Asked(), testing::Contains("alice create pods default"));
}

// --- fail closed ----------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, WithoutTheApiServerThereIsNoAnswerWhateverTheErrorIs) {
  for (const ErrorKind kind :
       {ErrorKind::kUnavailable, ErrorKind::kTimeout, ErrorKind::kPermission, ErrorKind::kCorrupt, ErrorKind::kNotFound,
        ErrorKind::kInvalidInput, ErrorKind::kInternal}) {
    FeasibilityService service = Make();
    access_.FailWith(Error{kind, "reviewing a caller's token: HTTP 403 Forbidden: podium may not"});
    const QueryAnswer answer = service.Answer(Question(ChatPod(1)));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, kNotKnown);
    EXPECT_EQ(answer.problem, "reviewing a caller's token: HTTP 403 Forbidden: podium may not");
  }
}

// The API server goes away after 0, 1, 2 answers: who they are, whether they may ask, whether they see everything.
TEST_F(ServiceTest, NoStepIsLeftOut) {
  for (std::size_t answers = 0; answers < 3; ++answers) {
    FeasibilityService service = Make();
    access_.FailWith({});
    std::size_t asked = 0;
    access_.OnQuestion([&] {
      if (asked++ == answers) access_.FailWith(Error{ErrorKind::kUnavailable, "away"});
    });
    const QueryAnswer answer = service.Answer(Question(ChatPod(1)));
    EXPECT_EQ(answer.status, 503) << answers;
    EXPECT_EQ(answer.body, kNotKnown) << answers;
  }
  access_.FailWith({});
  access_.OnQuestion({});
  FeasibilityService service = Make();
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).status, 200);
}

TEST_F(ServiceTest, BeforeTheFirstSyncThereIsNoAnswer) {
  snapshots_.Show(nullptr);
  FeasibilityService service = Make();
  const QueryAnswer answer = service.Answer(Question(ChatPod(1)));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "{\"error\": \"the cluster has not been read yet; try again in a moment\"}\n");
}

// --- the object -----------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, AnObjectThatCannotBeReadIsToldWhy) {
  const struct {
    std::string name;
    std::string body;
    std::string want;
  } rows[] = {
      {"no JSON", "apiVersion: v1", "JSON"},
      {"a list", "[]", "the object cannot be asked about: the manifest is no JSON object"},
      {"a number for a namespace", R"({"metadata":{"namespace":7}})",
       "metadata.namespace is '7'; allowed: the name of a namespace, such as \\\"ml\\\""},
      {"all namespaces", R"({"metadata":{"namespace":"*"}})", "metadata.namespace is '\\\"*\\\"'"},
      {"a path", R"({"metadata":{"namespace":"a/../b"}})", "metadata.namespace is"},
      {"no kind", R"({"apiVersion":"v1","metadata":{"namespace":"mine"}})",
       "the object cannot be asked about: kind is missing"},
      {"no pods", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"mine"}})",
       "the object makes no pods; allowed: a Pod, or a workload with a pod template"},
      {"a quantity that is none",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"mine"},"spec":{"containers":[)"
       R"({"name":"a","resources":{"limits":{"nvidia.com/gpu":"many"}}}]}})",
       "the object cannot be asked about: "},
  };
  for (const auto& row : rows) {
    FeasibilityService service = Make();
    access_.Allow("alice", "create", "default");
    const QueryAnswer answer = service.Answer(Question(row.body));
    EXPECT_EQ(answer.status, 400) << row.name;
    EXPECT_THAT(answer.body, HasSubstr(row.want)) << row.name;
  }
}

TEST_F(ServiceTest, WhatThePolicyRefusesIsNotEvaluated) {
  FeasibilityService service = Make();
  std::string two_gpu_batch = ChatPod(2);
  two_gpu_batch.replace(two_gpu_batch.find("interactive"), 11, "batch");
  const QueryAnswer answer = service.Answer(Question(two_gpu_batch));
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.body, HasSubstr("the object would be refused: "));
  EXPECT_THAT(answer.body, HasSubstr("multi-gpu-preemptible"));
}

TEST_F(ServiceTest, TooManyReplicasAreNotPlaced) {
  FeasibilityService service = Make({.replicas = 10});
  EXPECT_EQ(service.Answer(Question(ChatDeployment(11))).body,
            "{\"error\": \"the object wants 11 replicas; at most 10 are placed here: ask with ?replicas=N, or use "
            "'podium feasibility'\"}\n");
  EXPECT_EQ(service.Answer(Question(ChatDeployment(11), "Bearer alice-token", "replicas=2")).status, 200);
  EXPECT_EQ(service.Answer(Question(ChatPod(1), "Bearer alice-token", "replicas=11")).status, 400);
}

TEST_F(ServiceTest, TooManyTemplatesAreNotPlaced) {
  FeasibilityService service = Make({.templates = 1});
  const std::string slot =
      R"({"replicas": 1, "template": {"spec": {"template": {"metadata": {"labels": )"
      R"({"podium.gpu/workload-type": "interactive"}}, "spec": {"containers": [{"name": "c"}]}}}}})";
  const std::string two = R"({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j", )"
                          R"("namespace": "mine"}, "spec": {"replicatedJobs": [)" +
                          slot + "," + slot + "]}}";
  const QueryAnswer answer = service.Answer(Question(two));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body,
            "{\"error\": \"the object cannot be asked about: it has 2 pod templates; at most 1 are taken: ask about "
            "fewer, or use 'podium feasibility'\"}\n");
}

// --- load -----------------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, WhatWaitedTooLongIsNotBegun) {
  FeasibilityService service = Make();
  const QueryRequest request = Question(ChatPod(1));
  steady_ += milliseconds(2'001);
  const QueryAnswer answer = service.Answer(request);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body,
            "{\"error\": \"the answer would come too late: too much is asked at once; try again in a moment\"}\n");
  EXPECT_THAT(access_.Asked(), IsEmpty());
}

TEST_F(ServiceTest, ASlowApiServerEndsItAfterTheStepItIsIn) {
  FeasibilityService service = Make();
  access_.OnQuestion([this] { steady_ += milliseconds(3'500); });
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).status, 503);
  EXPECT_THAT(access_.Asked(), ElementsAre("who is alice-token", "alice create pods mine"));
}

TEST_F(ServiceTest, OneCallerCannotTakeEverything) {
  FeasibilityService service = Make({.per_caller = 1});
  std::promise<void> open;
  std::promise<void> inside;
  std::shared_future<void> opened = open.get_future().share();
  std::atomic<int> asked = 0;
  access_.OnQuestion([&] {
    if (asked++ != 1) return;  // the first one's right to create
    inside.set_value();
    opened.wait();
  });
  auto first = std::async(std::launch::async, [&] { return service.Answer(Question(ChatPod(1))).status; });
  inside.get_future().wait();
  const QueryAnswer second = service.Answer(Question(ChatPod(1)));
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.body, "{\"error\": \"1 questions of yours are being answered; at most 1 at once: wait for one\"}\n");
  EXPECT_EQ(service.Answer(Question(ChatPod(1), "Bearer admin-token")).status, 200) << "others are not concerned";
  open.set_value();
  EXPECT_EQ(first.get(), 200);
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).status, 200);
}

// --- what is remembered ---------------------------------------------------------------------------------------------

TEST_F(ServiceTest, ARememberedEvaluationIsShownByTheRightsOfWhoAsks) {
  FeasibilityService service = Make();
  const QueryAnswer admins = service.Answer(Question(ChatPod(1), "Bearer admin-token"));
  EXPECT_THAT(admins.body, HasSubstr("embed-a"));
  const QueryAnswer alices = service.Answer(Question(ChatPod(1)));
  EXPECT_THAT(alices.body, Not(HasSubstr("embed")));
  access_.Forbid("alice", "list", "mine");
  EXPECT_THAT(service.Answer(Question(ChatPod(1))).body, Not(HasSubstr("tune-d"))) << "withdrawn at once";
  access_.Forbid("alice", "create", "mine");
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).status, 403);
}

TEST_F(ServiceTest, ANewPictureOrPolicyMakesANewEvaluation) {
  FeasibilityService service = Make();
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).verdict, "FitsAfterPreemption");
  ClusterBuilder roomy;
  roomy.WithNode("free", {.gpus = 8});
  ClusterSnapshot snapshot = roomy.Build();
  snapshot.generation = 2;
  snapshots_.Show(std::make_shared<const ClusterSnapshot>(snapshot));
  EXPECT_EQ(service.Answer(Question(ChatPod(1))).verdict, "FitsNow");
  Policy strict = builders::ThreeTiers();
  strict.revision = "beef";
  strict.gpus.clear();
  policy_.Store(std::make_shared<const Policy>(strict));
  EXPECT_FALSE(Json::parse(service.Answer(Question(ChatPod(1))).body).contains("room"));
}

TEST_F(ServiceTest, AnEvaluationIsRememberedForAFewSeconds) {
  FeasibilityService service = Make();
  const auto ran_for = [&] {
    const Json report = Json::parse(service.Answer(Question(ChatPod(1))).body);
    return report["plan"]["victims"][0]["ranSeconds"].get<std::int64_t>();
  };
  const std::int64_t first = ran_for();
  clock_.Advance(std::chrono::seconds(3));
  steady_ += std::chrono::seconds(3);
  EXPECT_EQ(ran_for(), first);
  clock_.Advance(std::chrono::seconds(3));
  steady_ += std::chrono::seconds(3);
  EXPECT_EQ(ran_for(), first + 6);
}

}  // namespace
}  // namespace podium
