#include "wire/scheduling_writer.h"

#include "core/text.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

std::string_view ToText(NodeSelectorOp op) {
  switch (op) {
    case NodeSelectorOp::kIn: return "In";
    case NodeSelectorOp::kNotIn: return "NotIn";
    case NodeSelectorOp::kExists: return "Exists";
    case NodeSelectorOp::kDoesNotExist: return "DoesNotExist";
    case NodeSelectorOp::kGt: return "Gt";
    case NodeSelectorOp::kLt: return "Lt";
    case NodeSelectorOp::kInvalid: break;
  }
  return "";
}

std::string_view ToText(NodeInclusion inclusion) { return inclusion == NodeInclusion::kHonor ? "Honor" : "Ignore"; }

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

}  // namespace

void SchedulingWriter::BeginMember(std::string_view key) {
  json_.Key(key);
  json_.BeginObject();
}

void SchedulingWriter::BeginList(std::string_view key) {
  json_.Key(key);
  json_.BeginArray();
}

void SchedulingWriter::Text(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  json_.Key(key);
  json_.String(value);
}

void SchedulingWriter::Number(std::string_view key, std::int64_t value) {
  json_.Key(key);
  json_.Int(value);
}

void SchedulingWriter::Map(std::string_view key, const Labels& labels) {
  if (!labels.empty()) WriteLabels(json_, key, labels);
}

void SchedulingWriter::Texts(std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) WriteTexts(json_, key, texts);
}

void SchedulingWriter::Resources(std::string_view key, const ResourceList& resources) {
  BeginMember(key);
  for (const auto& [name, amount] : resources) json_.Key(name), json_.String(FormatQuantity(amount));
  json_.EndObject();
}

// A list of objects with a name each; `beside` is another, empty member.
void SchedulingWriter::Names(std::string_view key, const std::vector<std::string>& names, std::string_view beside) {
  if (names.empty()) return;
  BeginList(key);
  for (const std::string& name : names) {
    json_.BeginObject();
    Text("name", name);
    if (!beside.empty()) BeginMember(beside), json_.EndObject();
    json_.EndObject();
  }
  json_.EndArray();
}

void SchedulingWriter::SelectorMember(std::string_view key, const std::optional<LabelSelector>& selector) {
  if (selector) WriteSelector(json_, key, *selector);
}

// --- spec -----------------------------------------------------------------------------------------------------------

void SchedulingWriter::SpecMembers(const SchedulingSpec& spec) {
  Text("schedulerName", spec.scheduler_name);
  Names("schedulingGates", spec.gates);
  Tolerations(spec.tolerations);
  Map("nodeSelector", spec.node_selector);
  Affinity(spec);
  Spread(spec.spread);
  if (spec.needs.user_namespace_on_host_net) {
    json_.Key("hostNetwork"), json_.Bool(true);
    json_.Key("hostUsers"), json_.Bool(false);
  }
  if (spec.grace_period_seconds) Number("terminationGracePeriodSeconds", *spec.grace_period_seconds);
  Names("volumes", spec.volumes, "ephemeral");  // which kind of volume is not kept
  Names("resourceClaims", spec.resource_claims);
}

void SchedulingWriter::ContainerMembers(const SchedulingSpec& spec) {
  if (!spec.host_ports.empty()) BeginList("ports");
  for (const HostPort& port : spec.host_ports) {
    json_.BeginObject();
    Number("hostPort", port.port);
    if (port.ip != HostPort{}.ip) Text("hostIP", port.ip);
    if (port.protocol != HostPort{}.protocol) Text("protocol", port.protocol);
    json_.EndObject();
  }
  if (!spec.host_ports.empty()) json_.EndArray();
  if (spec.needs.restart_all_containers)
    json_.Key("restartPolicyRules"), json_.Raw(R"([{"action":"RestartAllContainers"}])");
  if (spec.needs.bind_mount_options) json_.Key("volumeMounts"), json_.Raw(R"([{"bindMountOptions":{}}])");
}

void SchedulingWriter::Tolerations(const std::vector<Toleration>& tolerations) {
  if (tolerations.empty()) return;
  BeginList("tolerations");
  for (const Toleration& toleration : tolerations) {
    json_.BeginObject();
    Text("key", toleration.key);
    Text("operator", toleration.op);
    Text("value", toleration.value);
    Text("effect", toleration.effect);
    json_.EndObject();
  }
  json_.EndArray();
}

