#include "admission/advise.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "admission/advice_text.h"
#include "admission/fold.h"
#include "admission/question.h"
#include "rules/catalog.h"
#include "rules/classes.h"

namespace podium {
namespace {

constexpr std::size_t kFindingBytes = 2000;

// What an evaluation reads.
constexpr std::array<std::string_view, 5> kEvaluatedSources = {
    "namespaces", "nodes", "pods", "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io"};

Mode ModeFor(const TemplateDecision& pod, const Policy& policy) {
  const auto type =
      std::find_if(policy.workload_types.begin(), policy.workload_types.end(),
                   [&](const WorkloadType& each) { return each.name == pod.classification.workload_type; });
  return type == policy.workload_types.end() ? policy.advice : type->advice;
}

// Marks the templates that want advice; nothing is given yet.
bool Open(Decision& decision, const Policy& policy) {
  bool any = false;
  for (TemplateDecision& pod : decision.templates) {
    const Mode mode = ModeFor(pod, policy);
    if (pod.gpus.empty() || mode == Mode::kOff) continue;
    pod.advice = TemplateAdvice{mode, nullptr, NoAdvice::kNone};
    any = true;
  }
  return any;
}

void Miss(Decision& decision, NoAdvice reason) {
  for (TemplateDecision& pod : decision.templates)
    if (pod.advice && pod.advice->given == nullptr) pod.advice->missing = reason;
}

// A DaemonSet has a pod for each node, and a workload without replicas has none: there is no one pod to ask about.
void Ask(Decision& decision, const AdviseInput& input) {
  const ClassView classes(input.policy, input.advisor.snapshot().get());
  const Result<std::vector<PodQuestion>> questions = QuestionsOf(input.request, decision, classes, input.review);
  if (!questions) return Miss(decision, NoAdvice::kFailed);
  for (TemplateDecision& pod : decision.templates) {
    if (!pod.advice) continue;
    const auto question = std::find_if(questions->begin(), questions->end(),
                                       [&](const PodQuestion& each) { return each.path == pod.path; });
    if (question == questions->end() || question->per_node || question->replicas == 0)
      pod.advice.reset();
    else
      pod.advice->given = input.advisor.Ask(question->pod, input.policy.gpus, question->replicas);
  }
}

bool Refuses(const TemplateDecision& pod) {
  return pod.advice && pod.advice->given && pod.advice->mode == Mode::kEnforce &&
         IsRefusable(pod.advice->given->verdict);
}

Finding Refusal(const TemplateDecision& pod) {
  PodTemplate place;
  place.path = pod.path;
  const std::string what = pod.advice->given->refusal +
                           " Ask for less on one node, or make room on one: `podium feasibility -f` shows what would "
                           "help. Workload type '" +
                           pod.classification.workload_type + "' has advice: enforce";
  return {std::string(kAdviceRule), Mode::kEnforce, false, FieldPath(place, "spec"), OneLine(what, kFindingBytes)};
}

// Findings have the first word; of what does not fit in, the audit log has all.
void Warn(Decision& decision) {
  for (const TemplateDecision& pod : decision.templates) {
    if (!pod.advice || !pod.advice->given || pod.advice->mode == Mode::kAudit || Refuses(pod)) continue;
    const std::string& warning = pod.advice->given->warning;
    std::vector<std::string>& all = decision.warnings;
    if (warning.empty() || all.size() >= kMostWarnings) continue;
    if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  }
}

void Fill(Decision& decision, const AdviseInput& input) {
  const NoAdvice missing = WhyNoAdvice(*input.advisor.snapshot(), input.policy, input.now);
  if (missing != NoAdvice::kNone) return Miss(decision, missing);
  Ask(decision, input);
  if (input.request.object->metadata.Controller() == nullptr) {
    for (const TemplateDecision& pod : decision.templates)
      if (Refuses(pod)) decision.findings.push_back(Refusal(pod));
    Fold(decision);
    if (decision.verdict == Verdict::kRefuse) return;
  }
  Warn(decision);
}

}  // namespace

bool AsksForAdvice(const Policy& policy) {
  const bool any_type = std::any_of(policy.workload_types.begin(), policy.workload_types.end(),
                                    [](const WorkloadType& type) { return type.advice != Mode::kOff; });
  return !policy.gpus.empty() && (any_type || policy.advice != Mode::kOff);
}

NoAdvice WhyNoAdvice(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now) {
  if (snapshot.nodes.empty()) return NoAdvice::kNoNodes;
  if (snapshot.sources.empty()) return NoAdvice::kNone;
  for (const std::string_view resource : kEvaluatedSources) {
    const auto source = snapshot.sources.find(std::string(resource));
    if (source == snapshot.sources.end() || !source->second.synced) return NoAdvice::kUnsynced;
    if (now - source->second.last_event > policy.stale_after) return NoAdvice::kStale;
  }
  return NoAdvice::kNone;
}

Decision WithAdvice(Decision decision, const AdviseInput& input) {
  const bool asked = input.request.endpoint == Endpoint::kValidate && decision.verdict == Verdict::kAllow &&
                     decision.skipped == SkipReason::kNone && !decision.internal_error;
  if (!asked || !Open(decision, input.policy)) return decision;
  try {
    Decision advised = decision;
    Fill(advised, input);
    return advised;
  } catch (const std::exception&) {  // no memory: the decision stands
    Miss(decision, NoAdvice::kFailed);
    return decision;
  }
}

}  // namespace podium
