// The rules: one row each, in execution order. No registration by static initialisers or macros: the list is the truth.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/admission.h"
#include "podium/policy.h"
#include "rules/classes.h"

namespace podium {

enum class RulePhase { kInject, kValidate };
enum class RuleSubject { kPodTemplate, kQuota };  // what a rule is run on, once for each

// What a rule sees. Everything in it is read-only and outlives the call.
struct RuleInput {
  const AdmissionRequest& request;
  const Policy& policy;
  const RuleBinding& binding;  // this rule's: mode and settings
  const ClassView& classes;
  const ClusterSnapshot* snapshot = nullptr;  // null: not synced, or no cluster
  // Of RuleSubject::kPodTemplate; null for quotas.
  const PodTemplate* pod = nullptr;
  const WorkloadType* workload_type = nullptr;  // null: none matched
  const std::vector<GpuRequest>* gpus = nullptr;
  const Trio* after = nullptr;  // the three fields as the injections before this rule leave them
  // The class the pods of this slot will run with: the one in `after`, or where nothing may be injected here the one
  // the pods are given when they are created, or the global default. Null: none, or it does not exist.
  const PriorityClass* pod_class = nullptr;
  // False: this object's template is not ours to edit (custom workloads, templates that a controller keeps in step);
  // inject rules leave it alone and the pods are injected when they are created.
  bool editable = true;
};

struct RuleOutput {
  std::vector<Edit> edits;        // only from kInject rules
  std::optional<Trio> after;      // the three fields once `edits` are made, when they change them
  std::vector<Finding> findings;  // rule, mode and exempted are filled in by the caller; of a kInject rule: notes,
                                  // never a reason to refuse

  void AddFinding(std::string path, std::string message) {
    findings.push_back({{}, Mode::kEnforce, false, std::move(path), std::move(message)});
  }
};

struct SettingRow {
  std::string_view name;  // "limit"
  SettingValue default_value;
  std::int64_t min = 0;  // of a number
  std::int64_t max = 0;
  std::string_view summary;
};

struct RuleRow {
  std::string_view id;  // kebab-case; also the page policies/rules/<id>.md and the test tests/rules/<id>.yaml
  RulePhase phase;
  RuleSubject subject;
  Mode default_mode;
  std::string_view summary;
  std::vector<SettingRow> settings{};
  RuleOutput (*run)(const RuleInput&);
  int refusal_code = 403;  // 422: Kubernetes itself would refuse the pods later
};

// All rules; row order is execution order. The span lives as long as the program.
std::span<const RuleRow> Catalog();

// Null when there is no such rule.
const RuleRow* FindRule(std::string_view id);

// "/spec/template" -> "spec.template.spec.priority" for field "spec.priority": a path as kubectl users write it.
// "/spec/tasks/0/template" -> "spec.tasks[0].template...". An empty field gives the path of the template itself.
std::string FieldPath(const PodTemplate& pod, std::string_view field);

inline constexpr std::string_view kWorkloadTypeLabel = "podium.gpu/workload-type";

// The label that names the workload type of this slot: the template's own, else the workload's. Null: neither has it.
const std::string* WorkloadTypeLabel(const AdmissionRequest& request, const PodTemplate& pod);

// The number of a setting. Requires: the rule has a number of that name (policies are compiled with every setting).
std::int64_t NumberSetting(const RuleInput& in, std::string_view name);

}  // namespace podium
