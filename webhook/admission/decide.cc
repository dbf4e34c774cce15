#include "admission/decide.h"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>

#include "admission/classify.h"
#include "admission/fold.h"
#include "admission/workloads.h"
#include "feasibility/request.h"
#include "rules/catalog.h"

namespace podium {
namespace {

constexpr std::size_t kFindingBytes = 2000;
constexpr std::string_view kTierLabel = "podium.gpu/tier";

// --- is the request ours? -------------------------------------------------------------------------------------------

bool IsPod(const GroupVersionKind& kind) { return kind.group.empty() && kind.kind == "Pod"; }

bool IsProtected(std::string_view name, const DecideOptions& options) {
  return name == "kube-system" || name == options.own_namespace;
}

bool Holds(const std::optional<AdmissionObject>& object, bool ObjectMeta::*flag) {
  return object && object->metadata.*flag;
}

// Only a kubelet makes mirror pods; anybody may write their annotation.
bool IsByKubelet(const AdmissionRequest& request) {
  return std::find(request.groups.begin(), request.groups.end(), "system:nodes") != request.groups.end();
}

const std::string* TierLabel(const AdmissionObject& object) {
  const auto found = object.metadata.labels.find(std::string(kTierLabel));
  return found == object.metadata.labels.end() ? nullptr : &found->second;
}

bool SameTier(const AdmissionObject& a, const AdmissionObject& b) {
  const std::string* left = TierLabel(a);
  const std::string* right = TierLabel(b);
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

bool IsUnchanged(const AdmissionRequest& request) {
  if (request.operation != Operation::kUpdate || !request.object) return false;
  const std::vector<PodTemplate>& slots = request.object->templates;
  if (!IsQuota(request.kind))
    return std::none_of(slots.begin(), slots.end(), [](const PodTemplate& slot) { return slot.changed; });
  return request.old_object && request.object->quota == request.old_object->quota &&
         SameTier(*request.object, *request.old_object);
}

// The order is the one in which a reader of the audit log would ask.
SkipReason WhySkip(const AdmissionRequest& request, const WorkloadKind* workload, const DecideOptions& options) {
  const bool update = request.operation == Operation::kUpdate;
  if (!update && request.operation != Operation::kCreate) return SkipReason::kNotOurs;
  if (!request.sub_resource.empty()) return SkipReason::kSubresource;
  if (workload == nullptr && !IsQuota(request.kind)) return SkipReason::kNotOurs;
  if (IsProtected(request.namespace_name, options)) return SkipReason::kProtectedNamespace;
  // What a user writes into the new object is not believed: the API server corrects it only after /mutate.
  if (Holds(request.old_object, &ObjectMeta::deleting)) return SkipReason::kBeingDeleted;
  if (IsPod(request.kind) && Holds(request.object, &ObjectMeta::mirror) && IsByKubelet(request))
    return SkipReason::kMirrorPod;
  if (update && IsPod(request.kind)) return SkipReason::kPodUpdate;
  if (update && workload != nullptr && !workload->template_mutable) return SkipReason::kTemplateImmutable;
  return IsUnchanged(request) ? SkipReason::kUnchanged : SkipReason::kNone;
}

// --- words ----------------------------------------------------------------------------------------------------------

std::string ScopeText(const QuotaScopeExpression& scope) {
  std::string out = scope.scope_name + " " + scope.op;
  if (scope.values.empty()) return out;
  out += " [";
  for (std::size_t i = 0; i < scope.values.size(); ++i) out += (i > 0 ? ", " : "") + scope.values[i];
  return out + "]";
}

std::string ScopesText(const Quota& quota) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  for (const std::string& scope : quota.scopes) add(scope);
  for (const QuotaScopeExpression& scope : quota.scope_selector) add(ScopeText(scope));
  return out.empty() ? "none" : out;
}

// An edit's pointer as a field path: the same rules hold for both.
std::string PathOf(const Edit& edit) {
  PodTemplate place;
  place.path = edit.path;
  return FieldPath(place, "");
}

// At /validate a Pod is what will be stored: nothing can be given to it any more. (A template without a class is
// another matter: its pods come by /mutate when they are made.)
bool IsAsStored(const AdmissionRequest& request, const PodTemplate& slot) {
  return request.endpoint == Endpoint::kValidate && slot.path.empty();
}

constexpr const char* kTooLate = ": /mutate was not asked, or another webhook undid it";

std::string NotCarriedOut(const Edit& edit) {
  const auto* text = edit.after ? std::get_if<std::string>(&*edit.after) : nullptr;
  const std::string what = text != nullptr ? "would be set to '" + *text + "'" : "would be removed";
  return PathOf(edit) + " " + what + " (" + edit.reason + ")";
}

// What classes and namespace labels come from.
const std::array<std::string, 2> kDecisionSources = {"namespaces", "priorityclasses.scheduling.k8s.io"};

// --- one request ----------------------------------------------------------------------------------------------------

// A rule of the catalog with its binding.
struct BoundRule {
  const RuleRow& row;
  const RuleBinding& binding;
};

class Deliberation {
 public:
  Deliberation(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot, TimePoint now)
      : request_(request), policy_(policy), snapshot_(snapshot), now_(now), classes_(policy, snapshot) {}

