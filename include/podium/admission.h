// One admission request, what Podium decides about it, and why. Plain values without any wire format in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "podium/advice.h"
#include "podium/objects.h"
#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

// --- the request ----------------------------------------------------------------------------------------------------

enum class Operation { kCreate, kUpdate, kDelete, kConnect };

constexpr std::string_view ToString(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "CREATE";
    case Operation::kUpdate: return "UPDATE";
    case Operation::kDelete: return "DELETE";
    case Operation::kConnect: return "CONNECT";
  }
  return "CREATE";
}

// Which webhook was called. Both make the same decision (docs/adr/0003); only what a patch can no longer change
// differs.
enum class Endpoint { kMutate, kValidate };

constexpr std::string_view ToString(Endpoint endpoint) { return endpoint == Endpoint::kMutate ? "mutate" : "validate"; }

struct GroupVersionKind {
  std::string group;  // empty: the core group
  std::string version;
  std::string kind;
  bool operator==(const GroupVersionKind&) const = default;
};

struct AdmissionObject {
  ObjectMeta metadata;
  std::vector<PodTemplate> templates;  // in path order; empty for kinds without pods
  std::optional<Quota> quota;          // of a ResourceQuota
  std::string uid = {};                // of a Pod; empty at /mutate: the API server makes it afterwards
  bool operator==(const AdmissionObject&) const = default;
};

struct AdmissionRequest {
  Endpoint endpoint = Endpoint::kMutate;  // known from the path, not from the body
  std::string uid;
  GroupVersionKind kind;  // the version our rule matched (matchPolicy Equivalent), not the one the user called
  // What the user called, where it is not `kind` (another version of the same object): for the audit log only.
  std::optional<GroupVersionKind> called_kind;
  std::string resource;  // "deployments"
  std::string sub_resource;
  std::string name;            // may be empty on CREATE with generateName
  std::string namespace_name;  // from the request; the object's own may be missing
  Operation operation = Operation::kCreate;
  std::string user;
  std::vector<std::string> groups;
  bool dry_run = false;
  std::optional<AdmissionObject> object;      // absent on DELETE, and when decode_error is set
  std::optional<AdmissionObject> old_object;  // only what decisions need: metadata and quota
  // The review was readable, its object was not (a wrong JSON type, a quantity that is none): JSON pointer and reason.
  std::optional<std::string> decode_error;

  // What to call the object in messages and logs: its name, or the prefix it will be generated from.
  [[nodiscard]] std::string_view DisplayName() const {
    if (!name.empty()) return name;
    if (!object) return {};
    return object->metadata.name.empty() ? object->metadata.generate_name : object->metadata.name;
  }
};

// --- the decision ---------------------------------------------------------------------------------------------------

enum class ClassificationSource { kNone, kLabel, kMatch };  // kLabel: by podium.gpu/workload-type

struct Classification {
  std::string workload_type;  // empty: none matched
  ClassificationSource source = ClassificationSource::kNone;
  bool operator==(const Classification&) const = default;
};

using EditValue = std::variant<std::string, std::int64_t>;

// One field that is to change. Rules emit edits; wire/patch.cc turns them into RFC 6902.
struct Edit {
  std::string path;                 // JSON pointer, escaped
  std::optional<EditValue> before;  // absent: the field is not there
  std::optional<EditValue> after;   // absent: remove the field
  std::string missing_parent;       // pointer of the outermost parent object that does not exist yet, or empty
  std::string rule;
  std::string reason;
  bool operator==(const Edit&) const = default;
};

struct Finding {
  std::string rule;
  Mode mode = Mode::kEnforce;  // as bound in the policy, before an exemption
  bool exempted = false;
  std::string path;     // field path as the user knows it: spec.template.spec.priority
  std::string message;  // what was found, what is allowed, what to do; one line
  bool operator==(const Finding&) const = default;
};

// Why the policy was not applied to a request at all.
enum class SkipReason {
  kNone,
  kNotOurs,  // a kind or an operation Podium has nothing to say about
  kSubresource,
  kProtectedNamespace,  // kube-system and Podium's own
  kMirrorPod,
  kBeingDeleted,
  kPodUpdate,          // the three fields are immutable on a stored pod
  kTemplateImmutable,  // a stored Job's template
  kUnchanged,          // an UPDATE that leaves templates (or the quota) as they were
};

constexpr std::string_view ToString(SkipReason reason) {
  switch (reason) {
    case SkipReason::kNone: return "none";
    case SkipReason::kNotOurs: return "not_ours";
    case SkipReason::kSubresource: return "subresource";
    case SkipReason::kProtectedNamespace: return "protected_namespace";
    case SkipReason::kMirrorPod: return "mirror_pod";
    case SkipReason::kBeingDeleted: return "being_deleted";
    case SkipReason::kPodUpdate: return "pod_update";
    case SkipReason::kTemplateImmutable: return "template_immutable";
    case SkipReason::kUnchanged: return "unchanged";
  }
  return "none";
}

enum class Verdict { kAllow, kRefuse };

// What happened to one pod template.
struct TemplateDecision {
  std::string path;
  Classification classification;
  std::vector<GpuRequest> gpus;
  Trio before;
  Trio after;  // what the stored object will carry; priority and policy as the class gives them
  // Of a template that is not Podium's to edit: what its pods are given when they are made, where that is another.
  std::optional<Trio> of_pods{};
  std::optional<TemplateAdvice> advice{};  // absent: not asked for
  bool operator==(const TemplateDecision&) const = default;
};

// Scopes of a quota before (absent on CREATE) and after the request, as text: "PriorityClass In [a, b]", "none".
struct QuotaScopeChange {
  std::optional<std::string> before;
  std::string after;
  bool operator==(const QuotaScopeChange&) const = default;
};

struct Decision {
  std::string request_uid;
  Verdict verdict = Verdict::kAllow;
  int code = 200;       // of the answer's status when refused: 403 policy, 422 bad spec, 500 internal error
  std::string message;  // for the user, when refused
  SkipReason skipped = SkipReason::kNone;
  std::vector<TemplateDecision> templates;
  std::optional<QuotaScopeChange> quota_scope;
  std::vector<Edit> edits;            // empty when refused
  std::vector<Finding> findings;      // all of them, of every mode but off
  std::vector<std::string> warnings;  // at most 3, one line, at most 120 characters each
  std::string policy_name;
  std::string policy_revision;
  std::uint64_t snapshot_generation = 0;  // 0: decided without a snapshot
  bool dry_run = false;
  std::optional<std::string> internal_error;
  bool operator==(const Decision&) const = default;
};

}  // namespace podium
