#include "cli/output.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "wire/decode.h"
#include "wire/json.h"

namespace podium {
namespace {

using Json = nlohmann::ordered_json;

Json TrioJson(const Trio& trio) {
  Json json = Json::object();
  if (trio.class_name) json["priorityClassName"] = *trio.class_name;
  if (trio.priority) json["priority"] = *trio.priority;
  if (trio.preemption_policy) json["preemptionPolicy"] = ToString(*trio.preemption_policy);
  return json;
}

Json TemplateJson(const TemplateDecision& slot) {
  Json gpus = Json::array();
  for (const GpuRequest& gpu : slot.gpus)
    gpus.push_back({{"resource", gpu.resource}, {"unit", ToString(gpu.unit)}, {"count", gpu.count}});
  return {{"path", slot.path},
          {"workloadType", slot.classification.workload_type},
          {"gpus", std::move(gpus)},
          {"before", TrioJson(slot.before)},
          {"after", TrioJson(slot.after)}};
}

Json FindingJson(const Finding& finding) {
  return {{"rule", finding.rule},
          {"mode", ToString(finding.mode)},
          {"exempted", finding.exempted},
          {"path", finding.path},
          {"message", finding.message}};
}

template <typename Rows, typename Write>
Json ArrayJson(const Rows& rows, const Write& write) {
  Json json = Json::array();
  for (const auto& row : rows) json.push_back(write(row));
  return json;
}

Json ItemJson(const ReviewItem& item) {
  const Manifest& manifest = item.manifest;
  Json json = {
      {"source", {{"file", manifest.span.file}, {"line", manifest.span.line}, {"column", manifest.span.column}}},
      {"apiVersion", manifest.api_version},
      {"kind", manifest.kind},
      {"namespace", item.namespace_name},
      {"name", manifest.name},
      {"verdict", item.verdict == Verdict::kAllow ? "allow" : "refuse"},
      {"code", item.code}};
  if (!item.message.empty()) json["message"] = item.message;
  if (item.internal_error) json["internalError"] = *item.internal_error;
  if (item.skipped != SkipReason::kNone) json["skipped"] = ToString(item.skipped);
  json["templates"] = ArrayJson(item.templates, TemplateJson);
  if (item.quota_scope) json["quotaScope"] = item.quota_scope->after;
  json["findings"] = ArrayJson(item.findings, FindingJson);
  json["warnings"] = item.warnings;
  json["patch"] = Json::parse(item.patch, nullptr, false);
  return json;
}

std::string Dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

Json ReportTree(const ReviewReport& report) {
  const std::size_t refused = CountRefused(report);
  Json json = {{"apiVersion", "podium.gpu/v1"}, {"kind", "ReviewReport"}};
  if (report.server.empty()) json["policy"] = {{"name", report.policy_name}, {"revision", report.policy_revision}};
  if (!report.server.empty()) json["server"] = report.server;
  if (!report.cluster.empty()) json["cluster"] = report.cluster;
  json["summary"] = {
      {"objects", report.items.size()}, {"allowed", report.items.size() - refused}, {"refused", refused}};
  json["items"] = ArrayJson(report.items, ItemJson);
  return json;
}

// --- the answer of a webhook ----------------------------------------------------------------------------------------

Error BadAnswer(const std::string& what) {
  return {ErrorKind::kInvalidInput, "the server's answer is no AdmissionReview that an API server would take: " + what};
}

const Json* Member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string TextOf(const Json& json, const char* key) {
  const Json* member = Member(json, key);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string();
}

// Standard alphabet with padding, nothing else.
std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  std::uint32_t window = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    window = (window << 6U) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>((window >> static_cast<unsigned>(bits)) & 0xFFU));
  }
  return bytes;
}

void ReadStatus(const Json& response, ReviewAnswer& answer) {
  const Json* status = Member(response, "status");
  if (status == nullptr) return;
  answer.message = TextOf(*status, "message");
  const Json* code = Member(*status, "code");
  if (code != nullptr && code->is_number_integer()) answer.code = code->get<int>();
}