  // Fills in templates, quota scope, edits and findings.
  void Run(Decision& decision, const WorkloadKind* workload) {
    if (workload == nullptr) return JudgeQuota(decision);
    const AdmissionObject& object = *request_.object;
    for (const PodTemplate& slot : object.templates) {
      // A template that a controller made is kept in step with its origin. A ReplicaSet whose template is no longer its
      // Deployment's is taken for a hash collision, and another one is made, without end.
      const bool own = slot.path.empty() || object.metadata.Controller() == nullptr;
      if (slot.changed) JudgeSlot(decision, slot, own && workload->injectable);
    }
  }

 private:
  void JudgeQuota(Decision& decision) {
    QuotaScopeChange& change = decision.quota_scope.emplace();
    if (request_.old_object && request_.old_object->quota) change.before = ScopesText(*request_.old_object->quota);
    change.after = ScopesText(request_.object->quota.value_or(Quota{}));
    ForEachRule(RulePhase::kValidate, RuleSubject::kQuota, [&](const BoundRule& rule) {
      Note(decision, rule, rule.row.run({request_, policy_, rule.binding, classes_, snapshot_}).findings);
    });
  }

  void JudgeSlot(Decision& decision, const PodTemplate& slot, bool editable) {
    std::vector<GpuRequest> gpus = EffectiveGpuRequest(slot.spec, policy_.gpus);
    Classification classification = Classify(request_, slot, gpus, policy_, snapshot_);
    Trio after = slot.spec.trio;
    if (after.class_name && after.class_name->empty()) after.class_name.reset();  // "" is no class, as in Kubernetes
    const WorkloadType* type = FindType(classification.workload_type);
    const auto input = [&](const BoundRule& rule, const PriorityClass* pod_class) {
      return RuleInput{request_, policy_, rule.binding, classes_,  snapshot_, &slot,
                       type,     &gpus,   &after,       pod_class, editable};
    };
    Trio of_pods = after;
    ForEachRule(RulePhase::kInject, RuleSubject::kPodTemplate, [&](const BoundRule& rule) {
      RuleOutput out = rule.row.run(input(rule, nullptr));
      const bool carried_out = Inject(decision, rule, slot, out);
      if (!carried_out || !out.after) return;
      of_pods = *out.after;
      if (editable) after = std::move(*out.after);
    });
    const PriorityClass* pod_class = of_pods.class_name ? classes_.Find(*of_pods.class_name) : classes_.GlobalDefault();
    ForEachRule(RulePhase::kValidate, RuleSubject::kPodTemplate,
                [&](const BoundRule& rule) { Note(decision, rule, rule.row.run(input(rule, pod_class)).findings); });
    const bool given_later = of_pods != after;
    decision.templates.push_back(
        {slot.path, std::move(classification), std::move(gpus), slot.spec.trio, std::move(after)});
    if (given_later) decision.templates.back().of_pods = std::move(of_pods);
  }

  // True when the rule's edits are made. In a mode below enforce, for exempted workloads, and where it is too late, the
  // finding says what would have been done.
  bool Inject(Decision& decision, const BoundRule& rule, const PodTemplate& slot, RuleOutput& out) {
    if (out.edits.empty() && out.findings.empty() && !out.after) return true;
    const bool wanted = rule.binding.mode == Mode::kEnforce && !Exempted(rule.row.id);
    const bool carried_out = wanted && !IsAsStored(request_, slot);
    if (!carried_out) {
      const bool would_change = out.after || !out.edits.empty();
      if (would_change) out.findings.clear();  // they tell of something that now does not happen
      if (!out.edits.empty())
        out.AddFinding(PathOf(out.edits.front()), NotCarriedOut(out.edits.front()) + (wanted ? kTooLate : ""));
    }
    Note(decision, rule, std::move(out.findings));
    if (!carried_out) return false;
    for (Edit& edit : out.edits) edit.rule = rule.row.id;
    if (decision.edits.empty())
      decision.edits = std::move(out.edits);  // the usual case: one rule, one pod
    else
      std::move(out.edits.begin(), out.edits.end(), std::back_inserter(decision.edits));
    return true;
  }

  void Note(Decision& decision, const BoundRule& rule, std::vector<Finding> findings) {
    for (Finding& finding : findings) {
      finding.rule = rule.row.id;
      finding.mode = rule.binding.mode;
      finding.exempted = Exempted(rule.row.id);
      finding.message = OneLine(finding.message, kFindingBytes);
      finding.path = OneLine(finding.path, kFindingBytes);
      // What an enforced injection has to say is advice: there is nothing to refuse.
      if (rule.row.phase == RulePhase::kInject && finding.mode == Mode::kEnforce) finding.mode = Mode::kWarn;
      decision.findings.push_back(std::move(finding));
    }
  }

