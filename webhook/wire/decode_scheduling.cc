#include "wire/decode_scheduling.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "wire/object_reader.h"

namespace podium {
namespace {

// --- node affinity --------------------------------------------------------------------------------------------------

NodeSelectorOp NodeOperator(std::string_view text) {
  if (text == "In") return NodeSelectorOp::kIn;
  if (text == "NotIn") return NodeSelectorOp::kNotIn;
  if (text == "Exists") return NodeSelectorOp::kExists;
  if (text == "DoesNotExist") return NodeSelectorOp::kDoesNotExist;
  if (text == "Gt") return NodeSelectorOp::kGt;
  return text == "Lt" ? NodeSelectorOp::kLt : NodeSelectorOp::kInvalid;
}

NodeRequirement ReadNodeRequirement(FieldReader& in, JsonElement json, const At& at) {
  NodeRequirement requirement;
  requirement.op = NodeSelectorOp::kInvalid;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "key")
      requirement.key = in.Text(value, here);
    else if (key == "operator")
      requirement.op = NodeOperator(in.Text(value, here));
    else if (key == "values")
      requirement.values = in.Texts(value, here);
  });
  return requirement;
}

NodeSelectorTerm ReadNodeTerm(FieldReader& in, JsonElement json, const At& at) {
  NodeSelectorTerm term;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "matchExpressions")
      term.expressions = ListOf(in, value, here, ReadNodeRequirement);
    else if (key == "matchFields")
      term.fields = ListOf(in, value, here, ReadNodeRequirement);
  });
  return term;
}

NodeSelector ReadNodeSelector(FieldReader& in, JsonElement json, const At& at) {
  NodeSelector selector;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "nodeSelectorTerms") selector.terms = ListOf(in, value, here, ReadNodeTerm);
  });
  return selector;
}

// --- pod affinity ---------------------------------------------------------------------------------------------------

PodAffinityTerm ReadPodTerm(FieldReader& in, JsonElement json, const At& at) {
  PodAffinityTerm term;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "labelSelector")
      term.selector = ReadSelector(in, value, here);
    else if (key == "namespaces")
      term.namespaces = in.Texts(value, here);
    else if (key == "namespaceSelector")
      term.namespace_selector = ReadSelector(in, value, here);
    else if (key == "topologyKey")
      term.topology_key = in.Text(value, here);
  });
  return term;
}

// Three years: longer ones are as long, and sums with times stay in range.
constexpr std::int64_t kLongestGrace = 100'000'000;
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

std::vector<PodAffinityTerm> ReadRequiredTerms(FieldReader& in, JsonElement json, const At& at) {
  std::vector<PodAffinityTerm> terms;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == kRequired) terms = ListOf(in, value, here, ReadPodTerm);
  });
  return terms;
}

SchedulingSpec WithAffinity(SchedulingSpec spec, FieldReader& in, JsonElement json, const At& at) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "nodeAffinity") {
      in.EachMember(value, here, [&](std::string_view name, JsonElement selector, const At& place) {
        if (name == kRequired) spec.node_affinity = ReadNodeSelector(in, selector, place);
      });
    } else if (key == "podAffinity") {
      spec.pod_affinity = ReadRequiredTerms(in, value, here);
    } else if (key == "podAntiAffinity") {
      spec.pod_anti_affinity = ReadRequiredTerms(in, value, here);
    }
  });
  return spec;
}

// --- spreading ------------------------------------------------------------------------------------------------------

NodeInclusion ReadInclusion(FieldReader& in, JsonElement json, const At& at) {
  return in.Text(json, at) == "Honor" ? NodeInclusion::kHonor : NodeInclusion::kIgnore;
}

struct SpreadRow {
  SpreadConstraint constraint;
  bool required = false;
};

SpreadRow ReadSpreadRow(FieldReader& in, JsonElement json, const At& at) {
  SpreadRow row;
  SpreadConstraint& constraint = row.constraint;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "maxSkew")
      constraint.max_skew = in.Integer32(value, here);
    else if (key == "topologyKey")
      constraint.topology_key = in.Text(value, here);
    else if (key == "whenUnsatisfiable")
      row.required = in.Text(value, here) == "DoNotSchedule";
    else if (key == "labelSelector")
      constraint.selector = ReadSelector(in, value, here);
    else if (key == "minDomains")
      constraint.min_domains = in.Integer32(value, here);
    else if (key == "nodeAffinityPolicy")
      constraint.affinity_policy = ReadInclusion(in, value, here);
    else if (key == "nodeTaintsPolicy")
      constraint.taints_policy = ReadInclusion(in, value, here);
    else if (key == "matchLabelKeys")
      constraint.match_label_keys = in.Texts(value, here);
  });
  return row;
}

