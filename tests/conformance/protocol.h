// The API server's side, written again from its sources: what it refuses in an answer, and its Priority step. Nothing
// of the product is called here, so a mistake cannot cancel out.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "conformance/ask.h"

namespace podium::conformance {

// plugin/pkg/admission/priority/admission.go, admitPod on CREATE: fills the pod in, or says why it is refused.
struct PriorityStep {
  Json pod;
  std::string refusal;
};

inline const PriorityClass* FindClass(const ClusterSnapshot& cluster, const std::string& name) {
  static const PriorityClass kSystem[] = {Class("system-cluster-critical", 2000000000),
                                          Class("system-node-critical", 2000001000)};
  for (const PriorityClass& each : kSystem)
    if (each.name == name) return &each;
  return cluster.classes.Find(name);
}

inline const PriorityClass* LowestGlobalDefault(const ClusterSnapshot& cluster) {
  const PriorityClass* lowest = nullptr;
  for (const auto& [name, each] : cluster.classes)
    if (each.global_default && (lowest == nullptr || each.value < lowest->value)) lowest = &each;
  return lowest;
}

inline PriorityStep RunPriorityStep(Json pod, const ClusterSnapshot& cluster) {
  Json& spec = pod["spec"];
  const Json name = spec.value("priorityClassName", Json());
  const bool named = name.is_string() && !name.get<std::string>().empty();
  const PriorityClass* found = named ? FindClass(cluster, name) : LowestGlobalDefault(cluster);
  if (named && found == nullptr) return {pod, "no PriorityClass with name " + name.get<std::string>() + " was found"};
  const int value = found == nullptr ? 0 : found->value;
  const bool never = found != nullptr && found->preemption_policy == PreemptionPolicy::kNever;
  const std::string policy = never ? "Never" : "PreemptLowerPriority";
  const Json number = spec.value("priority", Json());
  if (!number.is_null() && number != value) return {pod, "the integer value of priority must not be provided"};
  const Json given_policy = spec.value("preemptionPolicy", Json());
  if (!given_policy.is_null() && given_policy != policy)
    return {pod, "the string value of PreemptionPolicy must not be provided"};
  if (!named) spec.erase("priorityClassName");  // a typed object has no nulls
  if (found != nullptr) spec["priorityClassName"] = found->name;
  spec["priority"] = value;
  spec["preemptionPolicy"] = policy;
  return {pod, ""};
}

// --- what the API server refuses or drops in an answer --------------------------------------------------------------

inline bool IsLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// U+0080-009F are control characters too; UTF-8 writes them as C2 80 to C2 9F.
inline bool HasC1Control(const std::string& text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i - 1] == '\xC2' && static_cast<unsigned char>(text[i]) < 0xA0) return true;
  return false;
}

inline bool EndsWith(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// The only places a patch of ours may touch, whatever a request says.
inline bool IsOurPlace(const std::string& path) {
  for (const char* tail : {"/spec/priorityClassName", "/spec/priority", "/spec/preemptionPolicy", "/metadata",
                           "/metadata/annotations", "/metadata/annotations/podium.gpu~1injected-by", "/metadata/labels",
                           "/metadata/labels/podium.gpu~1workload-type"})
    if (EndsWith(path, tail)) return true;
  return false;
}

// apiserver/pkg/admission/plugin/webhook/request/admissionreview.go (VerifyAdmissionResponse) and
// mutating/dispatcher.go.
inline std::vector<std::string> PatchFaults(const Answer& answer) {
  std::vector<std::string> faults;
  const Json& response = answer.response();
  const bool has_patch = response.contains("patch");
  if (has_patch != response.contains("patchType")) faults.emplace_back("patch and patchType are not both there");
  if (!has_patch) return faults;
  if (response.at("patchType") != "JSONPatch") faults.emplace_back("patchType is not JSONPatch");
  if (answer.endpoint == Endpoint::kValidate) faults.emplace_back("a validating answer has a patch");
  if (!answer.allowed()) faults.emplace_back("a refusal has a patch");
  if (!answer.review.at("request").value("object", Json()).is_object())
    return faults.emplace_back("a patch for a request without an object"), faults;
  const Json patch = PatchOf(answer);
  if (!patch.is_array() || patch.empty()) faults.emplace_back("the patch is no array, or an empty one");
  for (const Json& operation : patch)
    if (!IsOurPlace(operation.at("path"))) faults.push_back("touches " + operation.at("path").get<std::string>());
  try {
    static_cast<void>(Patched(answer));
  } catch (const Json::exception& problem) {
    faults.push_back(std::string("the patch does not apply: ") + problem.what());
  }
  return faults;
}

inline std::vector<std::string> StatusFaults(const Answer& answer) {
  std::vector<std::string> faults;
  const Json& response = answer.response();
  if (answer.allowed()) {
    if (response.contains("status")) faults.emplace_back("an allowed answer has a status");
    return faults;
  }
  const Json status = response.value("status", Json::object());
  const int code = status.value("code", 0);
  const std::string reason = code == 403 ? "Forbidden" : code == 422 ? "Invalid" : code == 500 ? "InternalError" : "";
  if (reason.empty()) faults.push_back("status code " + std::to_string(code));
  if (status.value("reason", "") != reason) faults.emplace_back("the reason does not fit the code");
  if (answer.message().empty() || !IsLine(answer.message())) faults.emplace_back("the message is not one line of text");
  return faults;
}

// filters/warning.go drops or cuts warnings; audit annotation keys must form a qualified name with the webhook's.
inline std::vector<std::string> SideChannelFaults(const Answer& answer) {
  std::vector<std::string> faults;
  const Json warnings = answer.response().value("warnings", Json::array());
  if (warnings.size() > 3) faults.emplace_back("more than 3 warnings");
  for (const Json& warning : warnings) {
    const auto text = warning.get<std::string>();
    if (text.empty() || text.size() > 120 || !IsLine(text) || HasC1Control(text))
      faults.push_back("bad warning: " + text);
  }
  const Json annotations = answer.response().value("auditAnnotations", Json::object());
  for (const auto& [key, value] : annotations.items())
    if (key.size() > 63 || key.find('/') != std::string::npos || !value.is_string()) faults.push_back("bad key " + key);
  return faults;
}

// Everything that is wrong with an answer whatever was decided; empty: nothing.
inline std::vector<std::string> ProtocolFaults(const Answer& answer) {
  std::vector<std::string> faults;
  if (answer.body.value("apiVersion", "") != "admission.k8s.io/v1") faults.emplace_back("apiVersion");
  if (answer.body.value("kind", "") != "AdmissionReview") faults.emplace_back("kind");
  if (answer.response().at("uid") != answer.review.at("request").at("uid")) faults.emplace_back("another uid");
  for (const auto& part : {PatchFaults(answer), StatusFaults(answer), SideChannelFaults(answer)})
    faults.insert(faults.end(), part.begin(), part.end());
  return faults;
}

}  // namespace podium::conformance