  template <typename Run>
  void ForEachRule(RulePhase phase, RuleSubject subject, const Run& run) {
    for (const RuleRow& row : Catalog()) {
      if (row.phase != phase || row.subject != subject) continue;
      const RuleBinding& binding = BindingOf(row);
      if (binding.mode != Mode::kOff) run(BoundRule{row, binding});
    }
  }

  // Walking the few rules costs less than the map's own search, which orders strings and wants one.
  [[nodiscard]] const RuleBinding& BindingOf(const RuleRow& row) const {
    for (const auto& [id, binding] : policy_.rules)
      if (id == row.id) return binding;
    throw std::out_of_range("the policy does not bind rule " + std::string(row.id));
  }

  [[nodiscard]] bool Exempted(std::string_view rule) const {
    return std::any_of(policy_.exemptions.begin(), policy_.exemptions.end(),
                       [&](const Exemption& each) { return IsExempted(each, rule, request_, now_); });
  }

  [[nodiscard]] const WorkloadType* FindType(const std::string& name) const {
    const auto found = std::find_if(policy_.workload_types.begin(), policy_.workload_types.end(),
                                    [&](const WorkloadType& type) { return type.name == name; });
    return name.empty() || found == policy_.workload_types.end() ? nullptr : &*found;
  }

  const AdmissionRequest& request_;
  const Policy& policy_;
  const ClusterSnapshot* snapshot_;
  TimePoint now_;
  ClassView classes_;
};

Decision Start(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot) {
  Decision decision;
  decision.request_uid = request.uid;
  decision.policy_name = policy.name;
  decision.policy_revision = policy.revision;
  decision.snapshot_generation = snapshot == nullptr ? 0 : snapshot->generation;
  decision.dry_run = request.dry_run;
  return decision;
}

// How long what decisions are made on has not been heard of, when that is too long. A snapshot from a file is never
// stale: it names no sources.
std::optional<std::chrono::seconds> StaleAge(const ClusterSnapshot* snapshot, const Policy& policy, TimePoint now) {
  if (snapshot == nullptr) return std::nullopt;
  std::optional<TimePoint> oldest;
  for (const std::string& resource : kDecisionSources) {
    const auto source = snapshot->sources.find(resource);
    if (source == snapshot->sources.end()) continue;
    oldest = std::min(oldest.value_or(source->second.last_event), source->second.last_event);
  }
  if (!oldest || now - *oldest <= policy.stale_after) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(now - *oldest);
}

std::string StaleMessage(std::chrono::seconds age, const Policy& policy) {
  return "the cluster's classes and namespaces were last heard of " + std::to_string(age.count()) +
         " s ago (staleAfterSeconds: " + std::to_string(policy.stale_after.count()) +
         "), and the policy says onStaleCluster: refuse. Podium has lost the API server's watch; try again later";
}

Decision DecideOrThrow(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot,
                       const DecideOptions& options, TimePoint now) {
  Decision decision = Start(request, policy, snapshot);
  const WorkloadKind* workload = FindWorkloadKind(request.kind);
  decision.skipped = WhySkip(request, workload, options);
  if (decision.skipped != SkipReason::kNone) return decision;
  if (request.decode_error || !request.object) {
    const std::string reason = request.decode_error.value_or("the review has no object");
    FoldInternalError(decision, "the object cannot be read: " + reason, policy.on_internal_error);
    return decision;
  }
  if (const auto age = StaleAge(snapshot, policy, now)) {
    if (policy.on_stale_cluster == StaleCluster::kRefuse) {
      FoldInternalError(decision, StaleMessage(*age, policy), Posture::kRefuse);
      return decision;
    }
    if (policy.on_stale_cluster == StaleCluster::kLadder) {
      snapshot = nullptr;
      decision.snapshot_generation = 0;
    }
  }
  Deliberation(request, policy, snapshot, now).Run(decision, workload);
  Fold(decision);
  return decision;
}

// Out of memory comes this way too, so the last step allocates nothing that it does not have to.
Decision Undecided(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot,
                   const char* problem) noexcept {
  try {
    Decision decision = Start(request, policy, snapshot);
    FoldInternalError(decision, problem, policy.on_internal_error);
    return decision;
  } catch (...) {
    Decision decision;
    const bool refuse = policy.on_internal_error == Posture::kRefuse;
    decision.verdict = refuse ? Verdict::kRefuse : Verdict::kAllow;
    decision.code = refuse ? 500 : 200;
    decision.dry_run = request.dry_run;
    decision.internal_error.emplace();
    return decision;
  }
}

}  // namespace

Decision Decide(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot,
                const DecideOptions& options, TimePoint now) {
  try {
    return DecideOrThrow(request, policy, snapshot, options, now);
  } catch (const std::bad_alloc&) {
    return Undecided(request, policy, snapshot, "out of memory");
  } catch (const std::exception& failure) {
    return Undecided(request, policy, snapshot, failure.what());
  } catch (...) {
    return Undecided(request, policy, snapshot, "an unknown exception");
  }
}

}  // namespace podium
