#include "wire/decode_cluster.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "wire/field_reader.h"

namespace podium {
namespace {

constexpr std::string_view kOwnAnnotations = "podium.gpu/";

// What ObjectMeta does not hold.
struct Identity {
  std::string uid;
  std::string resource_version;
  Labels own_annotations;
};

struct Object {
  ObjectMeta meta;
  Identity identity;
};

Labels ReadOwnAnnotations(FieldReader& in, JsonElement json, const At& at) {
  Labels annotations;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key.starts_with(kOwnAnnotations)) annotations.insert_or_assign(std::string(key), in.Text(value, here));
  });
  return annotations;
}

Identity ReadIdentity(FieldReader& in, JsonElement json, const At& at) {
  Identity identity;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "uid")
      identity.uid = in.Text(value, here);
    else if (key == "resourceVersion")
      identity.resource_version = in.Text(value, here);
    else if (key == "annotations")
      identity.own_annotations = ReadOwnAnnotations(in, value, here);
  });
  return identity;
}

SelectorOp ReadOperator(FieldReader& in, JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    if (text == "In") return SelectorOp::kIn;
    if (text == "NotIn") return SelectorOp::kNotIn;
    if (text == "Exists") return SelectorOp::kExists;
    if (text == "DoesNotExist") return SelectorOp::kDoesNotExist;
  }
  in.FailType(at, json, "\"In\", \"NotIn\", \"Exists\" or \"DoesNotExist\"");
  return SelectorOp::kIn;
}

SelectorRequirement ReadRequirement(FieldReader& in, JsonElement json, const At& at) {
  SelectorRequirement requirement;
  bool has_operator = false;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "key") {
      requirement.key = in.Text(value, here);
    } else if (key == "operator") {
      requirement.op = ReadOperator(in, value, here);
      has_operator = true;
    } else if (key == "values") {
      requirement.values = in.Texts(value, here);
    }
  });
  const bool wants_values = requirement.op == SelectorOp::kIn || requirement.op == SelectorOp::kNotIn;
  if (!has_operator || wants_values == requirement.values.empty())
    in.FailType(at, json, "an operator, with values for In and NotIn and without for the others");
  return requirement;
}

LabelSelector ReadSelector(FieldReader& in, JsonElement json, const At& at) {
  LabelSelector selector;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "matchLabels")
      selector.match_labels = in.TextMap(value, here);
    else if (key == "matchExpressions")
      selector.match_expressions =
          in.List(value, here, [&](JsonElement item, const At& place) { return ReadRequirement(in, item, place); });
  });
  return selector;
}

bool IsPercentage(std::string_view text) {
  return text.size() > 1 && text.size() <= 5 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
}

// intstr.IntOrString, as text.
std::string ReadAmountOrPercentage(FieldReader& in, JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS && IsPercentage(text)) return std::string(text);
  std::int64_t number = 0;
  if (json.is_int64() && json.get(number) == simdjson::SUCCESS) return std::to_string(number);
  in.FailType(at, json, "a whole number or a percentage");
  return {};
}

// --- pods and nodes -------------------------------------------------------------------------------------------------

PodPhase PhaseOf(std::string_view text) {
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return text == "Unknown" ? PodPhase::kUnknown : PodPhase::kPending;
}

bool IsReadyCondition(FieldReader& in, JsonElement json, const At& at) {
  bool ready = false;
  bool holds = false;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "type")
      ready = in.Text(value, here) == "Ready";
    else if (key == "status")
      holds = in.Text(value, here) == "True";
  });
  return ready && holds;
}

void ReadPodStatus(FieldReader& in, JsonElement json, const At& at, Pod& pod) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "phase") {
      pod.phase = PhaseOf(in.Text(value, here));
    } else if (key == "conditions") {
      const auto read = [&](JsonElement item, const At& place) { return IsReadyCondition(in, item, place) ? 1 : 0; };
      const std::vector<int> ready = in.List(value, here, read);
      pod.ready = std::find(ready.begin(), ready.end(), 1) != ready.end();
    }
  });
}

Pod ReadPodRest(FieldReader& in, JsonElement json, const At& at) {
  Pod pod;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "metadata") {
      pod.uid = ReadIdentity(in, value, here).uid;
    } else if (key == "spec") {
      in.EachMember(value, here, [&](std::string_view name, JsonElement text, const At& place) {
        if (name == "nodeName") pod.node_name = in.Text(text, place);
      });
    } else if (key == "status") {
      ReadPodStatus(in, value, here, pod);
    }
  });
  return pod;
}

void ReadNodeStatus(FieldReader& in, JsonElement json, const At& at, Node& node) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "allocatable") node.allocatable = in.Resources(value, here);
  });
}

Node ReadNodeRest(FieldReader& in, JsonElement json, const At& at) {
  Node node;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec") {
      in.EachMember(value, here, [&](std::string_view name, JsonElement field, const At& place) {
        if (name == "unschedulable") node.unschedulable = in.Boolean(field, place);
      });
    } else if (key == "status") {
      ReadNodeStatus(in, value, here, node);
    }
  });
  return node;
}

// --- budgets and autoscalers ----------------------------------------------------------------------------------------

