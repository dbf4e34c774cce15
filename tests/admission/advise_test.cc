#include "admission/advise.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "admission/apiserver.h"
#include "admission/codec.h"
#include "admission/decide.h"
#include "builders/clusters.h"
#include "builders/policies.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using builders::ThreeTiers;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kNow = TimePoint(seconds(1'796'000'000));

std::shared_ptr<const ClusterSnapshot> Finished(ClusterSnapshot snapshot) {
  for (const LadderClass& row : ThreeTiers().ladder) snapshot.classes.Put(row.priority_class.name, row.priority_class);
  snapshot.generation = 7;
  snapshot.taken_at = kNow;
  return std::make_shared<const ClusterSnapshot>(std::move(snapshot));
}

// Four nodes of one GPU, each with a batch pod on it.
ClusterSnapshot FourSmallNodes() {
  ClusterBuilder builder;
  for (const std::string i : {"1", "2", "3", "4"})
    builder.WithNode("gpu-" + i, {.gpus = 1}).WithPod("nlp-batch/embed-" + i, {.gpus = 1, .priority = 1000});
  return builder.Build();
}

// One node of two GPUs with two batch pods of two namespaces.
ClusterSnapshot OneFullNode() {
  return ClusterBuilder()
      .WithNode("gpu-7", {.gpus = 2})
      .WithPod("nlp-batch/embed-1", {.gpus = 1, .priority = 1000})
      .WithPod("research/probe", {.gpus = 1, .priority = 100})
      .Build();
}

Json PodJson(const std::string& type, int gpus) {
  const Json limits = {{"nvidia.com/gpu", gpus}};
  const Json container = {{"name", "c"}, {"resources", {{"limits", limits}}}};
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["metadata"] = {{"name", "chat-0"}, {"namespace", "nlp-batch"}, {"uid", "u-1"}};
  pod["metadata"]["labels"] = {{"podium.gpu/workload-type", type}};
  pod["spec"]["priorityClassName"] = type == "batch" ? "inference-batch" : "inference-interactive";
  pod["spec"]["containers"] = Json::array({container});
  return pod;
}

Json DeploymentJson(const std::string& kind, int gpus, int replicas) {
  const Json pod = PodJson("interactive", gpus);
  Json workload = {{"apiVersion", "apps/v1"}, {"kind", kind}};
  workload["metadata"] = {{"name", "chat"}, {"namespace", "nlp-batch"}};
  workload["spec"]["replicas"] = replicas;
  workload["spec"]["template"]["metadata"]["labels"] = pod["metadata"]["labels"];
  workload["spec"]["template"]["spec"] = pod["spec"];
  return workload;
}

Policy WithAdviceMode(Mode mode) {
  Policy policy = ThreeTiers();
  policy.advice = mode;
  for (WorkloadType& type : policy.workload_types) type.advice = mode;
  return policy;
}

struct Setting {
  Operation operation = Operation::kCreate;
  std::shared_ptr<const ClusterSnapshot> snapshot = Finished(FourSmallNodes());
  Policy policy = WithAdviceMode(Mode::kWarn);
  Endpoint endpoint = Endpoint::kValidate;
  TimePoint now = kNow;
};

Decision Advised(const Json& object, const Setting& setting = {}) {
  const ClassView classes(setting.policy, setting.snapshot.get());
  const Result<std::string> review = AsAdmissionReview(object.dump(), "default", classes);
  EXPECT_TRUE(review) << (review ? "" : review.error().message);
  Result<AdmissionRequest> request = ReviewDecoder().Decode(*review);
  EXPECT_TRUE(request);
  request->endpoint = setting.endpoint;
  request->operation = setting.operation;
  const Advisor advisor(setting.snapshot, {.version = {1, 36}});
  Decision decision = Decide(*request, setting.policy, setting.snapshot.get(), {}, setting.now);
  return WithAdvice(std::move(decision), {*request, setting.policy, advisor, *review, setting.now});
}

