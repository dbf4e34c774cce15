#include "admission/decide.h"

#include <gmock/gmock.h>

#include "admission/workloads.h"
#include "builders/apply.h"
#include "builders/policies.h"
#include "builders/requests.h"

namespace podium {
namespace {

using builders::AsUpdate;
using builders::ClusterOf;
using builders::CreateDeployment;
using builders::CreatePod;
using builders::CreateQuota;
using builders::CreateWorkload;
using builders::MakeExemption;
using builders::MakePod;
using builders::MakeQuota;
using builders::MakeTemplate;
using builders::Slot;
using builders::ThreeTiers;
using builders::WithExemption;
using builders::WithMode;
using builders::WithRespect;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kNow = TimePoint(std::chrono::hours(24 * 20'000));
constexpr std::string_view kMultiGpu = "multi-gpu-preemptible";

Decision DecideOn(const AdmissionRequest& request, const Policy& policy = ThreeTiers(),
                  const ClusterSnapshot* snapshot = nullptr) {
  return Decide(request, policy, snapshot, {}, kNow);
}

// A pod as a webhook gets it: the Priority step is done.
Slot FilledPod() { return MakePod().Gpus("main", 1); }
AdmissionRequest CreateFilled(Slot slot) {
  const Policy policy = ThreeTiers();
  return CreatePod("chat-0", slot.FilledIn(ClassView(policy, nullptr)));
}

std::vector<std::string> RulesOf(const Decision& decision) {
  std::vector<std::string> rules;
  for (const Finding& finding : decision.findings) rules.push_back(finding.rule);
  return rules;
}

std::vector<std::string> PathsOf(const std::vector<Edit>& edits) {
  std::vector<std::string> paths;
  for (const Edit& edit : edits) paths.push_back(edit.path);
  return paths;
}

// --- what is left alone ---------------------------------------------------------------------------------------------

// A pod that breaks the policy, so that a check that is not skipped shows.
AdmissionRequest TwoGpus() { return CreatePod("asr", MakePod().Type("batch").Gpus("w", 2)); }

TEST(DecideSkips, WhatIsNotOurs) {
  const struct {
    const char* name;
    SkipReason want;
    void (*change)(AdmissionRequest&);
  } rows[] = {
      {"nothing", SkipReason::kNone, [](AdmissionRequest&) {}},
      {"a DELETE has no object", SkipReason::kNotOurs,
       [](AdmissionRequest& r) {
         r.operation = Operation::kDelete;
         r.object.reset();
       }},
      {"CONNECT", SkipReason::kNotOurs, [](AdmissionRequest& r) { r.operation = Operation::kConnect; }},
      {"another kind", SkipReason::kNotOurs,
       [](AdmissionRequest& r) {
         r.kind = {"", "v1", "ConfigMap"};
       }},
      {"a Pod of another group", SkipReason::kNotOurs, [](AdmissionRequest& r) { r.kind.group = "example.com"; }},
      {"a subresource", SkipReason::kSubresource, [](AdmissionRequest& r) { r.sub_resource = "eviction"; }},
      {"a Scale", SkipReason::kSubresource,
       [](AdmissionRequest& r) {
         r.kind = {"autoscaling", "v1", "Scale"};
         r.sub_resource = "scale";
         r.operation = Operation::kUpdate;
       }},
      {"kube-system", SkipReason::kProtectedNamespace, [](AdmissionRequest& r) { r.namespace_name = "kube-system"; }},
      {"our own namespace", SkipReason::kProtectedNamespace,
       [](AdmissionRequest& r) { r.namespace_name = "podium-system"; }},
      {"an object that says it is dying", SkipReason::kNone,
       [](AdmissionRequest& r) { r.object->metadata.deleting = true; }},
      {"an object that was dying", SkipReason::kBeingDeleted,
       [](AdmissionRequest& r) {
         r = AsUpdate(r);
         r.old_object->metadata.deleting = true;
       }},
      {"a kubelet's mirror pod", SkipReason::kMirrorPod,
       [](AdmissionRequest& r) {
         r.object->metadata.mirror = true;
         r.groups = {"system:nodes", "system:authenticated"};
       }},
      {"a mirror pod by anybody else", SkipReason::kNone,
       [](AdmissionRequest& r) { r.object->metadata.mirror = true; }},
      {"a stored pod", SkipReason::kPodUpdate, [](AdmissionRequest& r) { r = AsUpdate(r); }},
      {"a stored pod that cannot be read", SkipReason::kPodUpdate,
       [](AdmissionRequest& r) {
         r = AsUpdate(r);
         r.object.reset();
         r.decode_error = "/spec: is an array";
       }},
      {"a stored Job", SkipReason::kTemplateImmutable,
       [](AdmissionRequest& r) { r = AsUpdate(CreateWorkload("batch", "Job", "j", {MakeTemplate().Gpus("w", 2)})); }},
      {"an unchanged template", SkipReason::kUnchanged,
       [](AdmissionRequest& r) { r = AsUpdate(CreateDeployment("d", MakeTemplate().Gpus("w", 2).Unchanged())); }},
  };
  for (const auto& row : rows) {
    AdmissionRequest request = TwoGpus();
    row.change(request);
    const Decision decision = DecideOn(request);
    EXPECT_EQ(ToString(decision.skipped), ToString(row.want)) << row.name;
    if (row.want == SkipReason::kNone) {
      EXPECT_EQ(decision.verdict, Verdict::kRefuse) << row.name;
      continue;
    }
    Decision untouched;  // a skipped request has nothing but where the decision came from
    untouched.request_uid = request.uid;
    untouched.skipped = row.want;
    untouched.policy_name = "gpu-tiers";
    untouched.policy_revision = "cafe";
    EXPECT_EQ(decision, untouched) << row.name;
  }
}

TEST(DecideSkips, QuotasThatStayAsTheyWere) {
  const AdmissionRequest update = AsUpdate(CreateQuota("q", MakeQuota("requests.nvidia.com/gpu", 8)));
  EXPECT_EQ(DecideOn(update).skipped, SkipReason::kUnchanged);
  AdmissionRequest marked = update;
  marked.object->metadata.labels["podium.gpu/tier"] = "high-priority";
  EXPECT_EQ(DecideOn(marked).skipped, SkipReason::kNone);
  AdmissionRequest relabelled = update;
  relabelled.object->metadata.labels["team"] = "asr";
  EXPECT_EQ(DecideOn(relabelled).skipped, SkipReason::kUnchanged);
  AdmissionRequest grown = update;
  grown.object->quota->hard["pods"] = Quantity::FromUnits(3);
  EXPECT_EQ(DecideOn(grown).skipped, SkipReason::kNone);
}

TEST(DecideSkips, OnlyTheTemplatesThatChangedAreJudged) {
  const AdmissionRequest update =
      AsUpdate(CreateWorkload("ray.io", "RayCluster", "r",
                              {Slot("/spec/headGroupSpec/template").Gpus("head", 2).Type("batch").Unchanged(),
                               Slot("/spec/workerGroupSpecs/0/template").Gpus("w", 1).Type("batch")}));
  const Decision decision = DecideOn(update);
  EXPECT_EQ(decision.verdict, Verdict::kAllow) << decision.message;
  ASSERT_EQ(decision.templates.size(), 1U);
  EXPECT_EQ(decision.templates[0].path, "/spec/workerGroupSpecs/0/template");
}

// --- injection ------------------------------------------------------------------------------------------------------

TEST(DecideInjects, AFilledInDefaultIsNotAChoice) {
  const Decision decision = DecideOn(CreateFilled(FilledPod().Type("interactive")));
  const auto edit = [](std::string path, std::optional<EditValue> before, std::optional<EditValue> after,
                       std::string parent) {
    return Edit{std::move(path),   std::move(before),       std::move(after),
                std::move(parent), "inject-priority-class", "workload type 'interactive'"};
  };
  Decision want;
  want.request_uid = "6f0e7a52-0b7f-4c1e-9d15-3f6a2c9b3880";
  want.policy_name = "gpu-tiers";
  want.policy_revision = "cafe";
  want.templates = {{"",
                     {"interactive", ClassificationSource::kLabel},
                     {{"nvidia.com/gpu", GpuUnit::kDevice, 1}},
                     {"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority},
                     {"inference-interactive", 1'000'000, PreemptionPolicy::kPreemptLowerPriority}}};
  want.edits = {edit("/spec/priorityClassName", "cluster-default", "inference-interactive", ""),
                edit("/spec/priority", std::int64_t{100}, std::nullopt, ""),
                edit("/spec/preemptionPolicy", "PreemptLowerPriority", std::nullopt, ""),
                edit("/metadata/annotations/podium.gpu~1injected-by", std::nullopt, "gpu-tiers/interactive",
                     "/metadata/annotations")};
  EXPECT_EQ(decision, want);
}

TEST(DecideInjects, RemovesOnlyWhatIsThere) {
  AdmissionRequest request = CreatePod("p", MakePod().Type("training").Gpus("main", 1).Priority(0));
  request.object->metadata.has_annotations = request.object->templates[0].metadata.has_annotations = true;
  const Decision decision = DecideOn(request);
  EXPECT_THAT(PathsOf(decision.edits), ElementsAre("/spec/priorityClassName", "/spec/priority",
                                                   "/metadata/annotations/podium.gpu~1injected-by"));
  EXPECT_EQ(decision.edits[0].before, std::nullopt);
  EXPECT_EQ(decision.edits[2].missing_parent, "");
  EXPECT_EQ(decision.templates[0].after, (Trio{"training-queue-jumper", 500'000, PreemptionPolicy::kNever}));
}

TEST(DecideInjects, TheLabelIsCopiedAndTheClassSetInATemplateWithoutMetadata) {
  const Decision decision = DecideOn(CreateDeployment("d", MakeTemplate().WithoutMetadata().Gpus("main", 1).Priority(5),
                                                      {{"podium.gpu/workload-type", "interactive"}}));
  ASSERT_THAT(PathsOf(decision.edits),
              ElementsAre("/spec/template/metadata/labels/podium.gpu~1workload-type",
                          "/spec/template/spec/priorityClassName", "/spec/template/spec/priority"));
  EXPECT_EQ(decision.edits[0].missing_parent, "/spec/template/metadata");
  EXPECT_EQ(decision.edits[0].rule, "copy-workload-type-label");
  EXPECT_EQ(decision.verdict, Verdict::kAllow) << decision.message;
}

TEST(DecideInjects, ByTheClassesOfTheClusterWhenThereIsOne) {
  const Policy policy = ThreeTiers();
  ClusterSnapshot snapshot = ClusterOf(policy);
  PriorityClass lower = *snapshot.classes.Find("inference-interactive");
  lower.value = 900'000;
  snapshot.classes.Put(lower.name, lower);
  const AdmissionRequest request = CreateFilled(FilledPod().Type("interactive"));
  const Decision drifted = DecideOn(request, policy, &snapshot);
  EXPECT_EQ(drifted.templates[0].after.priority, 900'000);
  EXPECT_EQ(drifted.snapshot_generation, 7U);
  snapshot.classes = {};
  for (const auto& [name, each] : ClusterOf(policy).classes)
    if (name != "inference-interactive") snapshot.classes.Put(name, each);
  const Decision missing = DecideOn(request, policy, &snapshot);
  EXPECT_THAT(missing.edits, IsEmpty());
  EXPECT_EQ(missing.verdict, Verdict::kAllow);
  EXPECT_THAT(missing.warnings, ElementsAre(HasSubstr("class 'inference-interactive' of workload type 'interactive' "
                                                      "does not exist")));
}

TEST(DecideOnAStaleCluster, AsThePolicySays) {
  const AdmissionRequest request = CreateFilled(FilledPod().Type("interactive"));
  Policy policy = ThreeTiers();
  ClusterSnapshot snapshot = ClusterOf(policy);
  PriorityClass live = *snapshot.classes.Find("inference-interactive");
  live.value = 900'000;
  snapshot.classes.Put(live.name, live);
  snapshot.sources["namespaces"].last_event = kNow;
  snapshot.sources["priorityclasses.scheduling.k8s.io"].last_event = kNow - std::chrono::seconds(301);
  snapshot.sources["pods"].last_event = TimePoint{};  // no decision is made on pods
  EXPECT_EQ(DecideOn(request, policy, &snapshot).templates[0].after.priority, 900'000);
  policy.on_stale_cluster = StaleCluster::kLadder;
  const Decision by_ladder = DecideOn(request, policy, &snapshot);
  EXPECT_EQ(by_ladder.templates[0].after.priority, 1'000'000);
  EXPECT_EQ(by_ladder.snapshot_generation, 0U);
  policy.on_stale_cluster = StaleCluster::kRefuse;
  const Decision refused = DecideOn(request, policy, &snapshot);
  EXPECT_EQ(refused.verdict, Verdict::kRefuse);
  EXPECT_EQ(refused.code, 500);
  EXPECT_THAT(refused.message, HasSubstr("last heard of 301 s ago (staleAfterSeconds: 300)"));
  snapshot.sources["priorityclasses.scheduling.k8s.io"].last_event = kNow - std::chrono::seconds(300);
  EXPECT_EQ(DecideOn(request, policy, &snapshot).verdict, Verdict::kAllow) << "not stale yet";
}

TEST(DecideInjects, WhoseWordCounts) {
  const struct {
    const char* name;
    Respect respect;
    const char* type;
    const char* chosen;
    const char* want;  // null: nothing is injected
  } rows[] = {
      {"policy replaces", Respect::kPolicy, "batch", "inference-interactive", "inference-batch"},
      {"user stands", Respect::kUser, "batch", "inference-interactive", nullptr},
      {"above the ceiling", Respect::kCeiling, "batch", "inference-interactive", "inference-batch"},
      {"below the ceiling", Respect::kCeiling, "interactive", "inference-batch", nullptr},
      {"at the ceiling", Respect::kCeiling, "batch", "inference-batch", nullptr},
      {"another class of the ceiling's value", Respect::kCeiling, "batch", "peer-of-batch", nullptr},
      {"the default is no choice, even for user", Respect::kUser, "batch", "cluster-default", "inference-batch"},
      {"already there", Respect::kPolicy, "batch", "inference-batch", nullptr},
      {"a system class", Respect::kPolicy, "batch", "system-node-critical", nullptr},
      {"a class that does not exist", Respect::kPolicy, "batch", "no-such-class", nullptr},
      {"no type", Respect::kPolicy, "no-such-type", "inference-interactive", nullptr},
  };
  for (const auto& row : rows) {
    const Slot slot = MakeTemplate().Type(row.type).Class(row.chosen).Gpus("main", 1);
    Policy policy = WithRespect(ThreeTiers(), row.respect);
    policy.ladder.push_back(builders::MakeClass("peer-of-batch", 1'000, Tier::kPreemptible));
    const Decision decision = DecideOn(CreateDeployment("d", slot), policy);
    const std::string after = row.want == nullptr ? row.chosen : row.want;
    EXPECT_EQ(decision.templates.at(0).after.class_name, after) << row.name;
    EXPECT_EQ(decision.edits.size(), row.want == nullptr ? 0U : 1U) << row.name;
  }
}

TEST(DecideInjects, NothingBelowEnforceAndSaysWhatItWouldDo) {
  const AdmissionRequest request = CreateFilled(FilledPod().Type("interactive"));
  const auto finding = [](Mode mode, bool exempted) {
    return Finding{"inject-priority-class", mode, exempted, "spec.priorityClassName",
                   "spec.priorityClassName would be set to 'inference-interactive' (workload type 'interactive')"};
  };
  const Policy policy = ThreeTiers();
  const Decision audit = DecideOn(request, WithMode(policy, "inject-priority-class", Mode::kAudit));
  EXPECT_THAT(audit.findings, ElementsAre(finding(Mode::kAudit, false)));
  EXPECT_THAT(audit.warnings, IsEmpty());
  const Decision warn = DecideOn(request, WithMode(policy, "inject-priority-class", Mode::kWarn));
  EXPECT_THAT(warn.findings, ElementsAre(finding(Mode::kWarn, false)));
  EXPECT_EQ(warn.warnings.size(), 1U);
  const Decision exempted =
      DecideOn(request, WithExemption(policy, MakeExemption({"inject-priority-class"}, kNow + std::chrono::hours(1))));
  EXPECT_TRUE(exempted.findings.at(0).exempted);
  EXPECT_THAT(exempted.warnings, IsEmpty());
  const Decision off = DecideOn(request, WithMode(policy, "inject-priority-class", Mode::kOff));
  EXPECT_THAT(off.findings, IsEmpty());
  for (const Decision& each : {audit, warn, exempted, off}) {
    EXPECT_THAT(each.edits, IsEmpty());
    EXPECT_EQ(each.templates.at(0).after, each.templates.at(0).before);
  }
}

// The Deployment controller takes a ReplicaSet with another template for a hash collision and makes one more, for ever.
TEST(DecideInjects, NotIntoATemplateThatAControllerKeeps) {
  AdmissionRequest request =
      CreateWorkload("apps", "ReplicaSet", "chat-5bf49", {MakeTemplate().Gpus("s", 1).Type("interactive")});
  EXPECT_EQ(DecideOn(request).edits.size(), 1U);
  request.object->metadata.owners.push_back({"apps/v1", "Deployment", "chat", true});
  EXPECT_THAT(DecideOn(request).edits, IsEmpty());
}

TEST(DecideInjects, NotIntoAPodWithoutContainers) {
  EXPECT_THAT(DecideOn(CreateDeployment("d", MakeTemplate().Type("interactive"))).edits, IsEmpty());
}

TEST(DecideInjects, AnEmptyClassNameIsNone) {
  const Decision decision = DecideOn(CreateDeployment("d", MakeTemplate().Type("batch").Class("").Gpus("main", 1)));
  EXPECT_EQ(decision.verdict, Verdict::kAllow) << decision.message;
  EXPECT_EQ(decision.templates[0].after.class_name, "inference-batch");
}

// --- validation -----------------------------------------------------------------------------------------------------

TEST(DecideRefuses, ARefusalHasEveryReasonAndNoEdit) {
  const Slot slot = MakeTemplate().Type("batch").Gpus("decode", 1).Gpus("align", 1);
  const Decision decision = DecideOn(CreateDeployment("asr", slot));
  EXPECT_EQ(decision.verdict, Verdict::kRefuse);
  EXPECT_EQ(decision.code, 403);
  EXPECT_THAT(decision.edits, IsEmpty());
  EXPECT_EQ(
      decision.message,
      "[multi-gpu-preemptible] spec.template.spec: pod asks for 2 nvidia.com/gpu (containers: decode 1 + align 1), "
      "class 'inference-batch' is preemptible and may hold at most 1 device: use 1 per pod, or a class that is not "
      "preemptible (inference-interactive, training-queue-jumper), or ask for an exemption. A pod that is evicted to "
      "free one GPU gives up all of them, and starts again only when one node has as many free");
  EXPECT_EQ(decision.templates[0].after.class_name, "inference-batch");
}

TEST(DecideRefuses, EveryTemplateOfARayJobByItsOwnPath) {
  const std::string workers = "/spec/rayClusterSpec/workerGroupSpecs/";
  const Decision decision =
      DecideOn(CreateWorkload("ray.io", "RayJob", "embed",
                              {Slot("/spec/rayClusterSpec/headGroupSpec/template").Asks("head", "cpu", 4),
                               Slot(workers + "0/template").Gpus("w", 2), Slot(workers + "1/template").Gpus("w", 3)},
                              {{"podium.gpu/workload-type", "batch"}}));
  EXPECT_EQ(decision.verdict, Verdict::kRefuse);
  EXPECT_THAT(decision.message, HasSubstr("spec.rayClusterSpec.workerGroupSpecs[0].template.spec: pod asks for 2 "));
  EXPECT_THAT(decision.message, HasSubstr("spec.rayClusterSpec.workerGroupSpecs[1].template.spec: pod asks for 3 "));
  ASSERT_EQ(decision.templates.size(), 3U);
  for (const TemplateDecision& each : decision.templates) EXPECT_EQ(each.classification.workload_type, "batch");
  EXPECT_THAT(decision.templates[0].gpus, IsEmpty());
  EXPECT_THAT(RulesOf(decision),
              ElementsAre("copy-workload-type-label", "multi-gpu-preemptible", "multi-gpu-preemptible"))
      << "the note about the label that pods will not carry comes once";
}

TEST(DecideRefuses, CustomWorkloadsAreJudgedByTheClassTheirPodsAreGiven) {
  const auto ray = [](const Slot& slot) { return CreateWorkload("ray.io", "RayCluster", "r", {slot}); };
  const std::string path = "/spec/headGroupSpec/template";
  const Decision given = DecideOn(ray(Slot(path).Type("interactive").Gpus("h", 2)));
  EXPECT_EQ(given.verdict, Verdict::kAllow) << given.message;
  EXPECT_THAT(given.edits, IsEmpty());
  EXPECT_EQ(given.templates[0].after, Trio{}) << "what is stored has no class";
  const Decision fallback = DecideOn(ray(Slot(path).Gpus("h", 2)));
  EXPECT_THAT(fallback.message, HasSubstr("class 'cluster-default' (the global default, as no class is set)"));
  const Decision lowered = DecideOn(ray(Slot(path).Type("batch").Class("inference-interactive").Gpus("h", 2)));
  EXPECT_THAT(lowered.message, HasSubstr("class 'inference-batch' (which its pods are given)"));
  const Policy manual = WithMode(ThreeTiers(), "inject-priority-class", Mode::kWarn);
  EXPECT_EQ(DecideOn(ray(Slot(path).Type("interactive").Gpus("h", 2)), manual).verdict, Verdict::kRefuse);
}

TEST(DecideRefuses, QuotasShowBothScopes) {
  const Quota scoped =
      MakeQuota("requests.nvidia.com/gpu", 8,
                {{"PriorityClass", "In", {"inference-interactive", "x"}}, {"Terminating", "Exists", {}}});
  AdmissionRequest request = AsUpdate(CreateQuota("serving-high", MakeQuota("requests.nvidia.com/gpu", 8)));
  request.old_object->quota = scoped;
  request.old_object->quota->scopes = {"BestEffort"};
  const Decision decision = DecideOn(request);
  EXPECT_EQ(decision.verdict, Verdict::kRefuse);
  EXPECT_EQ(decision.code, 403);
  EXPECT_EQ(decision.quota_scope,
            (QuotaScopeChange{"BestEffort, PriorityClass In [inference-interactive, x], Terminating Exists", "none"}));
  EXPECT_THAT(decision.message, HasSubstr("quota 'serving-high' grants 8 nvidia.com/gpu"));
  EXPECT_EQ(DecideOn(CreateQuota("q", scoped)).quota_scope->before, std::nullopt);
}

TEST(DecideRefuses, AnExemptionMakesItARecordUntilItEnds) {
  const Policy exempting =
      WithExemption(ThreeTiers(), MakeExemption({std::string(kMultiGpu)}, kNow + std::chrono::seconds(1)));
  const Decision decision = DecideOn(TwoGpus(), exempting);
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  ASSERT_EQ(decision.findings.size(), 1U);
  EXPECT_TRUE(decision.findings[0].exempted);
  EXPECT_EQ(decision.findings[0].mode, Mode::kEnforce);
  EXPECT_EQ(Decide(TwoGpus(), exempting, nullptr, {}, kNow + std::chrono::seconds(1)).verdict, Verdict::kRefuse);
}

TEST(DecideRefuses, TextOfTheRequestCannotForgeALine) {
  const Decision decision = DecideOn(CreateDeployment("d", MakeTemplate().Class("a\nb\u0085c").Gpus("main", 1)));
  EXPECT_THAT(decision.message, HasSubstr("class 'a?b?c' does not exist"));
}

// --- the rest -------------------------------------------------------------------------------------------------------

TEST(Decide, ADryRunIsDecidedLikeARealOne) {
  for (AdmissionRequest request : {CreateFilled(FilledPod().Type("interactive")), TwoGpus()}) {
    Decision real = DecideOn(request);
    request.dry_run = true;
    const Decision dry = DecideOn(request);
    real.dry_run = true;
    EXPECT_EQ(dry, real);
  }
}

TEST(Decide, AnUnreadableObjectFollowsThePosture) {
  AdmissionRequest request = TwoGpus();
  request.object.reset();
  request.decode_error = "/spec/containers is a string; wanted: an array";
  const std::string problem = "the object cannot be read: /spec/containers is a string; wanted: an array";
  const Decision allowed = DecideOn(request);
  EXPECT_EQ(allowed.verdict, Verdict::kAllow);
  EXPECT_EQ(allowed.internal_error, problem);
  EXPECT_THAT(allowed.warnings, ElementsAre("podium did not apply its policy: " + problem));
  Policy strict = ThreeTiers();
  strict.on_internal_error = Posture::kRefuse;
  const Decision refused = DecideOn(request, strict);
  EXPECT_EQ(refused.verdict, Verdict::kRefuse);
  EXPECT_EQ(refused.code, 500);
  EXPECT_EQ(refused.message, "podium cannot decide: " + problem);
  request.decode_error.reset();
  EXPECT_EQ(DecideOn(request, strict).message,
            "podium cannot decide: the object cannot be read: the review has no object");
}

// A policy that was not compiled is the one way to make a rule throw from outside.
TEST(Decide, AnExceptionFollowsThePosture) {
  Policy broken = ThreeTiers();
  broken.rules.clear();
  const Decision allowed = DecideOn(TwoGpus(), broken);
  EXPECT_EQ(allowed.verdict, Verdict::kAllow);
  EXPECT_TRUE(allowed.internal_error.has_value());
  EXPECT_EQ(allowed.request_uid, TwoGpus().uid);
  broken.on_internal_error = Posture::kRefuse;
  EXPECT_EQ(DecideOn(TwoGpus(), broken).code, 500);
}

TEST(WorkloadKinds, AreUniqueAndTheirPathsAreAbsolute) {
  std::vector<std::pair<std::string_view, std::string_view>> seen;
  for (const WorkloadKind& row : WorkloadKinds()) {
    const std::pair<std::string_view, std::string_view> key(row.group, row.kind);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), key), 0) << row.kind;
    seen.push_back(key);
    EXPECT_FALSE(row.template_paths.empty()) << row.kind;
    for (const std::string_view path : row.template_paths)
      EXPECT_TRUE(path.empty() || path.starts_with("/")) << row.kind;
    EXPECT_EQ(FindWorkloadKind({std::string(row.group), "v9", std::string(row.kind)}), &row);
  }
  EXPECT_EQ(FindWorkloadKind({"", "v1", "ConfigMap"}), nullptr);
  EXPECT_EQ(FindWorkloadKind({"batch.volcano.sh", "v1alpha1", "Job"})->injectable, false);
}

}  // namespace
}  // namespace podium