void ReadPdbSpec(FieldReader& in, JsonElement json, const At& at, Pdb& pdb) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "selector")
      pdb.selector = ReadSelector(in, value, here);
    else if (key == "minAvailable")
      pdb.min_available = ReadAmountOrPercentage(in, value, here);
    else if (key == "maxUnavailable")
      pdb.max_unavailable = ReadAmountOrPercentage(in, value, here);
    else if (key == "unhealthyPodEvictionPolicy")
      pdb.unhealthy_pod_eviction_policy = in.Text(value, here);
  });
}

void ReadPdbStatus(FieldReader& in, JsonElement json, const At& at, Pdb& pdb) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "disruptionsAllowed") {
      pdb.disruptions_allowed = in.Integer32(value, here);
    } else if (key == "currentHealthy") {
      pdb.current_healthy = in.Integer32(value, here);
    } else if (key == "desiredHealthy") {
      pdb.desired_healthy = in.Integer32(value, here);
    } else if (key == "expectedPods") {
      pdb.expected_pods = in.Integer32(value, here);
    } else if (key == "disruptedPods") {
      in.EachMember(value, here,
                    [&](std::string_view name, JsonElement, const At&) { pdb.disrupted_pods.emplace_back(name); });
      std::sort(pdb.disrupted_pods.begin(), pdb.disrupted_pods.end());
    }
  });
}

Pdb ReadPdbRest(FieldReader& in, JsonElement json, const At& at) {
  Pdb pdb;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec")
      ReadPdbSpec(in, value, here, pdb);
    else if (key == "status")
      ReadPdbStatus(in, value, here, pdb);
  });
  return pdb;
}

void ReadScaleTarget(FieldReader& in, JsonElement json, const At& at, Autoscaler& autoscaler) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "apiVersion")
      autoscaler.target_api_version = in.Text(value, here);
    else if (key == "kind")
      autoscaler.target_kind = in.Text(value, here);
    else if (key == "name")
      autoscaler.target_name = in.Text(value, here);
  });
}

Autoscaler ReadAutoscalerRest(FieldReader& in, JsonElement json, const At& at) {
  Autoscaler autoscaler;
  in.EachMember(json, at, [&](std::string_view key, JsonElement spec, const At& here) {
    if (key != "spec") return;
    in.EachMember(spec, here, [&](std::string_view name, JsonElement value, const At& place) {
      if (name == "scaleTargetRef")
        ReadScaleTarget(in, value, place, autoscaler);
      else if (name == "minReplicas")
        autoscaler.min_replicas = in.Integer32(value, place);
    });
  });
  return autoscaler;
}

// --- workloads ------------------------------------------------------------------------------------------------------

enum class Selector { kNone, kLabelSelector, kLabels };

// What differs between the kinds that make pods.
struct WorkloadRow {
  std::string_view kind;
  Selector selector;
  bool scales;                // spec.replicas, 1 when it is absent
  std::string_view strategy;  // the member of spec that holds rollingUpdate.maxUnavailable; empty: none
};

constexpr std::array<WorkloadRow, 7> kWorkloads = {{
    {"Deployment", Selector::kLabelSelector, true, "strategy"},
    {"StatefulSet", Selector::kLabelSelector, true, "updateStrategy"},
    {"ReplicaSet", Selector::kLabelSelector, true, ""},
    {"ReplicationController", Selector::kLabels, true, ""},
    {"DaemonSet", Selector::kLabelSelector, false, ""},
    {"Job", Selector::kLabelSelector, false, ""},
    {"CronJob", Selector::kNone, false, ""},
}};

// For everything else: as a custom resource with a scale usually is made.
constexpr WorkloadRow kCustom = {"", Selector::kLabelSelector, false, ""};

const WorkloadRow& RowOf(const ObjectKind& kind) {
  const bool built_in =
      kind.api_version == "v1" || kind.api_version.starts_with("apps/") || kind.api_version.starts_with("batch/");
  for (const WorkloadRow& row : kWorkloads)
    if (built_in && row.kind == kind.kind) return row;
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

void ReadWorkloadSpec(FieldReader& in, JsonElement json, const At& at, const WorkloadRow& row, Workload& workload) {
  if (row.scales) workload.replicas = 1;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    const bool has_scale = row.scales || row.kind.empty();
    if (key == "replicas" && has_scale)
      workload.replicas = in.Integer32(value, here);
    else if (key == "selector" && row.selector == Selector::kLabelSelector)
      workload.selector = ReadSelector(in, value, here);
    else if (key == "selector" && row.selector == Selector::kLabels)
      workload.selector = LabelSelector{in.TextMap(value, here), {}};
    else if (!row.strategy.empty() && key == row.strategy)
      workload.rollout_max_unavailable = ReadRolloutLimit(in, value, here);
  });
}

struct WorkloadReader {
  const WorkloadRow* row = nullptr;

  Workload operator()(FieldReader& in, JsonElement json, const At& at) const {
    Workload workload;
    in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
      if (key == "spec") ReadWorkloadSpec(in, value, here, *row, workload);
    });
    return workload;
  }
};