const TemplateAdvice& AdviceIn(const Decision& decision) { return *decision.templates.at(0).advice; }

TEST(WithAdvice, TwoGpusDoNotFitOnNodesOfOne) {
  const Decision decision = Advised(PodJson("interactive", 2));
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_THAT(decision.warnings, ElementsAre("podium: will never fit: 2 nvidia.com/gpu wanted on one node, the largest "
                                             "of 4 has 1"));
  ASSERT_NE(AdviceIn(decision).given, nullptr);
  EXPECT_EQ(AdviceIn(decision).mode, Mode::kWarn);
  EXPECT_EQ(AdviceIn(decision).given->verdict, Feasibility::kShapeNeverFits);
  EXPECT_EQ(
      AdviceIn(decision).given->message,
      "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/4 nodes "
      "are available: 4 Preemption is not helpful for scheduling.");
  EXPECT_EQ(AdviceIn(decision).given->snapshot_generation, 7U);
  EXPECT_THAT(decision.findings, IsEmpty());
}

TEST(WithAdvice, EvictionsAreToldWithTheVictimsOfThePodsOwnNamespace) {
  const Decision decision = Advised(PodJson("interactive", 2), {.snapshot = Finished(OneFullNode())});
  EXPECT_THAT(decision.warnings, ElementsAre("podium: fits after evicting 2 pods on gpu-7 (nlp-batch/embed-1, ...), up "
                                             "to 30 s"));
  const Advice& advice = *AdviceIn(decision).given;
  EXPECT_EQ(advice.verdict, Feasibility::kFitsAfterPreemption);
  EXPECT_EQ(advice.node, "gpu-7");
  EXPECT_EQ(advice.victims, 2U);
  EXPECT_EQ(advice.wait_at_most, seconds(30));
  EXPECT_THAT(advice.chosen, ElementsAre(AdvisedPlan{"gpu-7", {"uid-nlp-batch/embed-1", "uid-research/probe"}}));
  EXPECT_TRUE(advice.chosen_nodes.Contains("gpu-7"));
}

TEST(WithAdvice, WhatFitsNowIsRecordedAndNotToldOf) {
  const auto snapshot =
      Finished(ClusterBuilder().WithNode("gpu-1", {.gpus = 1}).WithNode("gpu-2", {.gpus = 4}).Build());
  const Decision decision = Advised(PodJson("interactive", 2), {.snapshot = snapshot});
  EXPECT_THAT(decision.warnings, IsEmpty());
  EXPECT_EQ(AdviceIn(decision).given->verdict, Feasibility::kFitsNow);
  EXPECT_TRUE(AdviceIn(decision).given->fit.Contains("gpu-2"));
  EXPECT_FALSE(AdviceIn(decision).given->fit.Contains("gpu-1"));
}

TEST(WithAdvice, ModesSayWhoHearsOfIt) {
  struct Row {
    Mode mode;
    bool recorded;
    std::size_t warnings;
    Verdict verdict;
  };
  const Row rows[] = {{Mode::kOff, false, 0, Verdict::kAllow},
                      {Mode::kAudit, true, 0, Verdict::kAllow},
                      {Mode::kWarn, true, 1, Verdict::kAllow},
                      {Mode::kEnforce, true, 0, Verdict::kRefuse}};
  for (const Row& row : rows) {
    const Decision decision = Advised(PodJson("interactive", 2), {.policy = WithAdviceMode(row.mode)});
    SCOPED_TRACE(ToString(row.mode));
    EXPECT_EQ(decision.templates.at(0).advice.has_value(), row.recorded);
    EXPECT_EQ(decision.warnings.size(), row.warnings);
    EXPECT_EQ(decision.verdict, row.verdict);
  }
}