std::vector<SpreadConstraint> ReadSpread(FieldReader& in, JsonElement json, const At& at) {
  std::vector<SpreadConstraint> constraints;
  for (SpreadRow& row : ListOf(in, json, at, ReadSpreadRow))
    if (row.required) constraints.push_back(std::move(row.constraint));
  return constraints;
}

// --- containers -----------------------------------------------------------------------------------------------------

struct Port {
  HostPort host;
  std::int32_t container_port = 0;
};

Port ReadPort(FieldReader& in, JsonElement json, const At& at) {
  Port port;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "hostPort")
      port.host.port = in.Integer32(value, here);
    else if (key == "containerPort")
      port.container_port = in.Integer32(value, here);
    else if (key == "hostIP")
      port.host.ip = in.Text(value, here);
    else if (key == "protocol")
      port.host.protocol = in.Text(value, here);
  });
  if (port.host.ip.empty()) port.host.ip = HostPort{}.ip;
  if (port.host.protocol.empty()) port.host.protocol = HostPort{}.protocol;
  return port;
}

struct ContainerScheduling {
  std::vector<Port> ports;
  bool restart_always = false;
  bool restart_all_containers = false;
  bool bind_mount_options = false;
};

bool IsRestartAll(FieldReader& in, JsonElement json, const At& at) {
  bool found = false;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "action") found = in.Text(value, here) == "RestartAllContainers";
  });
  return found;
}

template <typename Test>
bool AnyOf(FieldReader& in, JsonElement json, const At& at, Test test) {
  bool found = false;
  ListOf(in, json, at, [&](FieldReader& reader, JsonElement item, const At& here) {
    found = test(reader, item, here) || found;
    return 0;
  });
  return found;
}

ContainerScheduling ReadContainerScheduling(FieldReader& in, JsonElement json, const At& at) {
  ContainerScheduling container;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "ports") {
      container.ports = ListOf(in, value, here, ReadPort);
    } else if (key == "restartPolicy") {
      container.restart_always = in.Text(value, here) == "Always";
    } else if (key == "restartPolicyRules") {
      container.restart_all_containers = AnyOf(in, value, here, IsRestartAll);
    } else if (key == "volumeMounts") {
      container.bind_mount_options =
          AnyOf(in, value, here, [](FieldReader& reader, JsonElement mount, const At& place) {
            return reader.HasMember(mount, place, "bindMountOptions");
          });
    }
  });
  return container;
}

// Sources that a volume filter of the scheduler looks at (volumebinding, volumezone, volumerestrictions,
// nodevolumelimits).
constexpr std::array<std::string_view, 8> kVolumeSources = {
    "persistentVolumeClaim", "ephemeral", "csi", "gcePersistentDisk",
    "awsElasticBlockStore",  "azureDisk", "rbd", "iscsi"};

std::string ReadFilteredVolume(FieldReader& in, JsonElement json, const At& at) {
  std::string name;
  bool filtered = false;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "name") name = in.Text(value, here);
    filtered = filtered || std::find(kVolumeSources.begin(), kVolumeSources.end(), key) != kVolumeSources.end();
  });
  return filtered ? name : std::string();
}

Toleration ReadToleration(FieldReader& in, JsonElement json, const At& at) {
  Toleration toleration;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "key")
      toleration.key = in.Text(value, here);
    else if (key == "operator")
      toleration.op = in.Text(value, here);
    else if (key == "value")
      toleration.value = in.Text(value, here);
    else if (key == "effect")
      toleration.effect = in.Text(value, here);
  });
  return toleration;
}

// What only makes sense once the whole spec is read.
struct SpecParts {
  std::vector<ContainerScheduling> containers;
  std::vector<ContainerScheduling> init_containers;
  bool host_network = false;
  bool host_users = true;
};