void SchedulingWriter::Affinity(const SchedulingSpec& spec) {
  if (!spec.node_affinity && spec.pod_affinity.empty() && spec.pod_anti_affinity.empty()) return;
  BeginMember("affinity");
  if (spec.node_affinity) {
    BeginMember("nodeAffinity");
    BeginMember(kRequired);
    BeginList("nodeSelectorTerms");
    for (const NodeSelectorTerm& term : spec.node_affinity->terms) {
      json_.BeginObject();
      Requirements("matchExpressions", term.expressions);
      Requirements("matchFields", term.fields);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
    json_.EndObject();
  }
  Terms("podAffinity", spec.pod_affinity);
  Terms("podAntiAffinity", spec.pod_anti_affinity);
  json_.EndObject();
}

void SchedulingWriter::Requirements(std::string_view key, std::span<const NodeRequirement> requirements) {
  if (requirements.empty()) return;
  BeginList(key);
  for (const NodeRequirement& requirement : requirements) {
    json_.BeginObject();
    Text("key", requirement.key);
    Text("operator", ToText(requirement.op));
    Texts("values", requirement.values);
    json_.EndObject();
  }
  json_.EndArray();
}

void SchedulingWriter::Terms(std::string_view key, const std::vector<PodAffinityTerm>& terms) {
  if (terms.empty()) return;
  BeginMember(key);
  BeginList(kRequired);
  for (const PodAffinityTerm& term : terms) {
    json_.BeginObject();
    SelectorMember("labelSelector", term.selector);
    Texts("namespaces", term.namespaces);
    SelectorMember("namespaceSelector", term.namespace_selector);
    Text("topologyKey", term.topology_key);
    json_.EndObject();
  }
  json_.EndArray();
  json_.EndObject();
}

void SchedulingWriter::Spread(const std::vector<SpreadConstraint>& constraints) {
  if (constraints.empty()) return;
  BeginList("topologySpreadConstraints");
  for (const SpreadConstraint& constraint : constraints) {
    json_.BeginObject();
    Number("maxSkew", constraint.max_skew);
    Text("topologyKey", constraint.topology_key);
    Text("whenUnsatisfiable", "DoNotSchedule");
    SelectorMember("labelSelector", constraint.selector);
    Number("minDomains", constraint.min_domains);
    Text("nodeAffinityPolicy", ToText(constraint.affinity_policy));
    Text("nodeTaintsPolicy", ToText(constraint.taints_policy));
    Texts("matchLabelKeys", constraint.match_label_keys);
    json_.EndObject();
  }
  json_.EndArray();
}

void SchedulingWriter::Taints(const std::vector<Taint>& taints) {
  if (taints.empty()) return;
  BeginList("taints");
  for (const Taint& taint : taints) {
    json_.BeginObject();
    Text("key", taint.key);
    Text("value", taint.value);
    Text("effect", taint.effect);
    json_.EndObject();
  }
  json_.EndArray();
}

// --- status ---------------------------------------------------------------------------------------------------------

void SchedulingWriter::StatusMembers(const Pod& pod) {
  const SchedulingStatus& standing = *pod.standing;
  Text("nominatedNodeName", standing.nominated_node);
  if (pod.start_time != TimePoint()) Text("startTime", FormatRfc3339(pod.start_time));
  Conditions(pod);
  if (!standing.containers.empty()) BeginList("containerStatuses");
  for (const ContainerReport& report : standing.containers) {
    json_.BeginObject();
    Text("name", report.name);
    Reported(report.resources);
    json_.EndObject();
  }
  if (!standing.containers.empty()) json_.EndArray();
  Reported(standing.pod);
}

void SchedulingWriter::Reported(const ReportedResources& reported) {
  if (reported.has_resources) BeginMember("resources");
  if (reported.requests) Resources("requests", *reported.requests);
  if (reported.has_resources) json_.EndObject();
  if (reported.allocated) Resources("allocatedResources", *reported.allocated);
}

void SchedulingWriter::Conditions(const Pod& pod) {
  const SchedulingStatus& standing = *pod.standing;
  const bool any = pod.ready || standing.preempted_by_scheduler || standing.resize_infeasible;
  if (!any && standing.unschedulable.empty()) return;
  BeginList("conditions");
  if (pod.ready) Condition({"Ready", "True", "", ""});
  if (standing.preempted_by_scheduler) Condition({"DisruptionTarget", "True", "PreemptionByScheduler", ""});
  if (standing.resize_infeasible) Condition({"PodResizePending", "True", "Infeasible", ""});
  if (!standing.unschedulable.empty()) Condition({"PodScheduled", "False", "Unschedulable", standing.unschedulable});
  json_.EndArray();
}

void SchedulingWriter::Condition(const ConditionText& condition) {
  json_.BeginObject();
  Text("type", condition.type);
  Text("status", condition.status);
  Text("reason", condition.reason);
  Text("message", condition.message);
  json_.EndObject();
}

}  // namespace podium