TEST(WithAdvice, EnforceRefusesWithTheArithmeticAndAWayOut) {
  const Decision decision = Advised(PodJson("interactive", 2), {.policy = WithAdviceMode(Mode::kEnforce)});
  EXPECT_EQ(decision.code, 403);
  EXPECT_EQ(
      decision.message,
      "[feasibility] spec: will never fit: 2 nvidia.com/gpu wanted on one node, the largest of 4 has 1. The "
      "scheduler would say: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu. no new claims to deallocate, "
      "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling. `podium feasibility -f` "
      "shows each node, and what would help where anything does. Workload type 'interactive' has advice: enforce");
  EXPECT_THAT(decision.edits, IsEmpty());
}

TEST(WithAdvice, EnforceLetsInWhatMayStillFit) {
  const Setting evictions{.snapshot = Finished(OneFullNode()), .policy = WithAdviceMode(Mode::kEnforce)};
  EXPECT_EQ(Advised(PodJson("interactive", 2), evictions).verdict, Verdict::kAllow);
  EXPECT_EQ(Advised(PodJson("interactive", 2), evictions).warnings.size(), 1U);
  Json with_volume = PodJson("interactive", 1);
  const Json claim = {{"claimName", "weights"}};
  with_volume["spec"]["volumes"] = Json::array({{{"name", "weights"}, {"persistentVolumeClaim", claim}}});
  const Decision unknown = Advised(with_volume, {.policy = WithAdviceMode(Mode::kEnforce)});
  EXPECT_EQ(AdviceIn(unknown).given->verdict, Feasibility::kUnknown);
  EXPECT_EQ(unknown.verdict, Verdict::kAllow);
  EXPECT_THAT(unknown.warnings, IsEmpty());
}