// With hostNetwork the API server makes every container port a host port (pkg/apis/core/v1/defaults.go); a template
// may not say so yet.
void AddHostPorts(SchedulingSpec& spec, const ContainerScheduling& container, bool host_network) {
  for (const Port& port : container.ports) {
    HostPort host = port.host;
    if (host.port == 0 && host_network) host.port = port.container_port;
    if (host.port > 0) spec.host_ports.push_back(std::move(host));
  }
}

SchedulingSpec WithParts(SchedulingSpec spec, const SpecParts& parts) {
  for (const ContainerScheduling& container : parts.containers) AddHostPorts(spec, container, parts.host_network);
  for (const ContainerScheduling& container : parts.init_containers)
    if (container.restart_always) AddHostPorts(spec, container, parts.host_network);
  for (const auto* containers : {&parts.containers, &parts.init_containers}) {
    for (const ContainerScheduling& container : *containers) {
      spec.needs.restart_all_containers |= container.restart_all_containers;
      spec.needs.bind_mount_options |= container.bind_mount_options;
    }
  }
  spec.needs.user_namespace_on_host_net = parts.host_network && !parts.host_users;
  std::erase(spec.volumes, "");
  return spec;
}

}  // namespace

std::string ReadName(FieldReader& in, JsonElement json, const At& at) {
  std::string name;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "name") name = in.Text(value, here);
  });
  return name;
}

Taint ReadTaint(FieldReader& in, JsonElement json, const At& at) {
  Taint taint;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "key")
      taint.key = in.Text(value, here);
    else if (key == "value")
      taint.value = in.Text(value, here);
    else if (key == "effect")
      taint.effect = in.Text(value, here);
  });
  return taint;
}

SchedulingSpec ReadSchedulingSpec(FieldReader& in, JsonElement json, const At& at) {
  SchedulingSpec spec;
  SpecParts parts;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "schedulerName")
      spec.scheduler_name = in.Text(value, here);
    else if (key == "schedulingGates")
      spec.gates = ListOf(in, value, here, ReadName);
    else if (key == "tolerations")
      spec.tolerations = ListOf(in, value, here, ReadToleration);
    else if (key == "nodeSelector")
      spec.node_selector = in.TextMap(value, here);
    else if (key == "affinity")
      spec = WithAffinity(std::move(spec), in, value, here);
    else if (key == "topologySpreadConstraints")
      spec.spread = ReadSpread(in, value, here);
    else if (key == "containers")
      parts.containers = ListOf(in, value, here, ReadContainerScheduling);
    else if (key == "initContainers")
      parts.init_containers = ListOf(in, value, here, ReadContainerScheduling);
    else if (key == "hostNetwork")
      parts.host_network = in.Boolean(value, here);
    else if (key == "hostUsers")
      parts.host_users = in.Boolean(value, here);
    else if (key == "terminationGracePeriodSeconds")
      spec.grace_period_seconds = std::clamp<std::int64_t>(in.Integer(value, here), 0, kLongestGrace);
    else if (key == "volumes")
      spec.volumes = ListOf(in, value, here, ReadFilteredVolume);
    else if (key == "resourceClaims")
      spec.resource_claims = ListOf(in, value, here, ReadName);
  });
  return WithParts(std::move(spec), parts);
}

PodScheduling ReadPodScheduling(FieldReader& in, JsonElement pod, const At& at) {
  PodScheduling scheduling;
  in.EachMember(pod, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec") {
      scheduling.spec = ReadSchedulingSpec(in, value, here);
    } else if (key == "status") {
      scheduling = WithPodStatus(std::move(scheduling), in, value, here);
    }
  });
  in.EachMember(pod, at, [&](std::string_view key, JsonElement metadata, const At& here) {
    if (key != "metadata") return;
    in.EachMember(metadata, here, [&](std::string_view name, JsonElement value, const At& place) {
      if (name == "deletionTimestamp") scheduling.status.deletion_time = ReadTime(in, value, place);
      // A snapshot file says the epoch where only the fact was known.
      if (scheduling.status.deletion_time == TimePoint()) scheduling.status.deletion_time.reset();
    });
  });
  return scheduling;
}

Result<SchedulingSpec> DecodeSchedulingSpec(JsonElement pod_spec, std::string_view pointer) {
  return Decode(pod_spec, pointer, ReadSchedulingSpec);
}

}  // namespace podium
