#include "rules/catalog.h"

#include <algorithm>

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

std::vector<RuleRow> MakeCatalog() {
  using enum RulePhase;
  using enum RuleSubject;
  return {
      // The label first: what it names is what the other rules see.
      {"copy-workload-type-label",
       kInject,
       kPodTemplate,
       Mode::kEnforce,
       "copies the workload type label from a workload to its pod template, so that its pods are classified alike",
       {},
       CopyWorkloadTypeLabel},
      {"inject-priority-class",
       kInject,
       kPodTemplate,
       Mode::kEnforce,
       "gives a pod or template the priority class of its workload type",
       {},
       InjectPriorityClass},
      {"unknown-priority-class",
       kValidate,
       kPodTemplate,
       Mode::kEnforce,
       "the priority class does not exist, so no pod could ever be made",
       {},
       UnknownPriorityClass,
       422},
      {"disallowed-priority-class",
       kValidate,
       kPodTemplate,
       Mode::kEnforce,
       "a pod is about to be stored with a class that its workload type does not allow",
       {},
       DisallowedPriorityClass},
      {"inconsistent-priority",
       kValidate,
       kPodTemplate,
       Mode::kEnforce,
       "priority or preemptionPolicy contradicts the priority class, so every pod would be refused",
       {},
       InconsistentPriority,
       422},
      {"multi-gpu-preemptible",
       kValidate,
       kPodTemplate,
       Mode::kEnforce,
       "a preemptible pod asks for more GPUs than it may hold",
       {Limit("limit", "whole devices a preemptible pod may hold"),
        Limit("sliceLimit", "MIG slices a preemptible pod may hold"),
        Limit("sharedLimit", "shared replicas a preemptible pod may hold")},
       MultiGpuPreemptible},
      {"unknown-workload-type",
       kValidate,
       kPodTemplate,
       Mode::kWarn,
       "the workload type label names no workload type of the policy",
       {},
       UnknownWorkloadType},
      {"unscoped-high-priority-quota",
       kValidate,
       kQuota,
       Mode::kEnforce,
       "a quota grants GPUs to high-priority pods without a scope that singles out high-priority classes",
       {},
       UnscopedHighPriorityQuota},
      {"uncharged-quota-key",
       kValidate,
       kQuota,
       Mode::kWarn,
       "a quota limits GPUs under a key that Kubernetes never charges",
       {},
       UnchargedQuotaKey},
  };
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
  if (const auto own = pod.metadata.labels.find(key); own != pod.metadata.labels.end()) return &own->second;
  if (!request.object) return nullptr;
  const Labels& labels = request.object->metadata.labels;
  const auto inherited = labels.find(key);
  return inherited == labels.end() ? nullptr : &inherited->second;
}

std::int64_t NumberSetting(const RuleInput& in, std::string_view name) {
  return std::get<std::int64_t>(in.binding.settings.at(std::string(name)));
}

}  // namespace podium
