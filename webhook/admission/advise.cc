#include "admission/advise.h"

#include <algorithm>
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
constexpr std::size_t kMostTemplates = 100;   // of one object, with GPUs or without
constexpr std::size_t kMostAsked = 16;        // pod templates of one object
constexpr std::size_t kMostWork = 1'000'000;  // weight x nodes: a tenth of a second at most

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

// What an evaluation of the pod does on each node, roughly: 100 ns each.
std::size_t WeightOf(const SchedulingSpec& spec) {
  std::size_t weight = 10 + spec.tolerations.size() + spec.node_selector.size() + spec.host_ports.size() +
                       spec.pod_affinity.size() + spec.pod_anti_affinity.size() + spec.spread.size();
  if (!spec.node_affinity) return weight;
  for (const NodeSelectorTerm& term : spec.node_affinity->terms) {
    weight += 1;
    for (const auto* list : {&term.expressions, &term.fields})
      for (const NodeRequirement& requirement : *list) weight += 1 + requirement.values.size();
  }
  return weight;
}

// Others wait for this thread while it evaluates.
bool IsTooMuch(const PodQuestion& question, std::size_t asked, const ClusterSnapshot& snapshot) {
  return asked >= kMostAsked || WeightOf(*question.pod.scheduling) > kMostWork / (1 + snapshot.nodes.size());
}

// A DaemonSet has a pod for each node, and a workload without replicas has none: there is no one pod to ask about.
void Ask(Decision& decision, const AdviseInput& input) {
  if (input.request.object->templates.size() > kMostTemplates) return Miss(decision, NoAdvice::kTooMuch);
  const ClassView classes(input.policy, input.advisor.snapshot().get());
  const Result<std::vector<PodQuestion>> questions = QuestionsOf(input.request, decision, classes, input.review);
  if (!questions) return Miss(decision, NoAdvice::kFailed);
  std::size_t asked = 0;
  for (TemplateDecision& pod : decision.templates) {
    if (!pod.advice) continue;
    const auto question = std::find_if(questions->begin(), questions->end(),
                                       [&](const PodQuestion& each) { return each.path == pod.path; });
    if (question == questions->end() || question->per_node || question->replicas == 0)
      pod.advice.reset();
    else if (IsTooMuch(*question, asked++, *input.advisor.snapshot()))
      pod.advice->missing = NoAdvice::kTooMuch;
    else
      pod.advice->given = input.advisor.Ask(question->pod, input.policy.gpus, question->replicas);
  }
}

// On an update the workload's own pods hold what its new ones would get: a rollout may take them away first. Only that
// no node is big enough is true all the same.
bool IsSure(Feasibility verdict, const AdmissionRequest& request) {
  return request.operation == Operation::kCreate || verdict == Feasibility::kShapeNeverFits;
}

bool Refuses(const TemplateDecision& pod, const AdmissionRequest& request) {
  if (!pod.advice || !pod.advice->given || pod.advice->mode != Mode::kEnforce) return false;
  const Feasibility verdict = pod.advice->given->verdict;
  return IsRefusable(verdict) && IsSure(verdict, request);
}

Finding Refusal(const TemplateDecision& pod) {
  PodTemplate place;
  place.path = pod.path;
  const std::string& type = pod.classification.workload_type;
  const std::string what = pod.advice->given->refusal +
                           " `podium feasibility -f` shows each node, and what would help where anything does. " +
                           (type.empty() ? "The policy" : "Workload type '" + type + "'") + " has advice: enforce";
  return {std::string(kAdviceRule), Mode::kEnforce, false, FieldPath(place, "spec"), OneLine(what, kFindingBytes)};
}

// Findings have the first word; of what does not fit in, the audit log has all.
void Warn(Decision& decision, const AdmissionRequest& request) {
  for (const TemplateDecision& pod : decision.templates) {
    if (!pod.advice || !pod.advice->given || pod.advice->mode == Mode::kAudit || Refuses(pod, request)) continue;
    if (!IsSure(pod.advice->given->verdict, request)) continue;
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
      if (Refuses(pod, input.request)) decision.findings.push_back(Refusal(pod));
    Fold(decision);
    if (decision.verdict == Verdict::kRefuse) return;
  }
  Warn(decision, input.request);
}

bool WantsAdvice(const Decision& decision, const AdmissionRequest& request) {
  return request.endpoint == Endpoint::kValidate && decision.verdict == Verdict::kAllow &&
         decision.skipped == SkipReason::kNone && !decision.internal_error;
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
  for (const std::string_view resource : kEvaluatedResources) {
    const auto source = snapshot.sources.find(std::string(resource));
    if (source == snapshot.sources.end() || !source->second.synced) return NoAdvice::kUnsynced;
    if (now - source->second.last_event > policy.stale_after) return NoAdvice::kStale;
  }
  return NoAdvice::kNone;
}

Decision WithoutAdvice(Decision decision, const AdmissionRequest& request, const Policy& policy, NoAdvice why) {
  if (WantsAdvice(decision, request) && Open(decision, policy)) Miss(decision, why);
  return decision;
}

Decision WithAdvice(Decision decision, const AdviseInput& input) {
  if (!WantsAdvice(decision, input.request) || !Open(decision, input.policy)) return decision;
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
