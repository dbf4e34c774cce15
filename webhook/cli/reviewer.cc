#include "cli/reviewer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admission/apiserver.h"
#include "admission/decide.h"
#include "admission/fold.h"
#include "cli/output.h"
#include "feasibility/request.h"
#include "wire/decode.h"
#include "wire/json.h"
#include "wire/patch.h"

namespace podium {
namespace {

class LocalEndpoints final : public ReviewEndpoints {
 public:
  explicit LocalEndpoints(const ReviewSetting& setting) : setting_(setting) {}

  Result<EndpointAnswer> Ask(Endpoint endpoint, const std::string& review) override {
    Result<AdmissionRequest> request = decoder_.Decode(review);
    if (!request) return request.error();
    request->endpoint = endpoint;
    const DecideOptions options{setting_.own_namespace};
    Decision decision = Decide(*request, setting_.policy, setting_.snapshot, options, setting_.now);
    std::string patch = MakePatch(decision.edits);
    return EndpointAnswer{std::move(decision), std::move(patch)};
  }

 private:
  const ReviewSetting& setting_;
  ReviewDecoder decoder_;
};

// The classes of an answer's templates are read from the objects: an answer only carries the patch.
class ServerEndpoints final : public ReviewEndpoints {
 public:
  ServerEndpoints(std::unique_ptr<HttpsClient> client, const ReviewSetting& setting)
      : client_(std::move(client)), setting_(setting) {}

  Result<EndpointAnswer> Ask(Endpoint endpoint, const std::string& review) override {
    const Result<AdmissionRequest> request = decoder_.Decode(review);
    if (!request) return request.error();
    const std::string path = "/" + std::string(ToString(endpoint));
    const Result<ClientReply> reply = client_->Post(path + "?timeout=10s", review, "application/json");
    if (!reply) return reply.error().WithContext("POST " + path);
    if (reply->status != 200) {
      return Error{ErrorKind::kUnavailable, "POST " + path + ": the server answered HTTP " +
                                                std::to_string(reply->status) + ": " + reply->body.substr(0, 300)};
    }
    Result<ReviewAnswer> answer = ReadAnswer(reply->body, request->uid);
    if (!answer) return answer.error().WithContext("POST " + path);
    return EndpointAnswer{DecisionOf(*request, *answer), std::move(answer->patch)};
  }

 private:
  Decision DecisionOf(const AdmissionRequest& request, const ReviewAnswer& answer) const {
    Decision decision;
    decision.verdict = answer.allowed ? Verdict::kAllow : Verdict::kRefuse;
    decision.code = answer.code;
    decision.message = answer.message;
    decision.warnings = answer.warnings;
    decision.skipped = answer.skipped;
    // An answer has room for the beginning of the reason only. What could not be read there cannot be read here.
    if (request.decode_error && WasUndecided(answer))
      decision.internal_error = "the object cannot be read: " + *request.decode_error;
    if (!request.object || decision.skipped != SkipReason::kNone) return decision;
    for (const PodTemplate& slot : request.object->templates) decision.templates.push_back(TemplateOf(slot, answer));
    return decision;
  }

  static bool WasUndecided(const ReviewAnswer& answer) {
    const auto says_so = [](const std::string& warning) { return warning.starts_with(kNotApplied); };
    return answer.code >= 500 || std::any_of(answer.warnings.begin(), answer.warnings.end(), says_so);
  }

  TemplateDecision TemplateOf(const PodTemplate& slot, const ReviewAnswer& answer) const {
    TemplateDecision decision;
    decision.path = slot.path;
    decision.classification.workload_type = answer.workload_types;
    decision.gpus = EffectiveGpuRequest(slot.spec, setting_.policy.gpus);
    decision.before = decision.after = slot.spec.trio;
    // Of a refused object there is no second review to look at; its class is only named in the annotations.
    if (!answer.allowed && !answer.priority_classes.empty()) decision.after = {answer.priority_classes, {}, {}};
    return decision;
  }

