#include "admission/apiserver.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/digest.h"
#include "wire/decode.h"

namespace podium {

namespace {

using Json = nlohmann::json;

Error Invalid(std::string message) { return {ErrorKind::kInvalidInput, std::move(message)}; }

// Also bounds the depth: nlohmann's copies and dumps are recursive.
Result<Json> ParseObject(std::string_view text) {
  const auto stop_when_deep = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > static_cast<int>(kMaxJsonDepth)) throw std::length_error("");
    return true;
  };
  try {
    Json json = Json::parse(text, stop_when_deep);
    if (!json.is_object())
      return Invalid("the manifest is no JSON object; expected an object with apiVersion and kind");
    return json;
  } catch (const std::length_error&) {
    return Invalid("the manifest is nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
  } catch (const Json::exception&) {
    return Invalid("the manifest is no valid JSON");
  }
}

// The member of that name, or null: absent, null and "of something that is no object" are the same.
const Json* Find(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string TextOf(const Json& json, std::string_view key) {
  const Json* member = Find(json, key);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string();
}

// --- what kind of thing it is ---------------------------------------------------------------------------------------

struct Type {
  std::string group;
  std::string version;
  std::string kind;
};

Result<Type> TypeOf(const Json& object) {
  const std::string api_version = TextOf(object, "apiVersion");
  const std::string kind = TextOf(object, "kind");
  if (api_version.empty()) return Invalid("apiVersion is missing or no text; expected for example 'v1' or 'apps/v1'");
  if (kind.empty()) return Invalid("kind is missing or no text; expected for example 'Pod'");
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos) return Type{"", api_version, kind};
  Type type = {api_version.substr(0, slash), api_version.substr(slash + 1), kind};
  if (type.group.empty() || type.version.empty() || type.version.find('/') != std::string::npos)
    return Invalid("apiVersion '" + api_version + "' is none; expected 'version' or 'group/version'");
  return type;
}

// Discovery would tell; these are the kinds without a namespace of Kubernetes itself and of the usual batch add-ons.
constexpr std::string_view kClusterScoped[] = {
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterQueue",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "CustomResourceDefinition",
    "DeviceClass",
    "FlowSchema",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceFlavor",
    "ResourceSlice",
    "RuntimeClass",
    "ServiceCIDR",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
    "WorkloadPriorityClass",
};

bool IsClusterScoped(const Type& type) {
  return std::find(std::begin(kClusterScoped), std::end(kClusterScoped), type.kind) != std::end(kClusterScoped);
}

bool EndsWith(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// "NetworkPolicy" -> "networkpolicies", "Gateway" -> "gateways", "StorageClass" -> "storageclasses".
std::string ResourceOf(const Type& type) {
  std::string name;
  for (const char c : type.kind) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name == "endpoints") return name;
  for (const std::string_view tail : {"s", "x", "ch", "sh"})
    if (EndsWith(name, tail)) return name + "es";
  const bool after_vowel =
      name.size() > 1 && std::string_view("aeiou").find(name[name.size() - 2]) != std::string::npos;
  if (EndsWith(name, "y") && !after_vowel) return name.substr(0, name.size() - 1) + "ies";
  return name + "s";
}

bool IsPod(const Type& type) { return type.group.empty() && type.kind == "Pod"; }

// --- defaults -------------------------------------------------------------------------------------------------------

// Source: pkg/apis/core/v1/defaults.go, SetDefaults_Pod. Ephemeral containers have no resources.
void FillRequests(Json& container) {
  const Json* resources = Find(container, "resources");
  const Json* limits = resources == nullptr ? nullptr : Find(*resources, "limits");
  if (limits == nullptr || !limits->is_object()) return;
  const Json* present = Find(*resources, "requests");
  Json requests = present == nullptr ? Json::object() : *present;
  if (!requests.is_object()) return;
  for (const auto& [resource, amount] : limits->items())
    if (Find(requests, resource) == nullptr) requests[resource] = amount;
  container["resources"]["requests"] = std::move(requests);
}

void FillRequestsOfAll(Json& spec) {
  for (const char* list : {"containers", "initContainers"}) {
    if (Find(spec, list) == nullptr || !spec[list].is_array()) continue;
    for (Json& container : spec[list]) FillRequests(container);
  }
}

// --- the Priority step ----------------------------------------------------------------------------------------------

// As the API server's errors begin (apiserver/pkg/admission/errors.go, extractResourceName).
Error Forbidden(const Json& pod, const std::string& reason) {
  const Json* metadata = Find(pod, "metadata");
  std::string name = metadata == nullptr ? "" : TextOf(*metadata, "name");
  if (name.empty() && metadata != nullptr) name = TextOf(*metadata, "generateName");
  if (name.empty()) name = "Unknown";
  return Invalid("pods \"" + name + "\" is forbidden: " + reason);
}

// The class whose values a pod without a class gets in a cluster without a global default: no name, number 0.
PriorityClass DefaultClass(const ClassView& classes) {
  const PriorityClass* global_default = classes.GlobalDefault();
  return global_default == nullptr ? PriorityClass{} : *global_default;
}

std::optional<Error> CheckPriorityTypes(const Json& spec) {
  const Json* name = Find(spec, "priorityClassName");
  const Json* number = Find(spec, "priority");
  const Json* policy = Find(spec, "preemptionPolicy");
  if (name != nullptr && !name->is_string()) return Invalid("spec.priorityClassName is no text");
  if (policy != nullptr && !policy->is_string()) return Invalid("spec.preemptionPolicy is no text");
  if (number != nullptr && !number->is_number_integer()) return Invalid("spec.priority is no whole number");
  return std::nullopt;
}

// Source: plugin/pkg/admission/priority/admission.go, admitPod on CREATE.
std::optional<Error> RunPriorityStep(Json& pod, const ClassView& classes) {
  if (Find(pod, "spec") == nullptr) pod["spec"] = Json::object();
  Json& spec = pod["spec"];
  if (!spec.is_object()) return Invalid("spec is no object");
  if (std::optional<Error> wrong = CheckPriorityTypes(spec)) return wrong;

  const std::string wanted = TextOf(spec, "priorityClassName");
  const PriorityClass* named = wanted.empty() ? nullptr : classes.Find(wanted);
  if (!wanted.empty() && named == nullptr) return Forbidden(pod, "no PriorityClass with name " + wanted + " was found");
  const PriorityClass given = named == nullptr ? DefaultClass(classes) : *named;
  if (!given.name.empty()) spec["priorityClassName"] = given.name;

  const std::string computes = "priority admission controller computed ";
  const std::string from = " from the given PriorityClass name";
  if (const Json* number = Find(spec, "priority"); number != nullptr && *number != given.value)
    return Forbidden(pod, "the integer value of priority (" + number->dump() + ") must not be provided in pod spec; " +
                              computes + std::to_string(given.value) + from);
  spec["priority"] = given.value;

  const std::string policy(ToString(given.preemption_policy));
  if (const std::string text = TextOf(spec, "preemptionPolicy"); !text.empty() && text != policy)
    return Forbidden(pod, "the string value of PreemptionPolicy (" + text + ") must not be provided in pod spec; " +
                              computes + policy + from);
  spec["preemptionPolicy"] = policy;
  return std::nullopt;
}

// --- the envelope ---------------------------------------------------------------------------------------------------

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The same manifest has the same uid: outputs can be compared.
std::string UidOf(const Json& object) {
  const std::string digest = Sha256Hex(Dump(object));
  return digest.substr(0, 8) + "-" + digest.substr(8, 4) + "-" + digest.substr(12, 4) + "-" + digest.substr(16, 4) +
         "-" + digest.substr(20, 12);
}

Json Review(const Json& object, const Type& type) {
  const Json& metadata = object["metadata"];
  const Json kind = {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
  const Json resource = {{"group", type.group}, {"version", type.version}, {"resource", ResourceOf(type)}};
  Json request = {{"uid", UidOf(object)},
                  {"kind", kind},
                  {"resource", resource},
                  {"requestKind", kind},
                  {"requestResource", resource},
                  {"operation", "CREATE"},
                  {"userInfo", {{"username", "podium-review"}, {"groups", Json::array()}}},
                  {"object", object},
                  {"oldObject", nullptr},
                  {"dryRun", false},
                  {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}};
  if (const std::string name = TextOf(metadata, "name"); !name.empty()) request["name"] = name;
  // A Namespace is cluster-scoped, yet the API server names it as its own namespace.
  const std::string name_space = TextOf(metadata, type.kind == "Namespace" ? "name" : "namespace");
  if (!name_space.empty()) request["namespace"] = name_space;
  return {{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"request", std::move(request)}};
}

std::optional<Error> FillMetadata(Json& object, const Type& type, std::string_view default_namespace) {
  if (Find(object, "metadata") == nullptr) object["metadata"] = Json::object();
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) return Invalid("metadata is no object");
  if (IsClusterScoped(type)) {
    metadata.erase("namespace");
    return std::nullopt;
  }
  const Json* given = Find(metadata, "namespace");
  if (given != nullptr && !given->is_string()) return Invalid("metadata.namespace is no text");
  if (TextOf(metadata, "namespace").empty()) metadata["namespace"] = default_namespace;
  return std::nullopt;
}

}  // namespace

Result<std::string> AsAdmissionReview(std::string_view object_json, std::string_view default_namespace,
                                      const ClassView& classes) {
  Result<Json> object = ParseObject(object_json);
  if (!object) return object.error();
  const Result<Type> type = TypeOf(*object);
  if (!type) return type.error();
  if (std::optional<Error> wrong = FillMetadata(*object, *type, default_namespace)) return std::move(*wrong);
  if (IsPod(*type)) {
    if (std::optional<Error> wrong = RunPriorityStep(*object, classes)) return std::move(*wrong);
    FillRequestsOfAll((*object)["spec"]);
  }
  return Dump(Review(*object, *type));
}

bool IsApiServersRefusal(const Error& error) { return error.message.find(" is forbidden: ") != std::string::npos; }

Result<std::string> AfterPriorityStep(std::string_view object_json, const ClassView& classes) {
  Result<Json> object = ParseObject(object_json);
  if (!object) return object.error();
  const Result<Type> type = TypeOf(*object);
  if (!type) return type.error();
  if (!IsPod(*type)) return std::string(object_json);
  if (std::optional<Error> wrong = RunPriorityStep(*object, classes)) return std::move(*wrong);
  return Dump(*object);
}

}  // namespace podium
