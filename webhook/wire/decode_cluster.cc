#include "wire/decode_cluster.h"

#include <algorithm>
#include <utility>

#include "wire/decode_scheduling.h"
#include "wire/object_reader.h"

namespace podium {
namespace {

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

struct PodStatus {
  PodPhase phase = PodPhase::kPending;
  bool ready = false;
};

PodStatus ReadPodStatus(FieldReader& in, JsonElement json, const At& at) {
  PodStatus status;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "phase") {
      status.phase = PhaseOf(in.Text(value, here));
    } else if (key == "conditions") {
      const auto read = [&](JsonElement item, const At& place) { return IsReadyCondition(in, item, place) ? 1 : 0; };
      const std::vector<int> ready = in.List(value, here, read);
      status.ready = std::find(ready.begin(), ready.end(), 1) != ready.end();
    }
  });
  return status;
}

Pod ReadPodRest(FieldReader& in, JsonElement json, const At& at) {
  Pod pod;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "metadata") {
      pod.uid = ReadUid(in, value, here);
    } else if (key == "spec") {
      in.EachMember(value, here, [&](std::string_view name, JsonElement text, const At& place) {
        if (name == "nodeName") pod.node_name = in.Text(text, place);
      });
    } else if (key == "status") {
      const PodStatus status = ReadPodStatus(in, value, here);
      pod.phase = status.phase;
      pod.ready = status.ready;
    }
  });
  return pod;
}

Node WithNodeStatus(Node node, FieldReader& in, JsonElement json, const At& at) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "allocatable")
      node.allocatable = in.Resources(value, here);
    else if (key == "declaredFeatures")
      node.declared_features = in.Texts(value, here);
  });
  return node;
}

Node ReadNodeRest(FieldReader& in, JsonElement json, const At& at) {
  Node node;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec") {
      in.EachMember(value, here, [&](std::string_view name, JsonElement field, const At& place) {
        if (name == "unschedulable")
          node.unschedulable = in.Boolean(field, place);
        else if (name == "taints")
          node.taints =
              in.List(field, place, [&](JsonElement item, const At& its) { return ReadTaint(in, item, its); });
      });
    } else if (key == "status") {
      node = WithNodeStatus(std::move(node), in, value, here);
    }
  });
  return node;
}

// --- budgets and autoscalers ----------------------------------------------------------------------------------------

// `pdb` so far, with what the spec says.
Pdb WithSpec(Pdb pdb, FieldReader& in, JsonElement json, const At& at) {
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
  return pdb;
}

Pdb WithStatus(Pdb pdb, FieldReader& in, JsonElement json, const At& at) {
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
  return pdb;
}

Pdb ReadPdbRest(FieldReader& in, JsonElement json, const At& at) {
  Pdb pdb;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec")
      pdb = WithSpec(std::move(pdb), in, value, here);
    else if (key == "status")
      pdb = WithStatus(std::move(pdb), in, value, here);
  });
  return pdb;
}

Autoscaler WithTarget(Autoscaler autoscaler, FieldReader& in, JsonElement json, const At& at) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "apiVersion")
      autoscaler.target_api_version = in.Text(value, here);
    else if (key == "kind")
      autoscaler.target_kind = in.Text(value, here);
    else if (key == "name")
      autoscaler.target_name = in.Text(value, here);
  });
  return autoscaler;
}

Autoscaler ReadAutoscalerRest(FieldReader& in, JsonElement json, const At& at) {
  Autoscaler autoscaler;
  in.EachMember(json, at, [&](std::string_view key, JsonElement spec, const At& here) {
    if (key != "spec") return;
    in.EachMember(spec, here, [&](std::string_view name, JsonElement value, const At& place) {
      if (name == "scaleTargetRef")
        autoscaler = WithTarget(std::move(autoscaler), in, value, place);
      else if (name == "minReplicas")
        autoscaler.min_replicas = in.Integer32(value, place);
    });
  });
  return autoscaler;
}

}  // namespace

Result<Pod> DecodePodObject(JsonElement json, std::string_view pointer) {
  Result<Pod> pod = Decode(json, pointer, ReadPodRest);
  if (!pod) return pod;
  Result<PodTemplate> pod_template = DecodePodTemplate(json, pointer);
  if (!pod_template) return pod_template.error();
  ObjectMeta& meta = pod_template->metadata;
  if (meta.name.empty()) return NameIsMissing(pointer);
  Result<PodScheduling> scheduling = Decode(json, pointer, ReadPodScheduling);
  if (!scheduling) return scheduling.error();
  // The empty value is shared; a new one would cost memory for every pod.
  if (scheduling->spec != SchedulingSpec{}) pod->scheduling = std::move(scheduling->spec);
  SchedulingStatus standing = WithoutRepetition(std::move(scheduling->status), pod_template->spec);
  if (standing != SchedulingStatus{}) pod->standing = std::move(standing);
  pod->start_time = scheduling->start_time;
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

Result<Pdb> DecodePdb(JsonElement json, std::string_view pointer) {
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  if (!json["spec"].is_object())
    return Error{ErrorKind::kInvalidInput, std::string(pointer) + "/spec: is missing in a PodDisruptionBudget"};
  Result<Pdb> pdb = Decode(json, pointer, ReadPdbRest);
  if (!pdb) return pdb;
  pdb->namespace_name = std::move(object->meta.namespace_name);
  pdb->name = std::move(object->meta.name);
  pdb->uid = std::move(object->uid);
  pdb->resource_version = std::move(object->resource_version);
  pdb->labels = std::move(object->meta.labels);
  pdb->annotations = std::move(object->own_annotations);
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

}  // namespace podium
