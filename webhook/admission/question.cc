#include "admission/question.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "admission/apiserver.h"
#include "admission/codec.h"
#include "admission/replicas.h"
#include "core/text.h"
#include "wire/decode.h"
#include "wire/manifest.h"

namespace podium {
namespace {

Error Invalid(std::string message) { return {ErrorKind::kInvalidInput, std::move(message)}; }

// --- what was decided -----------------------------------------------------------------------------------------------

const TemplateDecision* DecisionOn(const Decision& decision, const std::string& path) {
  const auto found = std::find_if(decision.templates.begin(), decision.templates.end(),
                                  [&](const TemplateDecision& each) { return each.path == path; });
  return found == decision.templates.end() ? nullptr : &*found;
}

// The API server's Priority step on a pod with this class. A class that does not exist leaves what was written: such a
// pod is refused, so nothing follows from it.
Trio AfterPriorityStep(Trio trio, const ClassView& classes) {
  const bool named = trio.class_name && !trio.class_name->empty();
  const PriorityClass* found = named ? classes.Find(*trio.class_name) : classes.GlobalDefault();
  if (found != nullptr) return {found->name, found->value, found->preemption_policy};
  if (!named) return {std::nullopt, 0, PreemptionPolicy::kPreemptLowerPriority};
  return trio;
}

Trio TrioOfPods(const PodTemplate& slot, const TemplateDecision* decided, const ClassView& classes) {
  if (decided == nullptr) return AfterPriorityStep(slot.spec.trio, classes);  // skipped: kube-system and the like
  return AfterPriorityStep(decided->of_pods.value_or(decided->after), classes);
}

std::string Unescaped(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escape = segment[i] == '~' && i + 1 < segment.size();
    text += !escape ? segment[i] : segment[++i] == '1' ? '/' : '~';
  }
  return text;
}

// The template's labels with what the rules add to them.
Labels LabelsAfter(const PodTemplate& slot, const std::vector<Edit>& edits) {
  Labels labels = slot.metadata.labels;
  const std::string place = slot.path + "/metadata/labels/";
  for (const Edit& edit : edits) {
    if (!edit.path.starts_with(place)) continue;
    const std::string key = Unescaped(std::string_view(edit.path).substr(place.size()));
    const auto* value = edit.after ? std::get_if<std::string>(&*edit.after) : nullptr;
    if (value != nullptr)
      labels[key] = *value;
    else
      labels.erase(key);
  }
  return labels;
}

// --- what the API server fills in -----------------------------------------------------------------------------------

// Source: pkg/apis/core/v1/defaults.go, SetDefaults_Pod: of pods only, not of templates.
void FillRequests(std::vector<Container>& containers) {
  for (Container& container : containers) container.requests.insert(container.limits.begin(), container.limits.end());
}

struct GivenToleration {
  std::string_view key;
  std::string_view effect;
};

// Source: plugin/pkg/admission/defaulttolerationseconds. For some minutes only; the scheduler does not ask how long.
constexpr std::array<GivenToleration, 2> kGivenToAll = {
    {{"node.kubernetes.io/not-ready", "NoExecute"}, {"node.kubernetes.io/unreachable", "NoExecute"}}};

// Source: pkg/controller/daemon/util, AddOrUpdateDaemonPodTolerations.
constexpr std::array<GivenToleration, 4> kGivenToDaemons = {{{"node.kubernetes.io/disk-pressure", "NoSchedule"},
                                                             {"node.kubernetes.io/memory-pressure", "NoSchedule"},
                                                             {"node.kubernetes.io/pid-pressure", "NoSchedule"},
                                                             {"node.kubernetes.io/unschedulable", "NoSchedule"}}};

void Tolerate(std::vector<Toleration>& tolerations, const GivenToleration& given) {
  const bool has = std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& each) {
    return (each.key == given.key || each.key.empty()) && (each.effect == given.effect || each.effect.empty());
  });
  if (!has) tolerations.push_back({.key = std::string(given.key), .op = "Exists", .effect = std::string(given.effect)});
}

