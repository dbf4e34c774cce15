// What the scheduler reads of pods and nodes beside requests and labels. Field names and values follow the Kubernetes
// API. What never decides where a pod may go (preferred terms, ScheduleAnyway, weights) is not here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podium/selectors.h"

namespace podium {

using TimePoint = std::chrono::system_clock::time_point;

struct Taint {
  std::string key = {};
  std::string value = {};
  std::string effect = {};  // NoSchedule, PreferNoSchedule, NoExecute
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key = {};  // empty: every key
  std::string op = {};   // empty: Equal; Exists, and Gt and Lt behind a gate that is off
  std::string value = {};
  std::string effect = {};  // empty: every effect
  bool operator==(const Toleration&) const = default;
};

enum class NodeSelectorOp { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kInvalid };

struct NodeRequirement {
  std::string key = {};
  NodeSelectorOp op = NodeSelectorOp::kIn;
  std::vector<std::string> values = {};
  bool operator==(const NodeRequirement&) const = default;
};

// All requirements must hold; a term with none matches nothing.
struct NodeSelectorTerm {
  std::vector<NodeRequirement> expressions = {};  // on labels
  std::vector<NodeRequirement> fields = {};       // metadata.name
  bool operator==(const NodeSelectorTerm&) const = default;
};

// One term must match; without any nothing does.
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms = {};
  bool operator==(const NodeSelector&) const = default;
};

// A required term of pod affinity or anti-affinity.
struct PodAffinityTerm {
  std::optional<LabelSelector> selector = {};  // absent: matches no pod
  std::vector<std::string> namespaces = {};
  std::optional<LabelSelector> namespace_selector = {};  // absent, and no namespaces: the namespace of the pod itself
  std::string topology_key = {};
  bool operator==(const PodAffinityTerm&) const = default;
};

enum class NodeInclusion { kHonor, kIgnore };

// A topology spread constraint with whenUnsatisfiable DoNotSchedule.
struct SpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key = {};
  std::optional<LabelSelector> selector = {};  // absent: counts no pod
  std::int32_t min_domains = 1;
  NodeInclusion affinity_policy = NodeInclusion::kHonor;
  NodeInclusion taints_policy = NodeInclusion::kIgnore;
  std::vector<std::string> match_label_keys = {};
  bool operator==(const SpreadConstraint&) const = default;
};

struct HostPort {
  std::string ip = "0.0.0.0";  // that is every address
  std::string protocol = "TCP";
  std::int32_t port = 0;
  bool operator==(const HostPort&) const = default;
};

// What a pod can ask of the node's kubelet (KEP-5328). A node says in declaredFeatures what it has.
struct NeededFeatures {
  bool restart_all_containers = false;      // restartPolicyRules with the action RestartAllContainers
  bool user_namespace_on_host_net = false;  // hostNetwork with hostUsers: false
  bool bind_mount_options = false;          // a volume mount with bindMountOptions
  bool operator==(const NeededFeatures&) const = default;
};

// The part of a pod's spec that says where it may go. The pods of a workload share one.
struct SchedulingSpec {
  std::string scheduler_name = {};      // empty: "default-scheduler"
  std::vector<std::string> gates = {};  // names of schedulingGates
  std::vector<Toleration> tolerations = {};
  Labels node_selector = {};
  std::optional<NodeSelector> node_affinity = {};  // the required part
  std::vector<PodAffinityTerm> pod_affinity = {};
  std::vector<PodAffinityTerm> pod_anti_affinity = {};
  std::vector<SpreadConstraint> spread = {};
  std::vector<HostPort> host_ports = {};  // of containers and sidecars; hostPort > 0
  NeededFeatures needs = {};
  std::optional<std::int64_t> grace_period_seconds = {};  // terminationGracePeriodSeconds; absent: 30
  // What Podium does not evaluate: names of volumes that volume filters look at, and of resourceClaims.
  std::vector<std::string> volumes = {};
  std::vector<std::string> resource_claims = {};
  bool operator==(const SchedulingSpec&) const = default;
};

// The figures that a kubelet reports for a container or a pod whose resources may change in place.
struct ReportedResources {
  bool has_resources = false;                  // `resources` is present
  std::optional<ResourceList> requests = {};   // resources.requests
  std::optional<ResourceList> allocated = {};  // allocatedResources
  bool operator==(const ReportedResources&) const = default;
};

struct ContainerReport {
  std::string name = {};
  ReportedResources resources = {};
  bool operator==(const ContainerReport&) const = default;
};

// Of a pod's metadata and status. Most pods have the empty one.
struct SchedulingStatus {
  std::string nominated_node = {};              // status.nominatedNodeName
  std::optional<TimePoint> deletion_time = {};  // deletionTimestamp: when the grace period ends
  // The first condition of type DisruptionTarget is True with the reason PreemptionByScheduler.
  bool preempted_by_scheduler = false;
  // Why the scheduler has not bound the pod: message of the first condition PodScheduled, False and Unschedulable.
  std::string unschedulable = {};
  bool resize_infeasible = false;  // the first condition of type PodResizePending has the reason Infeasible
  // Containers (init containers behind them) that report something else than their spec says.
  std::vector<ContainerReport> containers = {};
  ReportedResources pod = {};
  bool operator==(const SchedulingStatus&) const = default;
};

}  // namespace podium
