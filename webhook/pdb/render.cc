#include "pdb/render.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/digest.h"
#include "core/snapshot_builder.h"
#include "core/text.h"
#include "pdb/wish.h"
#include "wire/json.h"

namespace podium {
namespace {

constexpr std::size_t kMostNameChars = 253;
constexpr std::size_t kDigestChars = 10;
constexpr std::size_t kMostNoteBytes = 1000;     // 1024 in pkg/apis/core/validation/events.go; a cut letter may grow
constexpr std::size_t kMostInstanceChars = 128;  // the same

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// A name may not end its front part with '.' or '-' before the digest's own '-' (DNS-1123 subdomain).
std::string WithDigest(std::string name, std::string_view of) {
  name.resize(std::min(name.size(), kMostNameChars - kDigestChars - 1));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + "-" + Sha256Hex(of).substr(0, kDigestChars);
}

std::string Identity(const WorkloadId& workload) {
  return std::string(GroupOf(workload.api_version)) + "/" + workload.kind + "/" + workload.namespace_name + "/" +
         workload.name;
}

std::string PlainName(const WorkloadId& workload) { return "podium-" + Lower(workload.kind) + "-" + workload.name; }

bool IsKubernetesOwn(const WorkloadId& workload) {
  const std::string_view group = GroupOf(workload.api_version);
  return group.empty() || group == "apps";
}

// --- pieces of JSON -------------------------------------------------------------------------------------------------

void Member(JsonWriter& json, std::string_view key, std::string_view value) {
  json.Key(key);
  json.String(value);
}

void WriteMap(JsonWriter& json, const Labels& map) {
  json.BeginObject();
  for (const auto& [key, value] : map) Member(json, key, value);
  json.EndObject();
}

std::string_view NameOf(SelectorOp op) {
  switch (op) {
    case SelectorOp::kIn: return "In";
    case SelectorOp::kNotIn: return "NotIn";
    case SelectorOp::kExists: return "Exists";
    case SelectorOp::kDoesNotExist: return "DoesNotExist";
  }
  return "In";
}

void WriteRequirement(JsonWriter& json, const SelectorRequirement& requirement) {
  json.BeginObject();
  Member(json, "key", requirement.key);
  Member(json, "operator", NameOf(requirement.op));
  if (!requirement.values.empty()) {
    json.Key("values");
    json.BeginArray();
    for (const std::string& value : requirement.values) json.String(value);
    json.EndArray();
  }
  json.EndObject();
}

void WriteSelector(JsonWriter& json, const LabelSelector& selector) {
  json.BeginObject();
  if (!selector.match_labels.empty()) {
    json.Key("matchLabels");
    WriteMap(json, selector.match_labels);
  }
  if (!selector.match_expressions.empty()) {
    json.Key("matchExpressions");
    json.BeginArray();
    for (const SelectorRequirement& each : selector.match_expressions) WriteRequirement(json, each);
    json.EndArray();
  }
  json.EndObject();
}

// IntOrString: "1" is a number, "25%" a string.
void WriteLimit(JsonWriter& json, std::string_view key, const std::optional<std::string>& limit) {
  if (!limit) return;
  json.Key(key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), number);
  if (error == std::errc() && end == limit->data() + limit->size())
    json.Int(number);
  else
    json.String(*limit);
}

void WriteOwner(JsonWriter& json, const OwnerReference& owner) {
  json.BeginObject();
  Member(json, "apiVersion", owner.api_version);
  Member(json, "kind", owner.kind);
  Member(json, "name", owner.name);
  Member(json, "uid", owner.uid);
  json.EndObject();
}

void WriteMetadata(JsonWriter& json, const Pdb& budget) {
  json.BeginObject();
  Member(json, "name", budget.name);
  Member(json, "namespace", budget.namespace_name);
  if (!budget.uid.empty()) Member(json, "uid", budget.uid);
  json.Key("labels");
  WriteMap(json, budget.labels);
  json.Key("annotations");
  WriteMap(json, budget.annotations);
  json.Key("ownerReferences");
  json.BeginArray();
  for (const OwnerReference& owner : budget.owners) WriteOwner(json, owner);
  json.EndArray();
  json.EndObject();
}

void WriteSpec(JsonWriter& json, const Pdb& budget) {
  json.BeginObject();
  WriteLimit(json, "minAvailable", budget.min_available);
  WriteLimit(json, "maxUnavailable", budget.max_unavailable);
  if (budget.selector) {
    json.Key("selector");
    WriteSelector(json, *budget.selector);
  }
  if (budget.unhealthy_pod_eviction_policy)
    Member(json, "unhealthyPodEvictionPolicy", *budget.unhealthy_pod_eviction_policy);
  json.EndObject();
}

void WriteRegarding(JsonWriter& json, const WorkloadId& workload) {
  json.BeginObject();
  Member(json, "apiVersion", workload.api_version);
  Member(json, "kind", workload.kind);
  Member(json, "namespace", workload.namespace_name);
  Member(json, "name", workload.name);
  if (!workload.uid.empty()) Member(json, "uid", workload.uid);
  json.EndObject();
}

}  // namespace

std::string BudgetName(const WorkloadId& workload) {
  std::string name = PlainName(workload);
  if (IsKubernetesOwn(workload) && name.size() <= kMostNameChars) return name;
  return WithDigest(std::move(name), Identity(workload));
}

std::string SecondBudgetName(const WorkloadId& workload) {
  return WithDigest(PlainName(workload), "second/" + Identity(workload));
}

ObjectRef BudgetRef(const Pdb& budget) {
  return {"policy/v1", "poddisruptionbudgets", budget.namespace_name, budget.name};
}

std::string RenderBudget(const Pdb& desired) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  Member(json, "apiVersion", "policy/v1");
  Member(json, "kind", "PodDisruptionBudget");
  json.Key("metadata");
  WriteMetadata(json, desired);
  json.Key("spec");
  WriteSpec(json, desired);
  json.EndObject();
  return out;
}

std::string EventName(const BudgetEvent& event) {
  const std::string all = Identity(event.workload) + "/" + event.workload.uid + "/" + event.reason + "/" + event.note;
  return WithDigest(event.workload.name, all);
}

ObjectRef EventRef(const BudgetEvent& event) {
  return {"events.k8s.io/v1", "events", event.workload.namespace_name, EventName(event)};
}

std::string RenderEvent(const BudgetEvent& event, std::string_view instance, TimePoint now) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  Member(json, "apiVersion", "events.k8s.io/v1");
  Member(json, "kind", "Event");
  json.Key("metadata");
  json.BeginObject();
  Member(json, "name", EventName(event));
  Member(json, "namespace", event.workload.namespace_name);
  json.EndObject();
  Member(json, "eventTime", FormatRfc3339(now));
  Member(json, "type", event.type == EventType::kWarning ? "Warning" : "Normal");
  Member(json, "reason", event.reason);
  Member(json, "action", "Budget");
  Member(json, "note", event.note.substr(0, kMostNoteBytes));
  Member(json, "reportingController", "podium.gpu/budgets");
  Member(json, "reportingInstance", instance.substr(0, kMostInstanceChars));
  json.Key("regarding");
  WriteRegarding(json, event.workload);
  json.EndObject();
  return out;
}

}  // namespace podium