void TolerateLike(std::vector<Toleration>& tolerations, bool is_daemon) {
  if (is_daemon)
    for (const GivenToleration& given : kGivenToDaemons) Tolerate(tolerations, given);
  for (const GivenToleration& given : kGivenToAll) Tolerate(tolerations, given);
}

// --- one template ---------------------------------------------------------------------------------------------------

std::string NameOf(const AdmissionRequest& request) { return std::string(request.DisplayName()); }

// A pod that names its node is not the scheduler's business any more.
std::string NodeNameIn(JsonElement pod_spec) {
  std::string_view name;
  return pod_spec.at_key("nodeName").get(name) == simdjson::SUCCESS ? std::string(name) : std::string();
}

Result<SchedulingSpec> SchedulingAt(JsonElement object, const std::string& pointer, bool is_daemon) {
  JsonElement spec;
  const bool present = object.at_pointer(pointer).get(spec) == simdjson::SUCCESS;
  Result<SchedulingSpec> scheduling =
      present ? DecodeSchedulingSpec(spec, pointer) : Result<SchedulingSpec>(SchedulingSpec());
  if (scheduling) TolerateLike(scheduling.value().tolerations, is_daemon);
  return scheduling;
}

class Questioner {
 public:
  Questioner(const AdmissionRequest& request, const Decision& decision, const ClassView& classes, JsonElement object)
      : request_(request), decision_(decision), classes_(classes), object_(object) {}

  [[nodiscard]] Result<PodQuestion> About(const PodTemplate& slot) const {
    const ReplicaCount count = CountReplicas(request_.kind, object_, slot.path);
    const std::string spec_pointer = slot.path + "/spec";
    Result<SchedulingSpec> scheduling = SchedulingAt(object_, spec_pointer, count.per_node);
    if (!scheduling) return scheduling.error();
    PodQuestion question{slot.path, {}, count.replicas, count.per_node, count.placing};
    Pod& pod = question.pod;
    pod.name = NameOf(request_);
    pod.namespace_name = request_.namespace_name;
    pod.labels = LabelsAfter(slot, decision_.edits);
    pod.spec = SpecOf(slot);
    pod.scheduling = *std::move(scheduling);
    if (JsonElement spec; object_.at_pointer(spec_pointer).get(spec) == simdjson::SUCCESS)
      pod.node_name = NodeNameIn(spec);
    if (const OwnerReference* owner = slot.path.empty() ? slot.metadata.Controller() : nullptr)
      pod.controller = Interned<OwnerReference>(*owner);
    return question;
  }

 private:
  [[nodiscard]] PodSpec SpecOf(const PodTemplate& slot) const {
    PodSpec spec = slot.spec;
    spec.trio = TrioOfPods(slot, DecisionOn(decision_, slot.path), classes_);
    FillRequests(spec.containers);
    FillRequests(spec.init_containers);
    return spec;
  }

  const AdmissionRequest& request_;
  const Decision& decision_;
  const ClassView& classes_;
  JsonElement object_;
};

// --- what Kubernetes would not take ---------------------------------------------------------------------------------
// A webhook sees such objects before the API server's own validation; whoever asks about a file should hear of it.

Status CheckCount(std::string_view object_json, const std::string& pointer) {
  const Result<std::string> json = JsonAt(object_json, pointer);
  if (!json || *json == "null") return {};
  const bool digits = std::all_of(json->begin(), json->end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && (json->size() < 10 || (json->size() == 10 && *json <= "2147483647"))) return {};
  return Invalid(pointer + " is " + *json + "; allowed: a whole number from 0 to 2147483647");
}

