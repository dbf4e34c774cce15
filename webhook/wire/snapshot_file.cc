#include "wire/snapshot_file.h"

#include <algorithm>
#include <string_view>

#include "core/snapshot_builder.h"
#include "core/text.h"
#include "wire/json.h"
#include "wire/object_writer.h"
#include "wire/scheduling_writer.h"

namespace podium {
namespace {

// Of most objects Podium keeps only that they are being deleted, not until when.
constexpr std::string_view kSomeTime = "1970-01-01T00:00:00Z";

std::string_view ToText(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending: return "Pending";
    case PodPhase::kRunning: return "Running";
    case PodPhase::kSucceeded: return "Succeeded";
    case PodPhase::kFailed: return "Failed";
    case PodPhase::kUnknown: return "Unknown";
  }
  return "Unknown";
}

// Writes the objects; members that are absent or have their default are left out.
class ListWriter {
 public:
  explicit ListWriter(std::string& out) : out_(out), json_(out), scheduling_(json_) {}

  void WriteList(const ClusterSnapshot& snapshot) {
    json_.BeginObject();
    Text("apiVersion", "v1");
    Text("kind", "List");
    json_.Key("items");
    json_.BeginArray();
    for (const auto& row : snapshot.namespaces) Write(row.value);
    for (const auto& row : snapshot.classes) Write(row.value);
    for (const auto& row : snapshot.quotas) Write(row.key, row.value);
    for (const auto& row : snapshot.nodes) Write(row.value.node);
    for (const auto& row : snapshot.workloads) Write(row.value);
    for (const auto& row : snapshot.budgets) Write(row.value);
    for (const auto& row : snapshot.autoscalers) Write(row.value);
    for (const auto& row : snapshot.nodes)
      for (const auto& pod : row.value.pods) Write(*pod);
    for (const auto& pod : snapshot.waiting) Write(*pod);
    json_.EndArray();
    json_.EndObject();
    out_ += '\n';
  }

 private:
  void Begin(std::string_view api_version, std::string_view kind) {
    json_.BeginObject();
    Text("apiVersion", api_version);
    Text("kind", kind);
  }
  void End() {
    json_.EndObject();
    out_ += '\n';
  }
  void BeginMember(std::string_view key) {
    json_.Key(key);
    json_.BeginObject();
  }
  void Text(std::string_view key, std::string_view value) {
    if (!value.empty()) WriteText(json_, key, value);
  }
  void Number(std::string_view key, std::int64_t value) {
    json_.Key(key);
    json_.Int(value);
  }
  void True(std::string_view key, bool value) {
    if (!value) return;
    json_.Key(key);
    json_.Bool(true);
  }
  void MapUnlessEmpty(std::string_view key, const Labels& labels) {
    if (!labels.empty()) WriteLabels(json_, key, labels);
  }
  void Resources(std::string_view key, const ResourceList& resources) {
    if (!resources.empty()) scheduling_.Resources(key, resources);
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    if (!texts.empty()) WriteTexts(json_, key, texts);
  }
  void Owners(const std::vector<OwnerReference>& owners) {
    if (!owners.empty()) WriteOwners(json_, owners);
  }

  void BeginMetadata(std::string_view namespace_name, std::string_view name, std::string_view uid = {}) {
    BeginMember("metadata");
    Text("namespace", namespace_name);
    Text("name", name);
    Text("uid", uid);
  }
  void Deleting(bool deleting) {
    if (deleting) Text("deletionTimestamp", kSomeTime);
  }

  void Selector(const std::optional<LabelSelector>& selector) {
    if (selector) WriteSelector(json_, "selector", *selector);
  }

  void Write(const Namespace& value) {
    Begin("v1", "Namespace");
    BeginMetadata("", value.name);
    MapUnlessEmpty("labels", value.labels);
    json_.EndObject();
    End();
  }

  void Write(const PriorityClass& value) {
    Begin("scheduling.k8s.io/v1", "PriorityClass");
    BeginMetadata("", value.name);
    json_.EndObject();
    Number("value", value.value);
    Text("preemptionPolicy", ToString(value.preemption_policy));
    True("globalDefault", value.global_default);
    End();
  }

