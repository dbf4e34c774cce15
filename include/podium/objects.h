// What the rules read of Kubernetes objects, decoded once. Plain values: copy, compare, print. Field names follow the
// Kubernetes API; absent is std::optional or an empty container, as the comment says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/interned.h"
#include "podium/scheduling.h"
#include "podium/selectors.h"

namespace podium {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  bool controller = false;
  std::string uid = {};
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;           // empty while the API server has not generated it
  std::string generate_name;  // the prefix it will be generated from
  std::string namespace_name;
  Labels labels;
  std::vector<OwnerReference> owners;
  bool has_labels = false;       // "labels" is present as an object, so a key can be added below it
  bool has_annotations = false;  // the same of "annotations"
  bool deleting = false;         // deletionTimestamp is set
  bool mirror = false;           // annotation kubernetes.io/config.mirror: a static pod's shadow
  bool operator==(const ObjectMeta&) const = default;

  // The controlling owner, or null.
  [[nodiscard]] const OwnerReference* Controller() const {
    for (const OwnerReference& owner : owners)
      if (owner.controller) return &owner;
    return nullptr;
  }
};

struct Container {
  std::string name;
  ResourceList requests;
  ResourceList limits;
  bool restart_always = false;  // an init container with restartPolicy Always is a sidecar
  bool operator==(const Container&) const = default;
};

enum class PreemptionPolicy { kPreemptLowerPriority, kNever };

constexpr std::string_view ToString(PreemptionPolicy policy) {
  return policy == PreemptionPolicy::kNever ? "Never" : "PreemptLowerPriority";
}

// The three fields that must agree with each other (plugin/pkg/admission/priority/admission.go).
struct Trio {
  std::optional<std::string> class_name;
  std::optional<std::int64_t> priority;
  std::optional<PreemptionPolicy> preemption_policy;
  bool operator==(const Trio&) const = default;
};

struct PodSpec {
  Trio trio;
  std::string service_account;  // empty: "default"
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  ResourceList overhead;
  ResourceList pod_requests;  // spec.resources.requests
  bool operator==(const PodSpec&) const = default;
};

struct PriorityClass {
  std::string name;
  std::int32_t value = 0;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  bool global_default = false;
  bool operator==(const PriorityClass&) const = default;
};

// Pod slots of a workload: one for a Pod, one for a Deployment, several for a RayJob.
struct PodTemplate {
  std::string path;  // JSON pointer of the object that holds metadata and spec: "" for a Pod, "/spec/template"
  bool has_metadata = false;
  ObjectMeta metadata;
  PodSpec spec;
  // False on an UPDATE that leaves this template exactly as it was: the policy is then not applied to it.
  bool changed = true;
  bool operator==(const PodTemplate&) const = default;
};

struct QuotaScopeExpression {
  std::string scope_name;  // "PriorityClass"
  std::string op;          // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;
  bool operator==(const QuotaScopeExpression&) const = default;
};

struct Quota {
  ResourceList hard;  // "requests.nvidia.com/gpu" -> 8
  std::vector<std::string> scopes;
  std::vector<QuotaScopeExpression> scope_selector;  // expressions are ANDed
  bool operator==(const Quota&) const = default;
};

struct Namespace {
  std::string name;
  Labels labels;
  bool operator==(const Namespace&) const = default;
};

struct Node {
  std::string name;
  Labels labels = {};
  ResourceList allocatable = {};
  bool unschedulable = false;
  std::vector<Taint> taints = {};
  std::vector<std::string> declared_features = {};  // status.declaredFeatures
  bool operator==(const Node&) const = default;
};

// --- what a cluster holds beside them -------------------------------------------------------------------------------

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// Values that repeat (the labels and the spec of a workload's pods, the names of namespaces and nodes) are held once.
struct Pod {
  std::string name;
  Interned<std::string> namespace_name;
  std::string uid;
  Interned<Labels> labels;
  std::optional<Interned<OwnerReference>> controller;
  Interned<PodSpec> spec;
  Interned<std::string> node_name;  // empty: not bound
  PodPhase phase = PodPhase::kPending;
  bool ready = false;      // condition Ready is True
  bool deleting = false;   // deletionTimestamp is set
  TimePoint start_time{};  // status.startTime; the epoch: not started
  Interned<SchedulingSpec> scheduling = {};
  Interned<SchedulingStatus> standing = {};
  bool operator==(const Pod&) const = default;

  // It no longer holds what it asked for (k8s.io/component-helpers: IsPodTerminated).
  [[nodiscard]] bool IsOver() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

// Something that makes pods from a template: Deployment, StatefulSet, ReplicaSet, Job, CronJob, DaemonSet, or a custom
// resource that has a scale subresource.
struct Workload {
  std::string api_version;  // "apps/v1"
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  Labels labels;
  std::vector<OwnerReference> owners;
  bool deleting = false;
  std::optional<std::int64_t> replicas;   // spec.replicas (1 when the API's default is that); absent: it has no scale
  std::optional<LabelSelector> selector;  // which pods are its own; absent: it does not say
  Interned<PodTemplate> pod_template;
  // Deployment and StatefulSet: what a rollout may take down at once, "25%" or "1"; absent: not said.
  std::optional<std::string> rollout_max_unavailable;
  bool operator==(const Workload&) const = default;
};

// PodDisruptionBudget, policy/v1.
struct Pdb {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string resource_version;
  Labels labels;
  Labels annotations;  // those with the prefix podium.gpu/ only
  std::vector<OwnerReference> owners;
  bool deleting = false;
  std::optional<LabelSelector> selector;
  std::optional<std::string> min_available;  // "1" or "25%"
  std::optional<std::string> max_unavailable;
  std::optional<std::string> unhealthy_pod_eviction_policy;
  std::int64_t disruptions_allowed = 0;  // of the status, as are the next
  std::int64_t current_healthy = 0;
  std::int64_t desired_healthy = 0;
  std::int64_t expected_pods = 0;
  std::vector<std::string> disrupted_pods;  // names, sorted: evictions that are under way
  bool operator==(const Pdb&) const = default;
};

// HorizontalPodAutoscaler, autoscaling/v2, as far as budgets need it.
struct Autoscaler {
  std::string namespace_name;
  std::string name;
  std::string target_api_version;
  std::string target_kind;
  std::string target_name;
  std::int64_t min_replicas = 1;
  bool operator==(const Autoscaler&) const = default;
};

}  // namespace podium