// Source: pkg/apis/core/validation, ValidateResourceQuantityValue: extended resources are whole.
Status CheckResources(const Container& container, const std::string& place) {
  for (const auto& [resource, amount] : container.requests) {
    const bool whole = amount == Quantity::FromUnits(amount.CeilUnits());
    const bool is_extended = resource.find('/') != std::string::npos;
    if (amount < Quantity() || (is_extended && !whole))
      return Invalid(std::string(place).append(" asks for ").append(FormatQuantity(amount)).append(" of ") + resource +
                     (is_extended ? "; allowed: whole numbers from 0" : "; allowed: amounts from 0"));
  }
  return {};
}

Status CheckPod(const PodQuestion& question) {
  const std::string place = question.path + "/spec/containers";
  const PodSpec& spec = *question.pod.spec;
  if (spec.containers.empty()) return Invalid(place + " is empty; a pod needs a container");
  for (const auto* list : {&spec.containers, &spec.init_containers})
    for (const Container& container : *list)
      if (Status checked = CheckResources(container, place + " " + Quoted(container.name)); !checked) return checked;
  return {};
}

// The API server's own "no" is an answer, as a policy's is.
ManifestQuestions RefusedByApiServer(const Error& error) {
  ManifestQuestions refused;
  refused.decision.verdict = Verdict::kRefuse;
  refused.decision.code = 403;
  refused.decision.message = error.message;
  return refused;
}

}  // namespace

Result<std::vector<PodQuestion>> QuestionsOf(const AdmissionRequest& request, const Decision& decision,
                                             const ClassView& classes, std::string_view review) {
  std::vector<PodQuestion> questions;
  if (!request.object || request.object->templates.empty()) return questions;
  simdjson::dom::parser parser(kMaxJsonBytes);
  JsonElement json;
  JsonElement object;
  if (parser.allocate(review.size(), kMaxJsonDepth) != simdjson::SUCCESS ||
      parser.parse(review.data(), review.size()).get(json) != simdjson::SUCCESS ||
      json.at_pointer("/request/object").get(object) != simdjson::SUCCESS)
    return Invalid("the review has no object");
  const Questioner questioner(request, decision, classes, object);
  for (const PodTemplate& slot : request.object->templates) {
    if (!slot.changed) continue;
    Result<PodQuestion> question = questioner.About(slot);
    if (!question) return question.error();
    questions.push_back(*std::move(question));
  }
  return questions;
}

Result<ManifestQuestions> AskAbout(std::string_view object_json, const AskOptions& options) {
  const ClassView classes(options.policy, options.snapshot);
  const Result<std::string> review = AsAdmissionReview(object_json, options.default_namespace, classes);
  if (!review && IsApiServersRefusal(review.error())) return RefusedByApiServer(review.error());
  if (!review) return review.error();
  const Result<AdmissionRequest> request = ReviewDecoder().Decode(*review);
  if (!request) return request.error();
  if (request->decode_error) return Invalid(*request->decode_error);
  const std::size_t templates = request->object ? request->object->templates.size() : 0;
  if (templates > options.most_templates)
    return Invalid("it has " + std::to_string(templates) + " pod templates; at most " +
                   std::to_string(options.most_templates) + " are taken: ask about fewer, or use 'podium feasibility'");
  ManifestQuestions asked;
  asked.name = NameOf(*request);
  asked.namespace_name = request->namespace_name;
  asked.decision = Decide(*request, options.policy, options.snapshot, options.decide, options.now);
  if (asked.decision.verdict == Verdict::kRefuse) return asked;
  Result<std::vector<PodQuestion>> questions = QuestionsOf(*request, asked.decision, classes, *review);
  if (!questions) return questions.error();
  for (const char* pointer : {"/spec/replicas", "/spec/parallelism", "/spec/completions"})
    if (Status checked = CheckCount(object_json, pointer); !checked) return checked.error();
  for (const PodQuestion& question : *questions)
    if (Status checked = CheckPod(question); !checked) return checked.error();
  asked.questions = *std::move(questions);
  return asked;
}

}  // namespace podium
