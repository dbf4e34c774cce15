#include <array>
#include <optional>
#include <utility>

#include "core/snapshot_builder.h"
#include "wire/object_reader.h"

namespace podium {
namespace {

enum class Selector { kNone, kLabelSelector, kLabels };

// What differs between the kinds that make pods.
struct WorkloadRow {
  std::string_view group;
  std::string_view kind;
  Selector selector;
  bool scales;                // spec.replicas, 1 when it is absent
  std::string_view strategy;  // the member of spec that holds rollingUpdate.maxUnavailable; empty: none
};

constexpr std::array<WorkloadRow, 7> kWorkloads = {{
    {"apps", "Deployment", Selector::kLabelSelector, true, "strategy"},
    {"apps", "StatefulSet", Selector::kLabelSelector, true, "updateStrategy"},
    {"apps", "ReplicaSet", Selector::kLabelSelector, true, ""},
    {"", "ReplicationController", Selector::kLabels, true, ""},
    {"apps", "DaemonSet", Selector::kLabelSelector, false, ""},
    {"batch", "Job", Selector::kLabelSelector, false, ""},
    {"batch", "CronJob", Selector::kNone, false, ""},
}};

// For everything else: as a custom resource with a scale usually is made.
constexpr WorkloadRow kCustom = {"", "", Selector::kLabelSelector, false, ""};

const WorkloadRow& RowOf(const ObjectKind& kind) {
  for (const WorkloadRow& row : kWorkloads)
    if (row.kind == kind.kind && row.group == GroupOf(kind.api_version)) return row;
  return kCustom;
}

std::optional<std::string> ReadRolloutLimit(FieldReader& in, JsonElement json, const At& at) {
  std::optional<std::string> limit;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key != "rollingUpdate") return;
    in.EachMember(value, here, [&](std::string_view name, JsonElement amount, const At& place) {
      if (name == "maxUnavailable") limit = ReadAmountOrPercentage(in, amount, place);
    });
  });
  return limit;
}

// A custom resource may call anything its selector. What has nothing of a LabelSelector in it is none: taken as one it
// would select every pod.
std::optional<LabelSelector> ReadSelectorOf(FieldReader& in, JsonElement json, const At& at, const WorkloadRow& row) {
  if (row.selector == Selector::kNone) return std::nullopt;
  if (row.selector == Selector::kLabels) return LabelSelector{in.TextMap(json, at), {}};
  LabelSelector selector = ReadSelector(in, json, at);
  if (row.kind.empty() && selector == LabelSelector{}) return std::nullopt;
  return selector;
}

// Of the whole object: what is in its spec.
Workload ReadScale(FieldReader& in, JsonElement json, const At& at, const WorkloadRow& row) {
  Workload workload;
  if (row.scales) workload.replicas = 1;
  in.EachMember(json, at, [&](std::string_view member, JsonElement spec, const At& here) {
    if (member != "spec") return;
    in.EachMember(spec, here, [&](std::string_view key, JsonElement value, const At& place) {
      if (key == "replicas" && (row.scales || row.kind.empty()))
        workload.replicas = in.Integer32(value, place);
      else if (key == "selector")
        workload.selector = ReadSelectorOf(in, value, place, row);
      else if (!row.strategy.empty() && key == row.strategy)
        workload.rollout_max_unavailable = ReadRolloutLimit(in, value, place);
    });
  });
  return workload;
}

Result<Interned<PodTemplate>> DecodeTemplateAt(JsonElement json, std::string_view pointer, const std::string& path) {
  JsonElement found;
  if (json.at_pointer(path).get(found) != simdjson::SUCCESS || found.is_null()) return Interned<PodTemplate>();
  Result<PodTemplate> pod_template = DecodePodTemplate(found, std::string(pointer) + path);
  if (!pod_template) return pod_template.error();
  pod_template->path = path;
  return Interned<PodTemplate>(std::move(*pod_template));
}

}  // namespace

Result<Workload> DecodeWorkload(JsonElement json, std::string_view pointer, const ObjectKind& kind) {
  Result<ObjectKind> said = Decode(json, pointer, ReadKind);
  if (!said) return said.error();
  if (said->kind.empty()) said->kind = kind.kind;
  if (said->api_version.empty()) said->api_version = kind.api_version;
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  const WorkloadRow& row = RowOf(*said);
  Result<Workload> workload = Decode(
      json, pointer, [&](FieldReader& in, JsonElement value, const At& at) { return ReadScale(in, value, at, row); });
  if (!workload) return workload;
  const std::string path = row.kind == "CronJob" ? "/spec/jobTemplate/spec/template" : "/spec/template";
  Result<Interned<PodTemplate>> pod_template = DecodeTemplateAt(json, pointer, path);
  if (!pod_template) return pod_template.error();
  // A ReplicationController without a selector selects what its template is labelled with
  // (pkg/apis/core/v1/defaults.go).
  const Labels& template_labels = (*pod_template)->metadata.labels;
  if (row.selector == Selector::kLabels && !workload->selector && !template_labels.empty())
    workload->selector = LabelSelector{template_labels, {}};
  workload->api_version = std::move(said->api_version);
  workload->kind = std::move(said->kind);
  workload->namespace_name = std::move(object->meta.namespace_name);
  workload->name = std::move(object->meta.name);
  workload->uid = std::move(object->uid);
  workload->labels = std::move(object->meta.labels);
  workload->owners = std::move(object->meta.owners);
  workload->deleting = object->meta.deleting;
  workload->pod_template = std::move(*pod_template);
  return workload;
}

}  // namespace podium
