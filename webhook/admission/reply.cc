// The answer to a review. Source: apiserver/pkg/admission/plugin/webhook/request/admissionreview.go says what the API
// server refuses.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "admission/codec.h"
#include "wire/json.h"
#include "wire/patch.h"

namespace podium {

namespace {

std::string_view ReasonOf(int code) {
  if (code >= 500) return "InternalError";
  return code == 422 ? "Invalid" : "Forbidden";
}

void WriteStatus(JsonWriter& json, const Decision& decision) {
  json.Key("status");
  json.BeginObject();
  json.Key("code");
  json.Int(decision.code);
  json.Key("reason");
  json.String(ReasonOf(decision.code));
  json.Key("message");
  json.String(decision.message);
  json.EndObject();
}

// The API server refuses a patch of a validating webhook, and one half of patch and patchType without the other.
void WritePatch(JsonWriter& json, const Decision& decision) {
  const std::string patch = MakePatch(decision.edits);
  if (patch == "[]") return;
  json.Key("patchType");
  json.String("JSONPatch");
  json.Key("patch");
  json.String(Base64(patch));
}

void WriteWarnings(JsonWriter& json, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  json.Key("warnings");
  json.BeginArray();
  for (const std::string& warning : warnings) json.String(warning);
  json.EndArray();
}

// "a,b": each value once, in the order of the templates.
template <typename Get>
std::string DistinctValues(const std::vector<TemplateDecision>& templates, Get get) {
  std::vector<std::string_view> values;
  std::string joined;
  for (const TemplateDecision& each : templates) {
    const std::string_view value = get(each);
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) continue;
    joined.append(values.empty() ? "" : ",").append(value);
    values.push_back(value);
  }
  return joined;
}

// The API server asks again within one request when the stored object changed meanwhile, and keeps the first value.
bool DependsOnRequestOnly(SkipReason skipped) {
  return skipped == SkipReason::kNotOurs || skipped == SkipReason::kSubresource ||
         skipped == SkipReason::kProtectedNamespace || skipped == SkipReason::kMirrorPod;
}

// Stored as "<webhook name>/<key>", so a key has no slash. A second call (reinvocation) with another value would be
// refused and lost: nothing in here depends on time, uid or anything but the decision.
void WriteAuditAnnotations(JsonWriter& json, const Decision& decision) {
  const auto workload_type = [](const TemplateDecision& each) {
    return std::string_view(each.classification.workload_type);
  };
  const auto class_name = [](const TemplateDecision& each) {
    return each.after.class_name ? std::string_view(*each.after.class_name) : std::string_view();
  };
  // Of a picture of the cluster: two calls may see two. The API server keeps the first and says so in its log.
  const auto verdict = [](const TemplateDecision& each) {
    return each.advice && each.advice->given ? ToString(each.advice->given->verdict) : std::string_view();
  };
  const auto write = [&json](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    json.Key(key);
    json.String(value);
  };
  json.Key("auditAnnotations");
  json.BeginObject();
  write("workload-type", DistinctValues(decision.templates, workload_type));
  write("priority-class", DistinctValues(decision.templates, class_name));
  write("feasibility", DistinctValues(decision.templates, verdict));
  write("policy-revision", decision.policy_revision);
  if (DependsOnRequestOnly(decision.skipped)) write("skipped", ToString(decision.skipped));
  json.EndObject();
}

}  // namespace

std::string EncodeReview(const Decision& decision, Endpoint endpoint) {
  const bool allowed = decision.verdict == Verdict::kAllow;
  std::string out;
  out.reserve(1024);
  JsonWriter json(out);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("admission.k8s.io/v1");
  json.Key("kind");
  json.String("AdmissionReview");
  json.Key("response");
  json.BeginObject();
  json.Key("uid");
  json.String(decision.request_uid);
  json.Key("allowed");
  json.Bool(allowed);
  if (!allowed) WriteStatus(json, decision);
  if (allowed && endpoint == Endpoint::kMutate) WritePatch(json, decision);
  WriteWarnings(json, decision.warnings);
  WriteAuditAnnotations(json, decision);
  json.EndObject();
  json.EndObject();
  return out;
}

}  // namespace podium
