#include "wire/decode_scheduling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "core/text.h"
#include "wire/object_reader.h"

namespace podium {
namespace {

// read(item, at) for each item of a list.
template <typename Read>
auto ListOf(FieldReader& in, JsonElement json, const At& at, Read read) {
  return in.List(json, at, [&](JsonElement item, const At& here) { return read(in, item, here); });
}

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

std::string ReadName(FieldReader& in, JsonElement json, const At& at) {
  std::string name;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "name") name = in.Text(value, here);
  });
  return name;
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

// --- status ---------------------------------------------------------------------------------------------------------

std::optional<int> Digits(std::string_view text, std::size_t at) {
  int number = 0;
  if (text.size() < at + 2) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, number);
  if (error != std::errc() || end != text.data() + at + 2) return std::nullopt;
  return number;
}

// "Z" or "+02:00".
std::optional<std::chrono::minutes> ZoneOf(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  const std::optional<int> hours = Digits(text, 1);
  const std::optional<int> minutes = Digits(text, 4);
  if (text.size() != 6 || !hours || !minutes || text[3] != ':') return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return text[0] == '-' ? -offset : offset;
}

// RFC 3339, down to microseconds.
std::optional<TimePoint> TimeOf(std::string_view text) {
  constexpr std::size_t kToSeconds = 19;
  if (text.size() < kToSeconds + 1 || text[13] != ':' || text[16] != ':') return std::nullopt;
  const Result<TimePoint> day = ParseDate(text.substr(0, 10));
  const std::optional<int> hour = Digits(text, 11);
  const std::optional<int> minute = Digits(text, 14);
  const std::optional<int> second = Digits(text, 17);
  std::size_t end = kToSeconds;
  std::int64_t micros = 0;
  if (text[end] == '.')
    for (std::int64_t unit = 100'000; ++end < text.size() && text[end] >= '0' && text[end] <= '9'; unit /= 10)
      micros += (text[end] - '0') * unit;
  const std::optional<std::chrono::minutes> zone = ZoneOf(text.substr(end));
  if (!day || !hour || !minute || !second || !zone) return std::nullopt;
  return *day + std::chrono::seconds(*hour * 3600 + *minute * 60 + *second) + std::chrono::microseconds(micros) - *zone;
}

std::optional<TimePoint> ReadTime(FieldReader& in, JsonElement json, const At& at) {
  const std::optional<TimePoint> time = TimeOf(in.Text(json, at));
  if (!time) in.FailType(at, json, "a time as in 2026-11-29T16:58:33Z");
  return time;
}

ReportedResources ReadReported(FieldReader& in, JsonElement json, const At& at) {
  ReportedResources reported;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "allocatedResources") {
      reported.allocated = in.Resources(value, here);
    } else if (key == "resources") {
      reported.has_resources = true;
      in.EachMember(value, here, [&](std::string_view name, JsonElement amounts, const At& place) {
        if (name == "requests") reported.requests = in.Resources(amounts, place);
      });
    }
  });
  return reported;
}

ContainerReport ReadContainerReport(FieldReader& in, JsonElement json, const At& at) {
  return {ReadName(in, json, at), ReadReported(in, json, at)};
}

struct Condition {
  std::string type;
  std::string status;
  std::string reason;
};

Condition ReadCondition(FieldReader& in, JsonElement json, const At& at) {
  Condition condition;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "type")
      condition.type = in.Text(value, here);
    else if (key == "status")
      condition.status = in.Text(value, here);
    else if (key == "reason")
      condition.reason = in.Text(value, here);
  });
  return condition;
}

// Of each type the first condition counts.
SchedulingStatus WithConditions(SchedulingStatus status, const std::vector<Condition>& conditions) {
  const auto first = [&](std::string_view type) {
    const auto found = std::find_if(conditions.begin(), conditions.end(), [&](auto& c) { return c.type == type; });
    return found == conditions.end() ? Condition{} : *found;
  };
  const Condition disruption = first("DisruptionTarget");
  status.preempted_by_scheduler = disruption.status == "True" && disruption.reason == "PreemptionByScheduler";
  status.resize_infeasible = first("PodResizePending").reason == "Infeasible";
  return status;
}

PodScheduling WithStatus(PodScheduling pod, FieldReader& in, JsonElement json, const At& at) {
  std::vector<ContainerReport> init_containers;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "nominatedNodeName")
      pod.status.nominated_node = in.Text(value, here);
    else if (key == "startTime")
      pod.start_time = ReadTime(in, value, here).value_or(TimePoint());
    else if (key == "conditions")
      pod.status = WithConditions(std::move(pod.status), ListOf(in, value, here, ReadCondition));
    else if (key == "containerStatuses")
      pod.status.containers = ListOf(in, value, here, ReadContainerReport);
    else if (key == "initContainerStatuses")
      init_containers = ListOf(in, value, here, ReadContainerReport);
  });
  std::move(init_containers.begin(), init_containers.end(), std::back_inserter(pod.status.containers));
  pod.status.pod = ReadReported(in, json, at);
  return pod;
}

}  // namespace

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
      spec.grace_period_seconds = in.Integer(value, here);
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
      scheduling = WithStatus(std::move(scheduling), in, value, here);
    }
  });
  in.EachMember(pod, at, [&](std::string_view key, JsonElement metadata, const At& here) {
    if (key != "metadata") return;
    in.EachMember(metadata, here, [&](std::string_view name, JsonElement value, const At& place) {
      if (name == "deletionTimestamp") scheduling.status.deletion_time = ReadTime(in, value, place);
    });
  });
  return scheduling;
}

SchedulingStatus WithoutRepetition(SchedulingStatus status, const PodSpec& spec) {
  if (status.resize_infeasible) return status;
  const auto repeats = [&](const ContainerReport& report) {
    const ReportedResources& reported = report.resources;
    if (reported == ReportedResources{}) return true;
    for (const auto* containers : {&spec.containers, &spec.init_containers}) {
      for (const Container& container : *containers) {
        if (container.name != report.name) continue;
        return reported.requests.value_or(container.requests) == container.requests &&
               reported.allocated.value_or(container.requests) == container.requests;
      }
    }
    return true;  // no such container
  };
  // The first report of a name counts: what would stand behind one that is left out must go with it.
  const std::vector<ContainerReport> all = std::move(status.containers);
  status.containers.clear();
  for (auto report = all.begin(); report != all.end(); ++report) {
    const auto same = [&](const ContainerReport& other) { return other.name == report->name; };
    if (std::none_of(all.begin(), report, same) && !repeats(*report)) status.containers.push_back(*report);
  }
  return status;
}

}  // namespace podium
