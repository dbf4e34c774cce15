// The compiled policy: what a PriorityPolicy file says, checked, with every default filled in. Immutable and shared.
// The file format is documented in policies/README.md; policy/compile.cc turns a file into this.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "podium/objects.h"
#include "podium/snapshot.h"

namespace podium {

// Where something was written, for messages; line and column count from 1, 0 = not from a file.
struct SourceSpan {
  std::string file;
  int line = 0;
  int column = 0;
  bool operator==(const SourceSpan&) const = default;
};

// --- what counts as a GPU -------------------------------------------------------------------------------------------

// Units do not convert: a device is whole, a slice (MIG) and a shared replica are units of their own.
enum class GpuUnit { kDevice, kSlice, kShared };

constexpr std::string_view ToString(GpuUnit unit) {
  switch (unit) {
    case GpuUnit::kDevice: return "device";
    case GpuUnit::kSlice: return "slice";
    case GpuUnit::kShared: return "shared";
  }
  return "device";
}

struct GpuResource {
  std::string pattern;  // resource name; '*' stands for any run of characters. First match wins.
  GpuUnit unit = GpuUnit::kDevice;
  bool operator==(const GpuResource&) const = default;
};

// What a pod asks of one GPU resource. Built only by EffectiveGpuRequest (feasibility/request.h).
struct GpuRequest {
  std::string resource;  // "nvidia.com/mig-1g.10gb"
  GpuUnit unit = GpuUnit::kDevice;
  std::int64_t count = 0;  // units of that resource
  bool operator==(const GpuRequest&) const = default;
};

// --- the class ladder -----------------------------------------------------------------------------------------------

// kSystem: Kubernetes' own two classes. They exist in every cluster and no policy may override them.
enum class Tier { kHigh, kStandard, kPreemptible, kSystem };

struct LadderClass {
  PriorityClass priority_class;
  Tier tier = Tier::kStandard;
  std::string description;
  SourceSpan span;
  bool operator==(const LadderClass&) const = default;
};

// --- modes ----------------------------------------------------------------------------------------------------------

enum class Mode {
  kOff,
  kAudit,    // recorded, the user sees nothing
  kWarn,     // the user sees a warning
  kEnforce,  // refused; an injection is carried out
};

constexpr std::string_view ToString(Mode mode) {
  switch (mode) {
    case Mode::kOff: return "off";
    case Mode::kAudit: return "audit";
    case Mode::kWarn: return "warn";
    case Mode::kEnforce: return "enforce";
  }
  return "off";
}

// --- workload types -------------------------------------------------------------------------------------------------

struct IntRange {  // both ends inclusive
  std::int64_t at_least = 0;
  std::int64_t at_most = INT64_MAX;
  bool operator==(const IntRange&) const = default;
};

struct GpuMatch {
  IntRange count{1, INT64_MAX};  // total units over the resources that match unit and resource
  std::optional<GpuUnit> unit;   // absent: any
  std::string resource = "*";    // pattern
  bool operator==(const GpuMatch&) const = default;
};

// All given conditions must hold; an empty list or map is no condition. '*' in a pattern stands for any run of
// characters.
struct MatchClause {
  Labels labels;                              // of the pod (of a workload: of its pod template); value "*" = key exists
  std::vector<std::string> namespaces;        // patterns
  Labels namespace_labels;                    // needs a snapshot; without one the clause does not match
  std::vector<std::string> kinds;             // the workload as far as it is visible: Deployment also for its pods
  std::vector<std::string> owner_kinds;       // controller owner of the pod: ReplicaSet, Job, ...
  std::vector<std::string> service_accounts;  // patterns on "namespace:name"
  std::optional<GpuMatch> gpus;
  bool operator==(const MatchClause&) const = default;
};

// Whose word counts when the author already chose a class.
enum class Respect {
  kUser,     // the author's choice stands
  kPolicy,   // the workload type's class replaces it
  kCeiling,  // the author may go lower than the workload type's class, not higher
};

// The PodDisruptionBudget a workload of this type gets. Exactly one of the two limits is set: "1" or "25%".
struct BudgetTemplate {
  std::optional<std::string> min_available;
  std::optional<std::string> max_unavailable;
  bool always_allow_unhealthy = false;  // unhealthyPodEvictionPolicy: AlwaysAllow (else IfHealthyBudget)
  bool operator==(const BudgetTemplate&) const = default;
};

struct WorkloadType {
  std::string name;
  std::vector<MatchClause> any;  // one of them must match
  std::string priority_class;
  Respect respect = Respect::kPolicy;
  std::optional<BudgetTemplate> budget;
  Mode advice = Mode::kWarn;  // what becomes of the evaluator's verdict on GPU pods (docs/advice.md)
  SourceSpan span;
  bool operator==(const WorkloadType&) const = default;
};

// --- rules ----------------------------------------------------------------------------------------------------------

using SettingValue = std::variant<std::int64_t, bool, std::string>;

struct RuleBinding {
  std::string rule;  // id in the catalog
  Mode mode = Mode::kEnforce;
  std::map<std::string, SettingValue> settings;  // every setting of the rule, defaults filled in
  SourceSpan span;
  bool operator==(const RuleBinding&) const = default;
};

struct Exemption {
  std::vector<std::string> rules;  // rule ids; never empty
  std::string namespace_pattern = "*";
  std::string name_pattern = "*";
  std::vector<std::string> kinds;  // empty: all
  std::string owner;
  std::string reason;
  TimePoint expires_at{};  // first instant at which it no longer counts: midnight UTC after the written day
  SourceSpan span;
  bool operator==(const Exemption&) const = default;
};

enum class Posture { kAllow, kRefuse };

// On what to decide when the cluster has not been heard of for longer than `stale_after`.
enum class StaleCluster {
  kUse,     // on the last that was heard
  kLadder,  // on the policy's ladder, as without a cluster
  kRefuse,  // not at all: refuse what would have to be judged
};

struct Policy {
  std::string name;
  std::string revision;  // lower-case hex SHA-256 of the source text
  std::vector<GpuResource> gpus;
  std::vector<LadderClass> ladder;           // highest value first
  std::vector<WorkloadType> workload_types;  // in order of precedence: first match wins
  Mode advice = Mode::kWarn;                 // of pods without a workload type
  std::map<std::string, RuleBinding> rules;  // every rule of the catalog, by id
  std::vector<Exemption> exemptions;
  Posture on_internal_error = Posture::kAllow;  // what a review gets that could be read but not decided
  StaleCluster on_stale_cluster = StaleCluster::kUse;
  std::chrono::seconds stale_after{300};  // classes and namespaces; a quiet cluster still sends a bookmark each minute

  // Null when the ladder does not name it (system classes are not in the ladder).
  [[nodiscard]] const LadderClass* FindInLadder(std::string_view class_name) const {
    for (const LadderClass& row : ladder)
      if (row.priority_class.name == class_name) return &row;
    return nullptr;
  }
};

}  // namespace podium
