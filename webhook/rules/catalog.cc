#include "rules/catalog.h"

#include <algorithm>

#include "rules/matching.h"

namespace podium {

// One file each; the comment on a rule is in its file, the manual in policies/rules/<id>.md.
RuleOutput CopyWorkloadTypeLabel(const RuleInput& in);
RuleOutput InjectPriorityClass(const RuleInput& in);
RuleOutput UnknownPriorityClass(const RuleInput& in);
RuleOutput DisallowedPriorityClass(const RuleInput& in);
RuleOutput InconsistentPriority(const RuleInput& in);
RuleOutput MultiGpuPreemptible(const RuleInput& in);
RuleOutput UnknownWorkloadType(const RuleInput& in);
RuleOutput UnscopedHighPriorityQuota(const RuleInput& in);
RuleOutput UnchargedQuotaKey(const RuleInput& in);

namespace {

constexpr std::int64_t kMaxUnits = 1024;

SettingRow Limit(std::string_view name, std::string_view summary) {
  return {.name = name, .default_value = std::int64_t{1}, .min = 0, .max = kMaxUnits, .summary = summary};
}

std::vector<RuleRow> Injections() {
  return {
      // The label first: what it names is what the other rules see.
      {.id = "copy-workload-type-label",
       .phase = RulePhase::kInject,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary =
           "copies the workload type label from a workload to its pod template, so that its pods are classified alike",
       .run = CopyWorkloadTypeLabel},
      {.id = "inject-priority-class",
       .phase = RulePhase::kInject,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary = "gives a pod or template the priority class of its workload type",
       .run = InjectPriorityClass},
  };
}

std::vector<RuleRow> PodChecks() {
  return {
      {.id = "unknown-priority-class",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary = "the priority class does not exist, so no pod could ever be made",
       .run = UnknownPriorityClass,
       .refusal_code = 422},
      {.id = "disallowed-priority-class",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary = "a pod is about to be stored with a class that its workload type does not allow",
       .run = DisallowedPriorityClass},
      {.id = "inconsistent-priority",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary = "priority or preemptionPolicy contradicts the priority class, so every pod would be refused",
       .run = InconsistentPriority,
       .refusal_code = 422},
      {.id = "multi-gpu-preemptible",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kEnforce,
       .summary = "a preemptible pod asks for more GPUs than it may hold",
       .settings = {Limit("limit", "whole devices a preemptible pod may hold"),
                    Limit("sliceLimit", "MIG slices a preemptible pod may hold"),
                    Limit("sharedLimit", "shared replicas a preemptible pod may hold")},
       .run = MultiGpuPreemptible},
      {.id = "unknown-workload-type",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kPodTemplate,
       .default_mode = Mode::kWarn,
       .summary = "the workload type label names no workload type of the policy",
       .run = UnknownWorkloadType},
  };
}

std::vector<RuleRow> QuotaChecks() {
  return {
      {.id = "unscoped-high-priority-quota",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kQuota,
       .default_mode = Mode::kEnforce,
       .summary = "a quota grants GPUs to high-priority pods without a scope that singles out high-priority classes",
       .run = UnscopedHighPriorityQuota},
      {.id = "uncharged-quota-key",
       .phase = RulePhase::kValidate,
       .subject = RuleSubject::kQuota,
       .default_mode = Mode::kWarn,
       .summary = "a quota limits GPUs under a key that Kubernetes never charges",
       .run = UnchargedQuotaKey},
  };
}

// The order in which rules run: of the lists, and within each of them.
std::vector<RuleRow> MakeCatalog() {
  std::vector<RuleRow> rows = Injections();
  for (const std::vector<RuleRow>& more : {PodChecks(), QuotaChecks()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace

std::span<const RuleRow> Catalog() {
  static const std::vector<RuleRow> rows = MakeCatalog();
  return rows;
}

const RuleRow* FindRule(std::string_view id) {
  const std::span<const RuleRow> rows = Catalog();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const RuleRow& r) { return r.id == id; });
  return row == rows.end() ? nullptr : &*row;
}

const std::string* WorkloadTypeLabel(const AdmissionRequest& request, const PodTemplate& pod) {
  static const std::string key(kWorkloadTypeLabel);
  if (const std::string* own = FindLabel(pod.metadata.labels, key)) return own;
  return request.object ? FindLabel(request.object->metadata.labels, key) : nullptr;
}

std::int64_t NumberSetting(const RuleInput& in, std::string_view name) {
  return std::get<std::int64_t>(in.binding.settings.at(std::string(name)));
}

}  // namespace podium