ObjectKind ReadKind(FieldReader& in, JsonElement json, const At& at) {
  ObjectKind kind;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "apiVersion")
      kind.api_version = in.Text(value, here);
    else if (key == "kind")
      kind.kind = in.Text(value, here);
  });
  return kind;
}

// --- the frame ------------------------------------------------------------------------------------------------------

template <typename Read>
auto Decode(JsonElement json, std::string_view pointer, const Read& read) {
  FieldReader in;
  Result result = read(in, json, At{nullptr, pointer});
  if (in.problem()) result = *in.problem();
  return result;
}

Result<Object> DecodeObject(JsonElement json, std::string_view pointer) {
  const std::string place = std::string(pointer) + "/metadata";
  JsonElement metadata;
  if (json["metadata"].get(metadata) != simdjson::SUCCESS)
    return Error{ErrorKind::kInvalidInput, place + "/name: is missing; every object needs a name"};
  Result<ObjectMeta> meta = DecodeObjectMeta(metadata, place);
  if (!meta) return meta.error();
  if (meta->name.empty())
    return Error{ErrorKind::kInvalidInput, place + "/name: is missing; every object needs a name"};
  Result<Identity> identity = Decode(metadata, place, ReadIdentity);
  if (!identity) return identity.error();
  return Object{std::move(*meta), std::move(*identity)};
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

Result<ObjectName> DecodeObjectName(JsonElement json, std::string_view pointer) {
  Result<ObjectKind> kind = Decode(json, pointer, ReadKind);
  if (!kind) return kind.error();
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  return ObjectName{std::move(*kind), std::move(object->meta.namespace_name), std::move(object->meta.name)};
}

Result<Pod> DecodePodObject(JsonElement json, std::string_view pointer) {
  Result<Pod> pod = Decode(json, pointer, ReadPodRest);
  if (!pod) return pod;
  Result<PodTemplate> pod_template = DecodePodTemplate(json, pointer);
  if (!pod_template) return pod_template.error();
  ObjectMeta& meta = pod_template->metadata;
  if (meta.name.empty())
    return Error{ErrorKind::kInvalidInput,
                 std::string(pointer) + "/metadata/name: is missing; every object needs a name"};
  if (const OwnerReference* controller = meta.Controller()) pod->controller = *controller;
  pod->name = std::move(meta.name);
  pod->namespace_name = std::move(meta.namespace_name);
  pod->labels = std::move(meta.labels);
  pod->deleting = meta.deleting;
  pod->spec = std::move(pod_template->spec);
  return pod;
}

Result<Node> DecodeNode(JsonElement json, std::string_view pointer) {
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  Result<Node> node = Decode(json, pointer, ReadNodeRest);
  if (!node) return node;
  node->name = std::move(object->meta.name);
  node->labels = std::move(object->meta.labels);
  return node;
}

Result<Namespace> DecodeNamespace(JsonElement json, std::string_view pointer) {
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  return Namespace{std::move(object->meta.name), std::move(object->meta.labels)};
}

Result<LabelSelector> DecodeLabelSelector(JsonElement json, std::string_view pointer) {
  return Decode(json, pointer, ReadSelector);
}

Result<Pdb> DecodePdb(JsonElement json, std::string_view pointer) {
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  if (!json["spec"].is_object())
    return Error{ErrorKind::kInvalidInput, std::string(pointer) + "/spec: is missing in a PodDisruptionBudget"};
  Result<Pdb> pdb = Decode(json, pointer, ReadPdbRest);
  if (!pdb) return pdb;
  pdb->namespace_name = std::move(object->meta.namespace_name);
  pdb->name = std::move(object->meta.name);
  pdb->uid = std::move(object->identity.uid);
  pdb->resource_version = std::move(object->identity.resource_version);
  pdb->labels = std::move(object->meta.labels);
  pdb->annotations = std::move(object->identity.own_annotations);
  pdb->owners = std::move(object->meta.owners);
  pdb->deleting = object->meta.deleting;
  return pdb;
}

Result<Autoscaler> DecodeAutoscaler(JsonElement json, std::string_view pointer) {
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  Result<Autoscaler> autoscaler = Decode(json, pointer, ReadAutoscalerRest);
  if (!autoscaler) return autoscaler;
  autoscaler->namespace_name = std::move(object->meta.namespace_name);
  autoscaler->name = std::move(object->meta.name);
  return autoscaler;
}

Result<Workload> DecodeWorkload(JsonElement json, std::string_view pointer, const ObjectKind& kind) {
  Result<ObjectKind> said = Decode(json, pointer, ReadKind);
  if (!said) return said.error();
  if (said->kind.empty()) said->kind = kind.kind;
  if (said->api_version.empty()) said->api_version = kind.api_version;
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  const WorkloadRow& row = RowOf(*said);
  Result<Workload> workload = Decode(json, pointer, WorkloadReader{&row});
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
  workload->uid = std::move(object->identity.uid);
  workload->labels = std::move(object->meta.labels);
  workload->owners = std::move(object->meta.owners);
  workload->deleting = object->meta.deleting;
  workload->pod_template = std::move(*pod_template);
  return workload;
}

}  // namespace podium