  std::unique_ptr<HttpsClient> client_;
  const ReviewSetting& setting_;
  ReviewDecoder decoder_;
};

void AddWarnings(const std::vector<std::string>& warnings, ReviewItem& item) {
  for (const std::string& warning : warnings)
    if (std::find(item.warnings.begin(), item.warnings.end(), warning) == item.warnings.end())
      item.warnings.push_back(warning);
}

void Refuse(int code, std::string message, ReviewItem& item) {
  item.verdict = Verdict::kRefuse;
  item.code = code;
  item.message = std::move(message);
}

void RefuseByApiServer(const Error& error, ReviewItem& item) {
  Refuse(403, "by the API server: " + error.message, item);
}

void TakeOver(const Decision& decision, ReviewItem& item) {
  item.skipped = decision.skipped;
  item.internal_error = decision.internal_error;
  item.templates = decision.templates;
  item.quota_scope = decision.quota_scope;
  item.findings = decision.findings;
  AddWarnings(decision.warnings, item);
  if (decision.verdict == Verdict::kRefuse) Refuse(decision.code, decision.message, item);
}

// Of a server: what it did to the templates shows in the second review. Its classes are then the "after" of the first.
void TakeOverAfter(const Decision& second, ReviewItem& item) {
  if (second.templates.size() != item.templates.size()) return;
  for (std::size_t i = 0; i < item.templates.size(); ++i) item.templates[i].after = second.templates[i].after;
}

// The stored form of the review's object with `patch` applied: an API server runs its Priority step once more.
Result<std::string> StoredForm(const std::string& review, const std::string& patch, const ClassView& classes) {
  const Result<std::string> object = JsonAt(review, "/request/object");
  if (!object) return object.error();
  const Result<std::string> patched = ApplyJsonPatch(*object, patch);
  if (!patched) return patched.error().WithContext("the patch does not apply");
  return AfterPriorityStep(*patched, classes);
}

// A webhook's limit is that of its request, of which the object is only the larger part.
Result<std::string> SendableReview(const std::string& object, const ReviewSetting& setting, const ClassView& classes) {
  Result<std::string> review = AsAdmissionReview(object, setting.default_namespace, classes);
  if (!review || review->size() <= kMaxJsonBytes) return review;
  return Error{ErrorKind::kInvalidInput, "the object has " + std::to_string(object.size()) +
                                             " bytes as JSON and its AdmissionReview " +
                                             std::to_string(review->size()) + "; at most " +
                                             std::to_string(kMaxJsonBytes) + " are read by a webhook"};
}

}  // namespace

std::unique_ptr<ReviewEndpoints> DecideHere(const ReviewSetting& setting) {
  return std::make_unique<LocalEndpoints>(setting);
}

std::unique_ptr<ReviewEndpoints> AskServer(std::unique_ptr<HttpsClient> client, const ReviewSetting& setting) {
  return std::make_unique<ServerEndpoints>(std::move(client), setting);
}

Result<ReviewItem> ReviewManifest(const Manifest& manifest, const ReviewSetting& setting, ReviewEndpoints& endpoints) {
  const ClassView classes(setting.policy, setting.snapshot);
  ReviewItem item;
  item.manifest = manifest;
  item.namespace_name = manifest.namespace_name.empty() ? setting.default_namespace : manifest.namespace_name;
  const Result<std::string> review = SendableReview(manifest.json, setting, classes);
  if (!review && !IsApiServersRefusal(review.error())) return review.error();
  if (!review) {
    RefuseByApiServer(review.error(), item);
    return item;
  }
  if (!JsonAt(*review, "/request/object/metadata/namespace")) item.namespace_name.clear();  // cluster-scoped

  Result<EndpointAnswer> mutated = endpoints.Ask(Endpoint::kMutate, *review);
  if (!mutated) return mutated.error();
  TakeOver(mutated->decision, item);
  item.patch = mutated->patch;
  if (item.verdict == Verdict::kRefuse) return item;

  Result<std::string> stored = StoredForm(*review, item.patch, classes);
  if (!stored) {
    RefuseByApiServer(stored.error(), item);
    return item;
  }
  const Result<std::string> second_review = SendableReview(*stored, setting, classes);
  if (!second_review) return second_review.error();
  const Result<EndpointAnswer> validated = endpoints.Ask(Endpoint::kValidate, *second_review);
  if (!validated) return validated.error();
  TakeOverAfter(validated->decision, item);
  AddWarnings(validated->decision.warnings, item);
  if (!item.internal_error) item.internal_error = validated->decision.internal_error;
  if (validated->decision.verdict == Verdict::kRefuse) {
    Refuse(validated->decision.code, validated->decision.message, item);
    return item;
  }
  item.stored = *std::move(stored);
  return item;
}

}  // namespace podium
