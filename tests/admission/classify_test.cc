#include "admission/classify.h"

#include <gmock/gmock.h>

#include "admission/decide.h"
#include "builders/policies.h"
#include "builders/requests.h"
#include "feasibility/request.h"

namespace podium {
namespace {

using builders::AddNamespace;
using builders::ClusterOf;
using builders::CreateDeployment;
using builders::CreatePod;
using builders::CreateWorkload;
using builders::MakeExemption;
using builders::MakePod;
using builders::MakeTemplate;
using builders::MakeType;
using builders::Slot;
using builders::ThreeTiers;

constexpr TimePoint kNow = TimePoint(std::chrono::hours(24 * 20'000));

// The policy has one type 'hit' with this clause.
Classification ClassifyBy(const MatchClause& clause, const AdmissionRequest& request,
                          const ClusterSnapshot* snapshot = nullptr) {
  Policy policy = ThreeTiers();
  policy.workload_types = {MakeType("hit", "inference-batch", Respect::kPolicy)};
  policy.workload_types[0].any = {clause};
  const PodTemplate& pod = request.object->templates.at(0);
  return Classify(request, pod, EffectiveGpuRequest(pod.spec, policy.gpus), policy, snapshot);
}

bool Matches(const MatchClause& clause, const AdmissionRequest& request, const ClusterSnapshot* snapshot = nullptr) {
  return ClassifyBy(clause, request, snapshot).workload_type == "hit";
}

MatchClause Labelled(Labels labels) {
  MatchClause clause;
  clause.labels = std::move(labels);
  return clause;
}
MatchClause InNamespaces(std::vector<std::string> patterns) {
  MatchClause clause;
  clause.namespaces = std::move(patterns);
  return clause;
}
MatchClause OfKinds(std::vector<std::string> kinds) {
  MatchClause clause;
  clause.kinds = std::move(kinds);
  return clause;
}
MatchClause OwnedByKinds(std::vector<std::string> kinds) {
  MatchClause clause;
  clause.owner_kinds = std::move(kinds);
  return clause;
}
MatchClause ForAccounts(std::vector<std::string> patterns) {
  MatchClause clause;
  clause.service_accounts = std::move(patterns);
  return clause;
}
MatchClause WithGpus(GpuMatch gpus) {
  MatchClause clause;
  clause.gpus = std::move(gpus);
  return clause;
}

TEST(Classify, TheFirstMatchingTypeWinsAndSaysWhereItCameFrom) {
  const Policy policy = ThreeTiers();
  const auto classify = [&](const AdmissionRequest& request) {
    const PodTemplate& pod = request.object->templates.at(0);
    return Classify(request, pod, EffectiveGpuRequest(pod.spec, policy.gpus), policy, nullptr);
  };
  const Slot gpu_job = MakeTemplate().Gpus("w", 1);
  EXPECT_EQ(classify(CreateWorkload("batch", "Job", "j", {gpu_job})),
            (Classification{"batch", ClassificationSource::kMatch}));
  EXPECT_EQ(classify(CreateWorkload("batch", "Job", "j", {Slot(gpu_job).Type("training")})),
            (Classification{"training", ClassificationSource::kLabel}));
  EXPECT_EQ(classify(CreateWorkload("batch", "Job", "j", {MakeTemplate().Gpus("w", 0)})), Classification{});
  EXPECT_EQ(classify(CreatePod("p", MakePod().Gpus("w", 1).Type("interactve"))), Classification{});
}

TEST(Classify, LabelsAreThoseOfThePodAndOnlyTheTypeLabelIsInherited) {
  const MatchClause by_team = Labelled({{"team", "asr"}});
  EXPECT_TRUE(Matches(by_team, CreateDeployment("d", MakeTemplate().Label("team", "asr"))));
  EXPECT_FALSE(Matches(by_team, CreateDeployment("d", MakeTemplate(), {{"team", "asr"}})));
  EXPECT_FALSE(Matches(by_team, CreateDeployment("d", MakeTemplate().Label("team", "nlp"))));
  EXPECT_TRUE(Matches(Labelled({{"team", "*"}}), CreateDeployment("d", MakeTemplate().Label("team", "nlp"))));
  EXPECT_FALSE(Matches(Labelled({{"team", "*"}}), CreateDeployment("d", MakeTemplate())));
  const MatchClause by_type = Labelled({{"podium.gpu/workload-type", "batch"}});
  EXPECT_TRUE(Matches(by_type, CreateDeployment("d", MakeTemplate(), {{"podium.gpu/workload-type", "batch"}})));
  EXPECT_FALSE(
      Matches(by_type, CreateDeployment("d", MakeTemplate().Type("training"), {{"podium.gpu/workload-type", "batch"}})))
      << "the template's own label counts first";
}

TEST(Classify, ADeploymentClauseMatchesTheDeploymentAndItsPodsAlike) {
  const MatchClause deployments = OfKinds({"Deployment"});
  const Slot hashed = MakePod().Label("pod-template-hash", "5bf4965fdc").OwnedBy("ReplicaSet", "chat-5bf4965fdc");
  EXPECT_TRUE(Matches(deployments, CreateDeployment("chat", MakeTemplate())));
  EXPECT_TRUE(Matches(deployments, CreatePod("chat-5bf4965fdc-ggv6t", hashed)));
  EXPECT_TRUE(Matches(OfKinds({"ReplicaSet"}), CreatePod("chat-5bf4965fdc-ggv6t", hashed)));
  EXPECT_FALSE(Matches(deployments, CreatePod("rs-ggv6t", MakePod().OwnedBy("ReplicaSet", "rs"))));
  EXPECT_FALSE(Matches(deployments, CreatePod("bare", MakePod())));
  AdmissionRequest replica_set = CreateWorkload("apps", "ReplicaSet", "chat-5bf4965fdc", {MakeTemplate()});
  EXPECT_FALSE(Matches(deployments, replica_set));
  replica_set.object->metadata.owners.push_back({"apps/v1", "Deployment", "chat", true});
  EXPECT_TRUE(Matches(deployments, replica_set));
}

TEST(Classify, ACronJobClauseMatchesItsJobs) {
  AdmissionRequest job = CreateWorkload("batch", "Job", "nightly-28", {MakeTemplate()});
  EXPECT_FALSE(Matches(OfKinds({"CronJob"}), job));
  job.object->metadata.owners.push_back({"batch/v1", "CronJob", "nightly", true});
  EXPECT_TRUE(Matches(OfKinds({"CronJob"}), job));
  EXPECT_TRUE(Matches(OfKinds({"Job"}), job));
  job.object->metadata.owners[0].controller = false;
  EXPECT_FALSE(Matches(OfKinds({"CronJob"}), job)) << "an owner that does not control says nothing";
}

TEST(Classify, OwnerKindsAreThoseOfTheFuturePods) {
  EXPECT_TRUE(Matches(OwnedByKinds({"ReplicaSet"}), CreateDeployment("d", MakeTemplate())));
  EXPECT_FALSE(Matches(OwnedByKinds({"Deployment"}), CreateDeployment("d", MakeTemplate())));
  EXPECT_TRUE(Matches(OwnedByKinds({"Job"}), CreateWorkload("batch", "CronJob", "c", {MakeTemplate()})));
  EXPECT_TRUE(Matches(OwnedByKinds({"StatefulSet"}), CreateWorkload("apps", "StatefulSet", "s", {MakeTemplate()})));
  EXPECT_TRUE(Matches(OwnedByKinds({"Job"}), CreatePod("p", MakePod().OwnedBy("Job", "j"))));
  EXPECT_FALSE(Matches(OwnedByKinds({"Job"}), CreatePod("p", MakePod())));
}

// Anybody may write an owner reference: a kind counts in its own group only, and only where Kubernetes has such a
// chain.
TEST(Classify, AForgedOwnerSaysNothing) {
  AdmissionRequest pod = CreatePod("p", MakePod().Label("pod-template-hash", "5bf4").OwnedBy("ReplicaSet", "d-5bf4"));
  EXPECT_TRUE(Matches(OfKinds({"Deployment"}), pod));
  pod.object->templates[0].metadata.owners[0].api_version = pod.object->metadata.owners[0].api_version = "evil.io/v1";
  EXPECT_FALSE(Matches(OfKinds({"Deployment"}), pod));
  EXPECT_FALSE(Matches(OwnedByKinds({"ReplicaSet"}), pod));
  EXPECT_FALSE(Matches(OfKinds({"Deployment"}), CreatePod("p", MakePod().OwnedBy("Deployment", "d"))));
  EXPECT_FALSE(Matches(OfKinds({"CronJob"}), CreatePod("p", MakePod().OwnedBy("CronJob", "c"))));
}

TEST(Classify, NamespacesAndServiceAccountsArePatterns) {
  const AdmissionRequest pod = CreatePod("p", MakePod());  // in nlp-batch
  EXPECT_TRUE(Matches(InNamespaces({"serving", "nlp-*"}), pod));
  EXPECT_FALSE(Matches(InNamespaces({"nlp"}), pod));
  EXPECT_TRUE(Matches(ForAccounts({"nlp-batch:default"}), pod));
  EXPECT_FALSE(Matches(ForAccounts({"nlp-batch:runner"}), pod));
  EXPECT_TRUE(Matches(ForAccounts({"*:run*"}), CreatePod("p", MakePod().Account("runner"))));
}

TEST(Classify, NamespaceLabelsNeedASnapshotThatKnowsTheNamespace) {
  MatchClause clause;
  clause.namespace_labels = {{"team", "asr"}};
  const AdmissionRequest pod = CreatePod("p", MakePod());
  ClusterSnapshot snapshot = ClusterOf(ThreeTiers());
  EXPECT_FALSE(Matches(clause, pod)) << "no snapshot";
  EXPECT_FALSE(Matches(clause, pod, &snapshot)) << "namespace unknown";
  AddNamespace(snapshot, "nlp-batch", {{"team", "tts"}});
  EXPECT_FALSE(Matches(clause, pod, &snapshot));
  AddNamespace(snapshot, "nlp-batch", {{"team", "asr"}});
  EXPECT_TRUE(Matches(clause, pod, &snapshot));
  clause.namespace_labels = {{"team", "*"}};
  EXPECT_TRUE(Matches(clause, pod, &snapshot));
}

TEST(Classify, GpusAreCountedOverTheResourcesThatMatch) {
  const AdmissionRequest mixed =
      CreatePod("p", MakePod().Gpus("a", 2).Asks("b", "nvidia.com/mig-1g.10gb", 3).Asks("c", "amd.com/gpu", 1));
  EXPECT_TRUE(Matches(WithGpus({{1, INT64_MAX}, std::nullopt, "*"}), mixed));
  EXPECT_TRUE(Matches(WithGpus({{6, 6}, std::nullopt, "*"}), mixed));
  EXPECT_FALSE(Matches(WithGpus({{1, 5}, std::nullopt, "*"}), mixed));
  EXPECT_TRUE(Matches(WithGpus({{3, 3}, GpuUnit::kDevice, "*"}), mixed));
  EXPECT_TRUE(Matches(WithGpus({{3, 3}, GpuUnit::kSlice, "*"}), mixed));
  EXPECT_TRUE(Matches(WithGpus({{5, 5}, std::nullopt, "nvidia.com/*"}), mixed));
  EXPECT_FALSE(Matches(WithGpus({{1, INT64_MAX}, GpuUnit::kShared, "*"}), mixed));
  EXPECT_FALSE(Matches(WithGpus({{1, INT64_MAX}, std::nullopt, "*"}), CreatePod("p", MakePod().Gpus("a", 0))));
  EXPECT_TRUE(Matches(WithGpus({{0, 0}, std::nullopt, "*"}), CreatePod("p", MakePod().Gpus("a", 0))));
}

TEST(Classify, AllConditionsOfAClauseMustHoldAndOneClauseIsEnough) {
  MatchClause both = Labelled({{"team", "asr"}});
  both.namespaces = {"serving"};
  EXPECT_FALSE(Matches(both, CreatePod("p", MakePod().Label("team", "asr"))));
  Policy policy = ThreeTiers();
  policy.workload_types[0].any = {both, InNamespaces({"nlp-batch"})};
  const AdmissionRequest pod = CreatePod("p", MakePod().Label("team", "asr"));
  EXPECT_EQ(Classify(pod, pod.object->templates[0], {}, policy, nullptr),
            (Classification{"interactive", ClassificationSource::kMatch}));
}

// --- exemptions -----------------------------------------------------------------------------------------------------

bool Frees(const Exemption& exemption, const AdmissionRequest& request) {
  return IsExempted(exemption, "multi-gpu-preemptible", request, kNow);
}

TEST(IsExempted, HoldsUntilItsLastDayIsOver) {
  const AdmissionRequest pod = CreatePod("llm-eval-1", MakePod());
  EXPECT_TRUE(Frees(MakeExemption({"multi-gpu-preemptible"}, kNow + std::chrono::seconds(1)), pod));
  EXPECT_FALSE(Frees(MakeExemption({"multi-gpu-preemptible"}, kNow), pod));
  EXPECT_FALSE(Frees(MakeExemption({"unknown-priority-class"}, kNow + std::chrono::hours(1)), pod));
}

TEST(IsExempted, GoesByNamespaceNameAndKind) {
  Exemption exemption = MakeExemption({"multi-gpu-preemptible"}, kNow + std::chrono::hours(1));
  exemption.namespace_pattern = "nlp-*";
  exemption.name_pattern = "llm-eval-*";
  exemption.kinds = {"Pod"};
  EXPECT_TRUE(Frees(exemption, CreatePod("llm-eval-1", MakePod())));
  EXPECT_FALSE(Frees(exemption, CreatePod("llm-train-1", MakePod())));
  EXPECT_FALSE(Frees(exemption, CreateDeployment("llm-eval-1", MakeTemplate())));
  exemption.namespace_pattern = "research";
  EXPECT_FALSE(Frees(exemption, CreatePod("llm-eval-1", MakePod())));
}

TEST(IsExempted, OfADeploymentHoldsForItsReplicaSetsAndPods) {
  Exemption exemption = MakeExemption({"multi-gpu-preemptible"}, kNow + std::chrono::hours(1));
  exemption.name_pattern = "legacy";
  exemption.kinds = {"Deployment"};
  EXPECT_TRUE(Frees(exemption, CreateDeployment("legacy", MakeTemplate())));
  AdmissionRequest replica_set = CreateWorkload("apps", "ReplicaSet", "legacy-5bf49", {MakeTemplate()});
  replica_set.object->metadata.owners.push_back({"apps/v1", "Deployment", "legacy", true});
  EXPECT_TRUE(Frees(exemption, replica_set));
  const Slot pod = MakePod().Label("pod-template-hash", "5bf49").OwnedBy("ReplicaSet", "legacy-5bf49");
  EXPECT_TRUE(Frees(exemption, CreatePod("", pod)));
  EXPECT_FALSE(Frees(exemption, CreatePod("", MakePod().OwnedBy("ReplicaSet", "legacy-5bf49"))));
  EXPECT_FALSE(Frees(exemption, CreatePod("legacy", MakePod())));
}

}  // namespace
}  // namespace podium
