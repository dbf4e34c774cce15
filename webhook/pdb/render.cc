#include "pdb/render.h"

#include <algorithm>
#include <cctype>

#include "core/digest.h"
#include "core/snapshot_builder.h"
#include "core/text.h"
#include "pdb/wish.h"
#include "wire/object_writer.h"

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

void WriteMetadata(JsonWriter& json, const Pdb& budget) {
  json.BeginObject();
  WriteText(json, "name", budget.name);
  WriteText(json, "namespace", budget.namespace_name);
  if (!budget.uid.empty()) WriteText(json, "uid", budget.uid);
  WriteLabels(json, "labels", budget.labels);
  WriteLabels(json, "annotations", budget.annotations);
  WriteOwners(json, budget.owners);
  json.EndObject();
}

void WriteSpec(JsonWriter& json, const Pdb& budget) {
  json.BeginObject();
  WriteIntOrString(json, "minAvailable", budget.min_available);
  WriteIntOrString(json, "maxUnavailable", budget.max_unavailable);
  if (budget.selector) WriteSelector(json, "selector", *budget.selector);
  if (budget.unhealthy_pod_eviction_policy)
    WriteText(json, "unhealthyPodEvictionPolicy", *budget.unhealthy_pod_eviction_policy);
  json.EndObject();
}

void WriteRegarding(JsonWriter& json, const WorkloadId& workload) {
  json.BeginObject();
  WriteText(json, "apiVersion", workload.api_version);
  WriteText(json, "kind", workload.kind);
  WriteText(json, "namespace", workload.namespace_name);
  WriteText(json, "name", workload.name);
  if (!workload.uid.empty()) WriteText(json, "uid", workload.uid);
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
  WriteText(json, "apiVersion", "policy/v1");
  WriteText(json, "kind", "PodDisruptionBudget");
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
  WriteText(json, "apiVersion", "events.k8s.io/v1");
  WriteText(json, "kind", "Event");
  json.Key("metadata");
  json.BeginObject();
  WriteText(json, "name", EventName(event));
  WriteText(json, "namespace", event.workload.namespace_name);
  json.EndObject();
  WriteText(json, "eventTime", FormatRfc3339(now));
  WriteText(json, "type", event.type == EventType::kWarning ? "Warning" : "Normal");
  WriteText(json, "reason", event.reason);
  WriteText(json, "action", "Budget");
  WriteText(json, "note", event.note.substr(0, kMostNoteBytes));
  WriteText(json, "reportingController", "podium.gpu/budgets");
  WriteText(json, "reportingInstance", instance.substr(0, kMostInstanceChars));
  json.Key("regarding");
  WriteRegarding(json, event.workload);
  json.EndObject();
  return out;
}

}  // namespace podium
