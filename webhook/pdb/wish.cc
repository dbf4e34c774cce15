#include "pdb/wish.h"

#include <algorithm>
#include <utility>

#include "core/snapshot_builder.h"
#include "pdb/limit.h"

namespace podium {
namespace {

constexpr int kMostOwners = 8;  // owner references may be written in a circle

std::string KeyOf(std::string_view group, std::string_view kind, std::string_view namespace_name,
                  std::string_view name) {
  std::string key;
  for (const std::string_view part : {group, kind, namespace_name, name}) (key += part) += '/';
  return key;
}

std::string KeyOf(const Workload& workload) {
  return KeyOf(GroupOf(workload.api_version), workload.kind, workload.namespace_name, workload.name);
}

std::string Called(const Workload& workload) { return workload.kind + " '" + workload.name + "'"; }

const OwnerReference* ControllerOf(const Workload& workload) {
  const auto owner = std::find_if(workload.owners.begin(), workload.owners.end(),
                                  [](const OwnerReference& each) { return each.controller; });
  return owner == workload.owners.end() ? nullptr : &*owner;
}

// --- what the kind and the shape of a workload forbid ---------------------------------------------------------------

// Empty: the disruption controller can count this kind (finders() of disruption.go; custom resources by their scale).
std::string WhyUncountable(std::string_view group, std::string_view kind) {
  if (group == "batch" && (kind == "Job" || kind == "CronJob"))
    return "a " + std::string(kind) +
           " has no scale that Kubernetes could count a budget on, and its last pods could never be drained";
  if (group == "apps" && kind == "DaemonSet")
    return "a DaemonSet has no scale, and a drain leaves its pods where they are";
  return "";
}

bool HasSelector(const Workload& workload) { return workload.selector && *workload.selector != LabelSelector{}; }

bool CanCarryBudget(const Workload& workload) {
  return WhyUncountable(GroupOf(workload.api_version), workload.kind).empty() && workload.replicas &&
         HasSelector(workload);
}

std::string WhyOwned(const Workload& workload, const Surroundings& surroundings) {
  const OwnerReference* controller = ControllerOf(workload);
  if (controller == nullptr) return "";
  if (const Workload* owner = surroundings.OwnerWithBudget(workload))
    return "it belongs to " + Called(*owner) + ", which a budget goes by";
  // The revisions of something Podium does not see come and go; a budget for each would, too.
  if (workload.kind == "ReplicaSet") return "it is one revision of " + controller->kind + " '" + controller->name + "'";
  return "";
}

std::string WhyWithoutScale(const Workload& workload) {
  if (!workload.replicas) return "it says no number of replicas";
  if (*workload.replicas <= 0) return "it has no replicas";
  if (!workload.selector) return "it says no selector for its pods";
  if (!HasSelector(workload)) return "its selector is empty: a budget would hold for every pod of the namespace";
  return "";
}

std::string WhyImpossible(const Workload& workload, const Surroundings& surroundings) {
  if (workload.deleting) return "it is being deleted";
  std::string why = WhyUncountable(GroupOf(workload.api_version), workload.kind);
  if (why.empty()) why = WhyOwned(workload, surroundings);
  return why.empty() ? WhyWithoutScale(workload) : why;
}

// --- the workload type ----------------------------------------------------------------------------------------------

AdmissionRequest AsCreated(const Workload& workload) {
  AdmissionRequest request;
  const std::string_view group = GroupOf(workload.api_version);
  const std::string version = workload.api_version.substr(group.empty() ? 0 : group.size() + 1);
  request.kind = {std::string(group), version, workload.kind};
  request.name = workload.name;
  request.namespace_name = workload.namespace_name;
  AdmissionObject& object = request.object.emplace();
  object.metadata.name = workload.name;
  object.metadata.namespace_name = workload.namespace_name;
  object.metadata.labels = workload.labels;
  object.metadata.has_labels = !workload.labels.empty();
  object.metadata.owners = workload.owners;
  object.templates = {*workload.pod_template};
  object.templates.front().changed = true;
  return request;
}

const WorkloadType* FindType(const Policy& policy, const std::string& name) {
  const auto found = std::find_if(policy.workload_types.begin(), policy.workload_types.end(),
                                  [&name](const WorkloadType& type) { return type.name == name; });
  return name.empty() || found == policy.workload_types.end() ? nullptr : &*found;
}

Wish Without(Standing standing, std::string reason) { return {standing, "", {}, std::move(reason)}; }

// Null type: `wish` says why.
struct Typed {
  Wish wish;
  const WorkloadType* type = nullptr;
};

Typed TypeOf(const Workload& workload, const WishInput& input) {
  const Decision decision = Decide(AsCreated(workload), input.policy, &input.snapshot, input.options, input.now);
  if (decision.internal_error) return {Without(Standing::kUntouched, "Podium could not decide about it"), nullptr};
  if (decision.skipped == SkipReason::kProtectedNamespace)
    return {Without(Standing::kUntouched, "Podium touches nothing in namespace " + workload.namespace_name), nullptr};
  if (decision.skipped != SkipReason::kNone || decision.templates.empty())
    return {Without(Standing::kUnwanted, "Podium does not know where the pods of a " + workload.kind + " come from"),
            nullptr};
  const WorkloadType* type = FindType(input.policy, decision.templates.front().classification.workload_type);
  if (type == nullptr) return {Without(Standing::kUnwanted, "no workload type matches it"), nullptr};
  if (!type->budget) return {Without(Standing::kUnwanted, "workload type '" + type->name + "' has no budget"), nullptr};
  const bool refused = decision.verdict == Verdict::kRefuse;
  Wish wish = Without(refused ? Standing::kNoNew : Standing::kWanted, "");
  wish.workload_type = type->name;
  return {std::move(wish), type};
}

// --- limits ---------------------------------------------------------------------------------------------------------

// The number of replicas a budget must still work with.
struct Scale {
  std::int64_t replicas = 0;
  bool of_autoscaler = false;
};

Scale ScaleOf(const Workload& workload, const Surroundings& surroundings) {
  const std::optional<std::int64_t> minimum = surroundings.AutoscalerMinimum(workload);
  if (!minimum || *minimum >= *workload.replicas) return {*workload.replicas, false};
  return {std::max<std::int64_t>(1, *minimum), true};  // scaled to zero it has no pods that could be evicted
}

std::string Said(const Scale& scale) {
  return std::to_string(scale.replicas) + (scale.replicas == 1 ? " replica" : " replicas") +
         (scale.of_autoscaler ? " (the autoscaler's minimum)" : "");
}

std::string Said(const BudgetTemplate& budget) {
  if (budget.max_unavailable) return "maxUnavailable " + *budget.max_unavailable;
  return "minAvailable " + budget.min_available.value_or("of nothing");
}

// Deployments and StatefulSets do not ask budgets; evictions wait for them.
std::string RolloutNote(const Workload& workload, const Scale& scale, std::int64_t desired) {
  if (!workload.rollout_max_unavailable) return "";
  const std::optional<std::int64_t> down = RolloutTakes(*workload.rollout_max_unavailable, scale.replicas);
  if (!down || scale.replicas - *down >= desired) return "";
  return "; a rollout may take " + std::to_string(*down) + " down at once and go below the " + std::to_string(desired) +
         " it keeps: evictions then wait for the rollout";
}

void Adapt(Wish& wish, const Workload& workload, const WorkloadType& type, const Scale& scale) {
  wish.budget = *type.budget;
  const std::optional<std::int64_t> wanted = DesiredHealthy(*type.budget, scale.replicas);
  std::string reason = "workload type '" + type.name + "' asks for " + Said(*type.budget);
  std::int64_t desired = wanted.value_or(scale.replicas);
  if (desired >= scale.replicas) {
    wish.budget.min_available.reset();
    wish.budget.max_unavailable = "1";
    desired = scale.replicas - 1;
    reason += ", which would block every drain at " + Said(scale) + ": maxUnavailable 1 instead";
  }
  wish.reason = reason + RolloutNote(workload, scale, desired);
}

}  // namespace

Surroundings::Surroundings(const ClusterSnapshot& snapshot) {
  for (const auto& row : snapshot.workloads) workloads_.emplace(KeyOf(row.value), &row.value);
  for (const auto& row : snapshot.autoscalers) {
    const Autoscaler& each = row.value;
    const std::string target =
        KeyOf(GroupOf(each.target_api_version), each.target_kind, each.namespace_name, each.target_name);
    const auto [found, added] = minimums_.emplace(target, each.min_replicas);
    if (!added) found->second = std::min(found->second, each.min_replicas);
  }
}

const Workload* Surroundings::Find(const OwnerReference& owner, std::string_view namespace_name) const {
  const auto found = workloads_.find(KeyOf(GroupOf(owner.api_version), owner.kind, namespace_name, owner.name));
  if (found == workloads_.end()) return nullptr;
  const bool another = !owner.uid.empty() && !found->second->uid.empty() && owner.uid != found->second->uid;
  return another ? nullptr : found->second;
}

const Workload* Surroundings::OwnerWithBudget(const Workload& workload) const {
  const Workload* highest = nullptr;
  const Workload* at = &workload;
  for (int i = 0; i < kMostOwners; ++i) {
    const OwnerReference* controller = ControllerOf(*at);
    at = controller == nullptr ? nullptr : Find(*controller, workload.namespace_name);
    if (at == nullptr || at == &workload) break;
    if (CanCarryBudget(*at)) highest = at;
  }
  return highest;
}

std::optional<std::int64_t> Surroundings::AutoscalerMinimum(const Workload& workload) const {
  const auto found = minimums_.find(KeyOf(workload));
  if (found == minimums_.end()) return {};
  return found->second;
}

Wish WishOf(const Workload& workload, const WishInput& input) {
  if (std::string why = WhyImpossible(workload, input.surroundings); !why.empty())
    return Without(Standing::kUnwanted, std::move(why));
  auto [wish, type] = TypeOf(workload, input);
  if (type != nullptr) Adapt(wish, workload, *type, ScaleOf(workload, input.surroundings));
  return wish;
}

}  // namespace podium
