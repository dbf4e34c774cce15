// Properties that hold for every pod: our own output sent through again changes nothing, the API server takes what we
// make, and a dry run is decided like a real one.
#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "admission/decide.h"
#include "builders/apply.h"
#include "builders/policies.h"
#include "builders/requests.h"

namespace podium {
namespace {

using builders::Applied;
using builders::ClusterOf;
using builders::CreatePod;
using builders::CreateWorkload;
using builders::PassesPriorityStep;
using builders::Slot;
using builders::ThreeTiers;
using builders::WithRespect;
using rc::gen::element;

constexpr TimePoint kNow = TimePoint(std::chrono::hours(24 * 20'000));

Policy AnyPolicy() {
  Policy policy = WithRespect(ThreeTiers(), *element(Respect::kUser, Respect::kPolicy, Respect::kCeiling));
  const bool has_default = *rc::gen::arbitrary<bool>();
  policy.ladder[3].priority_class.global_default = has_default;
  policy.ladder[2].priority_class.global_default = !has_default && *rc::gen::arbitrary<bool>();
  for (const char* rule : {"copy-workload-type-label", "inject-priority-class"})
    policy.rules.at(rule).mode =
        *element(Mode::kOff, Mode::kAudit, Mode::kWarn, Mode::kEnforce, Mode::kEnforce, Mode::kEnforce, Mode::kEnforce);
  if (*element(0, 1, 2, 3) == 0) policy.workload_types[0].priority_class = "not-there";
  return policy;
}

void ChooseLabels(Slot& slot) {
  const std::string type = *element<std::string>("", "interactive", "training", "batch", "typo");
  if (!type.empty()) slot.Type(type);
  if (*rc::gen::arbitrary<bool>()) slot.Label("app", "x");
}

Slot AnySlot(const std::string& path) {
  Slot slot(path);
  ChooseLabels(slot);
  for (int i = *element(0, 1, 1, 2); i > 0; --i) slot.Gpus("c" + std::to_string(i), *element(0, 1, 2));
  if (*element(0, 1, 2, 3) == 0) slot.InitGpus("init", *element(0, 1, 2));
  const std::string chosen = *element<std::string>("", "inference-interactive", "inference-batch", "cluster-default",
                                                   "gone", "system-node-critical");
  if (!chosen.empty()) slot.Class(chosen);
  if (!path.empty() && *element(0, 1, 2, 3) == 0) slot.Priority(*element(0, 100, 1'000, 1'000'000));
  if (!path.empty() && *element(0, 1, 2, 3) == 0)
    slot.Preempts(*element(PreemptionPolicy::kNever, PreemptionPolicy::kPreemptLowerPriority));
  if (!path.empty() && *element(0, 1, 2, 3) == 0) slot.WithoutMetadata();
  return slot;
}

AdmissionRequest AnyPod(const Policy& policy) {
  Slot slot = AnySlot("");
  slot.FilledIn(ClassView(policy, nullptr));
  AdmissionRequest request = CreatePod("p", slot);
  const bool annotated = *rc::gen::arbitrary<bool>();
  request.object->metadata.has_annotations = request.object->templates[0].metadata.has_annotations = annotated;
  return request;
}

AdmissionRequest AnyWorkload() {
  Labels labels;
  if (*rc::gen::arbitrary<bool>())
    labels["podium.gpu/workload-type"] = *element<std::string>("batch", "interactive", "typo");
  switch (*element(0, 1, 2, 3)) {
    case 0: return CreateWorkload("apps", "Deployment", "d", {AnySlot("/spec/template")}, labels);
    case 1: return CreateWorkload("batch", "Job", "j", {AnySlot("/spec/template")}, labels);
    case 2: return CreateWorkload("batch", "CronJob", "c", {AnySlot("/spec/jobTemplate/spec/template")}, labels);
    default:
      return CreateWorkload("ray.io", "RayCluster", "r",
                            {AnySlot("/spec/headGroupSpec/template"), AnySlot("/spec/workerGroupSpecs/0/template")},
                            labels);
  }
}

Decision DecideOn(const AdmissionRequest& request, const Policy& policy) {
  return Decide(request, policy, nullptr, {}, kNow);
}

// Allowed, applied, and sent through again: nothing is due, and nothing is refused now that was allowed then.
void ExpectFixedPoint(AdmissionRequest request, const Policy& policy) {
  const Decision first = DecideOn(request, policy);
  RC_ASSERT(!first.internal_error);
  if (first.verdict == Verdict::kRefuse) {
    RC_ASSERT(first.edits.empty());
    return;
  }
  request.object = Applied(*request.object, first.edits);
  const Decision second = DecideOn(request, policy);
  RC_ASSERT(second.edits.empty());
  RC_ASSERT(second.verdict == Verdict::kAllow);
  RC_TAG(first.edits.empty() ? "nothing due" : "injected");
}

RC_GTEST_PROP(DecideProperty, PodsAreAFixedPoint, ()) {
  const Policy policy = AnyPolicy();
  ExpectFixedPoint(AnyPod(policy), policy);
}

RC_GTEST_PROP(DecideProperty, WorkloadsAreAFixedPoint, ()) {
  const Policy policy = AnyPolicy();
  ExpectFixedPoint(AnyWorkload(), policy);
}

// Also after the API server has filled in the number and the policy again, as it does between our two calls.
RC_GTEST_PROP(DecideProperty, AnAllowedPodPassesThePriorityStepAndStaysAsItIs, ()) {
  const Policy policy = AnyPolicy();
  const ClassView classes(policy, nullptr);
  AdmissionRequest request = AnyPod(policy);
  PodTemplate before = request.object->templates[0];
  RC_PRE(PassesPriorityStep(before, classes));  // else the API server would not have called us
  const Decision decision = DecideOn(request, policy);
  if (decision.verdict == Verdict::kRefuse) return;
  request.object = Applied(*request.object, decision.edits);
  RC_ASSERT(PassesPriorityStep(request.object->templates[0], classes));
  RC_ASSERT(request.object->templates[0].spec.trio == decision.templates.at(0).after);
  RC_ASSERT(DecideOn(request, policy).edits.empty());
}

// A workload that is allowed makes pods that the Priority step takes.
RC_GTEST_PROP(DecideProperty, AnAllowedTemplateMakesPodsThatPassThePriorityStep, ()) {
  const Policy policy = AnyPolicy();
  const ClassView classes(policy, nullptr);
  AdmissionRequest request = AnyWorkload();
  const Decision decision = DecideOn(request, policy);
  if (decision.verdict == Verdict::kRefuse) return;
  request.object = Applied(*request.object, decision.edits);
  for (PodTemplate& slot : request.object->templates) RC_ASSERT(PassesPriorityStep(slot, classes));
}

RC_GTEST_PROP(DecideProperty, ADryRunIsDecidedLikeARealOne, ()) {
  const Policy policy = AnyPolicy();
  AdmissionRequest request = *rc::gen::arbitrary<bool>() ? AnyPod(policy) : AnyWorkload();
  Decision real = DecideOn(request, policy);
  request.dry_run = true;
  real.dry_run = true;
  RC_ASSERT(DecideOn(request, policy) == real);
}

// The ladder and a cluster that has just these classes lead to the same decision.
RC_GTEST_PROP(DecideProperty, ASnapshotThatEqualsTheLadderChangesNoVerdict, ()) {
  const Policy policy = AnyPolicy();
  const ClusterSnapshot snapshot = ClusterOf(policy);
  const AdmissionRequest request = AnyWorkload();
  const Decision with = Decide(request, policy, &snapshot, {}, kNow);
  const Decision without = DecideOn(request, policy);
  RC_ASSERT(with.verdict == without.verdict);
  RC_ASSERT(with.edits == without.edits);
}

}  // namespace
}  // namespace podium