// kNone also for a word of a newer server.
SkipReason FindSkipReason(std::string_view text) {
  for (const SkipReason reason :
       {SkipReason::kNotOurs, SkipReason::kSubresource, SkipReason::kProtectedNamespace, SkipReason::kMirrorPod,
        SkipReason::kBeingDeleted, SkipReason::kPodUpdate, SkipReason::kTemplateImmutable, SkipReason::kUnchanged})
    if (ToString(reason) == text) return reason;
  return SkipReason::kNone;
}

std::optional<Error> ReadPatch(const Json& response, ReviewAnswer& answer) {
  if (Member(response, "patch") == nullptr) return std::nullopt;
  if (TextOf(response, "patchType") != "JSONPatch") return BadAnswer("patchType is not JSONPatch");
  std::optional<std::string> patch = DecodeBase64(TextOf(response, "patch"));
  if (!patch || !Json::accept(*patch)) return BadAnswer("the patch is not JSON in base64");
  answer.patch = *std::move(patch);
  return std::nullopt;
}

Result<ReviewAnswer> ReadResponse(const Json& response, std::string_view uid) {
  if (TextOf(response, "uid") != uid) return BadAnswer("its uid is not that of the request");
  const Json* allowed = Member(response, "allowed");
  if (allowed == nullptr || !allowed->is_boolean()) return BadAnswer("response.allowed is no boolean");
  ReviewAnswer answer;
  answer.allowed = allowed->get<bool>();
  if (!answer.allowed) ReadStatus(response, answer);
  if (std::optional<Error> wrong = ReadPatch(response, answer)) return *std::move(wrong);
  if (const Json* warnings = Member(response, "warnings"); warnings != nullptr && warnings->is_array()) {
    for (const Json& warning : *warnings)
      if (warning.is_string()) answer.warnings.push_back(warning.get<std::string>());
  }
  if (const Json* annotations = Member(response, "auditAnnotations")) {
    answer.workload_types = TextOf(*annotations, "workload-type");
    answer.priority_classes = TextOf(*annotations, "priority-class");
    answer.skipped = FindSkipReason(TextOf(*annotations, "skipped"));
  }
  return answer;
}

}  // namespace

std::size_t CountRefused(const ReviewReport& report) {
  std::size_t refused = 0;
  for (const ReviewItem& item : report.items) refused += item.verdict == Verdict::kRefuse ? 1 : 0;
  return refused;
}

std::size_t CountUndecided(const ReviewReport& report) {
  std::size_t undecided = 0;
  for (const ReviewItem& item : report.items) undecided += item.internal_error ? 1 : 0;
  return undecided;
}

std::string ReportJson(const ReviewReport& report) { return Dump(ReportTree(report), 2) + "\n"; }

std::string ReportYaml(const ReviewReport& report) {
  const Result<std::string> yaml = JsonToYaml(Dump(ReportTree(report), -1));
  return yaml ? *yaml : yaml.error().message + "\n";
}

std::string PatchedYaml(const ReviewReport& report) {
  std::string text;
  for (const ReviewItem& item : report.items) {
    if (!item.stored) continue;
    const Result<std::string> yaml = JsonToYaml(*item.stored);
    if (!text.empty()) text += "---\n";
    text += yaml ? *yaml : "# " + yaml.error().message + "\n";
  }
  return text;
}

Result<ReviewAnswer> ReadAnswer(std::string_view body, std::string_view uid) {
  if (body.size() > kMaxJsonBytes) return BadAnswer("it is larger than 7 MiB");
  try {
    const auto stop_when_deep = [](int depth, Json::parse_event_t, const Json&) { return depth <= 64; };
    const Json json = Json::parse(body, stop_when_deep);
    const Json* response = Member(json, "response");
    if (TextOf(json, "apiVersion") != "admission.k8s.io/v1" || TextOf(json, "kind") != "AdmissionReview")
      return BadAnswer("apiVersion and kind are not admission.k8s.io/v1 and AdmissionReview");
    return response == nullptr ? BadAnswer("there is no response in it") : ReadResponse(*response, uid);
  } catch (const Json::exception&) {
    return BadAnswer("it is no valid JSON");
  }
}

}  // namespace podium