  void Write(std::string_view key, const Quota& quota) {
    const std::size_t slash = key.find('/');
    Begin("v1", "ResourceQuota");
    BeginMetadata(key.substr(0, slash), key.substr(slash + 1));
    json_.EndObject();
    BeginMember("spec");
    Resources("hard", quota.hard);
    Texts("scopes", quota.scopes);
    if (!quota.scope_selector.empty()) Write(quota.scope_selector);
    json_.EndObject();
    End();
  }
  void Write(const std::vector<QuotaScopeExpression>& expressions) {
    BeginMember("scopeSelector");
    json_.Key("matchExpressions");
    json_.BeginArray();
    for (const QuotaScopeExpression& expression : expressions) {
      json_.BeginObject();
      Text("scopeName", expression.scope_name);
      Text("operator", expression.op);
      Texts("values", expression.values);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  void Write(const Node& node) {
    Begin("v1", "Node");
    BeginMetadata("", node.name);
    MapUnlessEmpty("labels", node.labels);
    json_.EndObject();
    BeginMember("spec");
    True("unschedulable", node.unschedulable);
    scheduling_.Taints(node.taints);
    json_.EndObject();
    BeginMember("status");
    Resources("allocatable", node.allocatable);
    Texts("declaredFeatures", node.declared_features);
    json_.EndObject();
    End();
  }

  void Write(const Pod& pod) {
    Begin("v1", "Pod");
    BeginMetadata(*pod.namespace_name, pod.name, pod.uid);
    MapUnlessEmpty("labels", *pod.labels);
    if (pod.controller) Owners({**pod.controller});
    if (pod.deleting && pod.standing->deletion_time)
      Text("deletionTimestamp", FormatRfc3339(*pod.standing->deletion_time));
    else
      Deleting(pod.deleting);
    json_.EndObject();
    BeginMember("spec");
    Text("nodeName", *pod.node_name);
    SpecMembers(*pod.spec, *pod.scheduling);
    scheduling_.SpecMembers(*pod.scheduling);
    json_.EndObject();
    BeginMember("status");
    Text("phase", ToText(pod.phase));
    scheduling_.StatusMembers(pod);
    json_.EndObject();
    End();
  }

  // `scheduling`: what its containers hold of it.
  void SpecMembers(const PodSpec& spec, const SchedulingSpec& scheduling = {}) {
    Text("priorityClassName", spec.trio.class_name.value_or(""));
    if (spec.trio.priority) Number("priority", *spec.trio.priority);
    if (spec.trio.preemption_policy) Text("preemptionPolicy", ToString(*spec.trio.preemption_policy));
    Text("serviceAccountName", spec.service_account);
    const auto sidecar = std::find_if(spec.init_containers.begin(), spec.init_containers.end(),
                                      [](const Container& container) { return container.restart_always; });
    const bool in_containers = !spec.containers.empty() || sidecar == spec.init_containers.end();
    Containers("initContainers", spec.init_containers, in_containers ? nullptr : &*sidecar, scheduling);
    Containers("containers", spec.containers, spec.containers.data(), scheduling);
    Resources("overhead", spec.overhead);
    if (spec.pod_requests.empty()) return;
    BeginMember("resources");
    Resources("requests", spec.pod_requests);
    json_.EndObject();
  }
  // `carrier` gets the scheduling members; null: none does.
  void Containers(std::string_view key, const std::vector<Container>& containers, const Container* carrier,
                  const SchedulingSpec& scheduling) {
    if (containers.empty()) return;
    json_.Key(key);
    json_.BeginArray();
    for (const Container& container : containers) {
      json_.BeginObject();
      Text("name", container.name);
      if (container.restart_always) Text("restartPolicy", "Always");
      if (&container == carrier) scheduling_.ContainerMembers(scheduling);
      BeginMember("resources");
      Resources("requests", container.requests);
      Resources("limits", container.limits);
      json_.EndObject();
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Write(const Workload& workload) {
    Begin(workload.api_version, workload.kind);
    BeginMetadata(workload.namespace_name, workload.name, workload.uid);
    MapUnlessEmpty("labels", workload.labels);
    Owners(workload.owners);
    Deleting(workload.deleting);
    json_.EndObject();
    BeginMember("spec");
    WorkloadSpecMembers(workload);
    json_.EndObject();
    End();
  }
  void WorkloadSpecMembers(const Workload& workload) {
    if (workload.replicas) Number("replicas", *workload.replicas);
    const bool labels_only = workload.kind == "ReplicationController" && GroupOf(workload.api_version).empty();
    if (labels_only && workload.selector)
      WriteLabels(json_, "selector", workload.selector->match_labels);
    else
      Selector(workload.selector);
    if (workload.rollout_max_unavailable) {
      BeginMember(workload.kind == "Deployment" ? "strategy" : "updateStrategy");
      BeginMember("rollingUpdate");
      WriteIntOrString(json_, "maxUnavailable", workload.rollout_max_unavailable);
      json_.EndObject();
      json_.EndObject();
    }
    const PodTemplate& pod_template = *workload.pod_template;
    const bool in_job = pod_template.path == "/spec/jobTemplate/spec/template";
    if (pod_template.path.empty()) return;
    if (in_job) BeginMember("jobTemplate"), BeginMember("spec");
    Write(pod_template);
    if (in_job) json_.EndObject(), json_.EndObject();
  }
  void Write(const PodTemplate& pod_template) {
    BeginMember("template");
    if (pod_template.has_metadata) TemplateMetadata(pod_template.metadata);
    BeginMember("spec");
    SpecMembers(pod_template.spec);
    json_.EndObject();
    json_.EndObject();
  }
  void TemplateMetadata(const ObjectMeta& meta) {
    BeginMetadata(meta.namespace_name, meta.name);
    Text("generateName", meta.generate_name);
    if (meta.has_labels) WriteLabels(json_, "labels", meta.labels);
    if (meta.has_annotations)
      WriteLabels(json_, "annotations", meta.mirror ? Labels{{"kubernetes.io/config.mirror", "mirror"}} : Labels{});
    Owners(meta.owners);
    Deleting(meta.deleting);
    json_.EndObject();
  }

  void Write(const Pdb& pdb) {
    Begin("policy/v1", "PodDisruptionBudget");
    BeginMetadata(pdb.namespace_name, pdb.name, pdb.uid);
    Text("resourceVersion", pdb.resource_version);
    MapUnlessEmpty("labels", pdb.labels);
    MapUnlessEmpty("annotations", pdb.annotations);
    Owners(pdb.owners);
    Deleting(pdb.deleting);
    json_.EndObject();
    BeginMember("spec");
    Selector(pdb.selector);
    WriteIntOrString(json_, "minAvailable", pdb.min_available);
    WriteIntOrString(json_, "maxUnavailable", pdb.max_unavailable);
    Text("unhealthyPodEvictionPolicy", pdb.unhealthy_pod_eviction_policy.value_or(""));
    json_.EndObject();
    WriteStatus(pdb);
    End();
  }
  void WriteStatus(const Pdb& pdb) {
    BeginMember("status");
    Number("disruptionsAllowed", pdb.disruptions_allowed);
    Number("currentHealthy", pdb.current_healthy);
    Number("desiredHealthy", pdb.desired_healthy);
    Number("expectedPods", pdb.expected_pods);
    if (!pdb.disrupted_pods.empty()) BeginMember("disruptedPods");
    for (const std::string& pod : pdb.disrupted_pods) Text(pod, kSomeTime);
    if (!pdb.disrupted_pods.empty()) json_.EndObject();
    json_.EndObject();
  }

  void Write(const Autoscaler& autoscaler) {
    Begin("autoscaling/v2", "HorizontalPodAutoscaler");
    BeginMetadata(autoscaler.namespace_name, autoscaler.name);
    json_.EndObject();
    BeginMember("spec");
    BeginMember("scaleTargetRef");
    Text("apiVersion", autoscaler.target_api_version);
    Text("kind", autoscaler.target_kind);
    Text("name", autoscaler.target_name);
    json_.EndObject();
    Number("minReplicas", autoscaler.min_replicas);
    json_.EndObject();
    End();
  }

  std::string& out_;
  JsonWriter json_;
  SchedulingWriter scheduling_;
};

}  // namespace

std::string EncodeSnapshot(const ClusterSnapshot& snapshot, const SnapshotFileOptions& options) {
  if (options.redact) return EncodeSnapshot(RedactSnapshot(snapshot));
  std::string out;
  ListWriter(out).WriteList(snapshot);
  return out;
}

}  // namespace podium