TEST(WithAdvice, WhatAControllerMadeIsNotRefused) {
  Json pod = PodJson("interactive", 2);
  const Json owner = {
      {"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "chat"}, {"uid", "u"}, {"controller", true}};
  pod["metadata"]["ownerReferences"] = Json::array({owner});
  const Decision decision = Advised(pod, {.policy = WithAdviceMode(Mode::kEnforce)});
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(AdviceIn(decision).given->verdict, Feasibility::kShapeNeverFits);
}

// Its own pods hold what its new ones would get; that no node is big enough is true all the same.
TEST(WithAdvice, OnAnUpdateOnlyAShapeThatNeverFitsIsToldOrRefused) {
  ClusterBuilder full;
  full.WithNode("gpu-1", {.gpus = 8}).WithPod("nlp-batch/chat-1", {.gpus = 8, .priority = 1'000'000});
  const std::shared_ptr<const ClusterSnapshot> snapshot = Finished(full.Build());
  for (const Mode mode : {Mode::kWarn, Mode::kEnforce}) {
    Setting setting{.operation = Operation::kUpdate, .snapshot = snapshot, .policy = WithAdviceMode(mode)};
    const Decision rollout = Advised(DeploymentJson("Deployment", 8, 1), setting);
    EXPECT_EQ(rollout.verdict, Verdict::kAllow);
    EXPECT_THAT(rollout.warnings, IsEmpty());
    EXPECT_EQ(AdviceIn(rollout).given->verdict, Feasibility::kPreemptionCannotHelp) << "recorded";
    const Decision too_big = Advised(DeploymentJson("Deployment", 9, 1), setting);
    EXPECT_EQ(too_big.verdict, mode == Mode::kEnforce ? Verdict::kRefuse : Verdict::kAllow);
    EXPECT_EQ(too_big.warnings.size(), mode == Mode::kEnforce ? 0U : 1U);
  }
}

// Other requests wait for the thread that evaluates.
TEST(WithAdvice, WhatWouldTakeLongIsNotEvaluated) {
  Json pod = PodJson("interactive", 2);
  Json terms = Json::array();
  for (int i = 0; i < 2'000; ++i) terms.push_back({{"matchExpressions", {{{"key", "k"}, {"operator", "Exists"}}}}});
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      terms;
  ClusterBuilder nodes;
  for (int i = 0; i < 1'000; ++i) nodes.WithNode("gpu-" + std::to_string(1'000 + i), {.gpus = 1});
  const Decision decision =
      Advised(pod, {.snapshot = Finished(nodes.Build()), .policy = WithAdviceMode(Mode::kEnforce)});
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(AdviceIn(decision).missing, NoAdvice::kTooMuch);
  EXPECT_EQ(AdviceIn(decision).given, nullptr);
}

TEST(WithAdvice, OnlyValidateAndOnlyGpus) {
  EXPECT_FALSE(Advised(PodJson("interactive", 2), {.endpoint = Endpoint::kMutate}).templates.at(0).advice);
  EXPECT_FALSE(Advised(PodJson("interactive", 0)).templates.at(0).advice);
}

TEST(WithAdvice, AWorkloadIsAskedAboutByItsTemplate) {
  const auto full = Finished(OneFullNode());
  EXPECT_THAT(
      Advised(DeploymentJson("Deployment", 2, 3), {.snapshot = full}).warnings,
      ElementsAre("podium: the first of 3 pods fits after evicting 2 pods on gpu-7 (nlp-batch/embed-1, ...), up "
                  "to 30 s"));
  EXPECT_EQ(Advised(DeploymentJson("Deployment", 2, 1), {.policy = WithAdviceMode(Mode::kEnforce)}).findings.at(0).path,
            "spec.template.spec");
  EXPECT_FALSE(Advised(DeploymentJson("DaemonSet", 2, 1)).templates.at(0).advice) << "one pod for each node";
  EXPECT_FALSE(Advised(DeploymentJson("Deployment", 2, 0)).templates.at(0).advice) << "no pods";
}

TEST(WithAdvice, FindingsHaveTheFirstWord) {
  Policy policy = WithAdviceMode(Mode::kWarn);
  policy.rules.at("multi-gpu-preemptible").mode = Mode::kWarn;
  const Decision decision = Advised(PodJson("batch", 2), {.policy = policy});
  ASSERT_EQ(decision.warnings.size(), 2U);
  EXPECT_THAT(decision.warnings[0], HasSubstr("is preemptible and may hold at most 1 device"));
  EXPECT_THAT(decision.warnings[1], HasSubstr("podium: will never fit"));
}

TEST(WithAdvice, NothingIsAddedToARefusal) {
  const Decision decision = Advised(PodJson("batch", 2));
  EXPECT_EQ(decision.verdict, Verdict::kRefuse);
  EXPECT_FALSE(decision.templates.at(0).advice);
}

TEST(WithAdvice, APictureThatCannotBeTrustedSaysNothing) {
  const auto with_sources = [](seconds age, bool synced, const std::string& left_out) {
    ClusterSnapshot snapshot = FourSmallNodes();
    for (const std::string resource :
         {"namespaces", "nodes", "pods", "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io"})
      if (resource != left_out) snapshot.sources[resource] = {.synced = true, .last_event = kNow};
    snapshot.sources["pods"] = {.synced = synced, .last_event = kNow - age};
    return Finished(std::move(snapshot));
  };
  struct Row {
    std::shared_ptr<const ClusterSnapshot> snapshot;
    NoAdvice missing;
  };
  const Row rows[] = {{with_sources(seconds(300), true, ""), NoAdvice::kNone},
                      {with_sources(seconds(301), true, ""), NoAdvice::kStale},
                      {with_sources(seconds(0), false, ""), NoAdvice::kUnsynced},
                      {with_sources(seconds(0), true, "nodes"), NoAdvice::kUnsynced},
                      {Finished({}), NoAdvice::kNoNodes}};
  for (const Row& row : rows) {
    const Decision decision =
        Advised(PodJson("interactive", 2), {.snapshot = row.snapshot, .policy = WithAdviceMode(Mode::kEnforce)});
    EXPECT_EQ(AdviceIn(decision).missing, row.missing);
    EXPECT_EQ(AdviceIn(decision).given == nullptr, row.missing != NoAdvice::kNone);
    EXPECT_EQ(decision.verdict, row.missing == NoAdvice::kNone ? Verdict::kRefuse : Verdict::kAllow);
    EXPECT_THAT(decision.warnings, IsEmpty());
  }
}

TEST(WithAdvice, AFieldThatKubernetesWillRefuseIsNotItsToTell) {
  Json pod = PodJson("interactive", 1);
  const Json requirement = {{"key", "a"}, {"operator", "Near"}};
  Json term = {{"topologyKey", "zone"}};
  term["labelSelector"]["matchExpressions"] = Json::array({requirement});
  pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = Json::array({term});
  const Decision decision = Advised(pod, {.policy = WithAdviceMode(Mode::kEnforce)});
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(AdviceIn(decision).missing, NoAdvice::kFailed);
}

TEST(WithAdvice, TheAnnotationIsTheVerdict) {
  const Json answer = Json::parse(EncodeReview(Advised(PodJson("interactive", 2)), Endpoint::kValidate));
  EXPECT_EQ(answer["response"]["auditAnnotations"]["feasibility"], "ShapeNeverFits");
  const Json silent = Json::parse(
      EncodeReview(Advised(PodJson("interactive", 2), {.policy = WithAdviceMode(Mode::kOff)}), Endpoint::kValidate));
  EXPECT_FALSE(silent["response"]["auditAnnotations"].contains("feasibility"));
}

TEST(AsksForAdvice, NotWhereEverybodySaidNo) {
  EXPECT_TRUE(AsksForAdvice(ThreeTiers()));
  EXPECT_FALSE(AsksForAdvice(WithAdviceMode(Mode::kOff)));
  Policy one = WithAdviceMode(Mode::kOff);
  one.workload_types.back().advice = Mode::kAudit;
  EXPECT_TRUE(AsksForAdvice(one));
  one.gpus.clear();
  EXPECT_FALSE(AsksForAdvice(one));
}

// --- Advisor --------------------------------------------------------------------------------------------------------

TEST(Advisor, AnEqualQuestionIsEvaluatedOnce) {
  const Advisor advisor(Finished(FourSmallNodes()), {.version = {1, 36}});
  const std::vector<GpuResource> gpus = ThreeTiers().gpus;
  Pod pod = MakePod("nlp-batch/chat-0", {.gpus = 1, .priority = 1'000'000});
  const auto first = advisor.Ask(pod, gpus);
  pod.name = "chat-1";
  pod.uid = "another";
  pod.controller = OwnerReference{"apps/v1", "ReplicaSet", "chat", true, "u"};
  EXPECT_EQ(advisor.Ask(pod, gpus), first);
  EXPECT_EQ(advisor.evaluations(), 1U);
  pod.labels = Labels{{"app", "chat"}};
  EXPECT_NE(advisor.Ask(pod, gpus), first) << "a spread constraint may count it";
  EXPECT_NE(advisor.Ask(pod, gpus, 3), first);
  EXPECT_EQ(advisor.evaluations(), 3U);
}

TEST(Advisor, RemembersABoundedNumberOfQuestions) {
  const Advisor advisor(Finished(FourSmallNodes()), {});
  const auto ask = [&](std::size_t priority) {
    (void)advisor.Ask(MakePod("a", {.gpus = 1, .priority = static_cast<std::int64_t>(priority)}), {});
  };
  for (std::size_t i = 0; i <= Advisor::kRemembered; ++i) ask(i);
  EXPECT_EQ(advisor.evaluations(), Advisor::kRemembered + 1);
  ask(Advisor::kRemembered);
  EXPECT_EQ(advisor.evaluations(), Advisor::kRemembered + 1);
  ask(0);
  EXPECT_EQ(advisor.evaluations(), Advisor::kRemembered + 2) << "the oldest was forgotten";
}

TEST(Advisor, OutlivesTheSnapshotsOthersHold) {
  auto snapshot = Finished(FourSmallNodes());
  const Advisor first(snapshot, {});
  const Advisor second(snapshot, {}, &first);
  snapshot.reset();
  EXPECT_EQ(second.Ask(MakePod("a", {.gpus = 1, .priority = 5000}), {})->chosen_nodes.size(), 4U);
}

}  // namespace
}  // namespace podium
