// What the rules read of Kubernetes objects, decoded once. Plain values: copy, compare, print. Field names follow the
// Kubernetes API; absent is std::optional or an empty container, as the comment says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/quantity.h"

namespace podium {

using Labels = std::map<std::string, std::string>;
using ResourceList = std::map<std::string, Quantity>;  // resource name -> amount, e.g. "nvidia.com/gpu" -> 1

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  bool controller = false;
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
  ResourceList allocatable;
  bool operator==(const Node&) const = default;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  std::string node_name;  // empty: not bound
  std::string phase;      // Pending, Running, Succeeded, Failed, Unknown
  bool operator==(const Pod&) const = default;
};

}  // namespace podium
