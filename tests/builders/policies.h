// Policies as values, for tests of rules and decisions. The tiers are those of policies/default.yaml.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "podium/policy.h"
#include "rules/catalog.h"

namespace podium::builders {

inline LadderClass MakeClass(std::string name, std::int32_t value, Tier tier) {
  LadderClass row;
  row.priority_class.name = std::move(name);
  row.priority_class.value = value;
  row.tier = tier;
  return row;
}

inline MatchClause WithLabel(std::string value) {
  MatchClause clause;
  clause.labels[std::string(kWorkloadTypeLabel)] = std::move(value);
  return clause;
}

inline WorkloadType MakeType(std::string name, std::string priority_class, Respect respect) {
  WorkloadType type;
  type.any = {WithLabel(name)};
  type.name = std::move(name);
  type.priority_class = std::move(priority_class);
  type.respect = respect;
  return type;
}

inline RuleBinding DefaultBinding(const RuleRow& row) {
  RuleBinding binding;
  binding.rule = row.id;
  binding.mode = row.default_mode;
  for (const SettingRow& setting : row.settings) binding.settings[std::string(setting.name)] = setting.default_value;
  return binding;
}

// interactive (policy), training (ceiling), batch (ceiling, also Jobs and CronJobs with GPUs); every rule at its
// default.
inline Policy ThreeTiers() {
  Policy policy;
  policy.name = "gpu-tiers";
  policy.revision = "cafe";
  policy.gpus = {{"nvidia.com/gpu", GpuUnit::kDevice},
                 {"nvidia.com/gpu.shared", GpuUnit::kShared},
                 {"nvidia.com/mig-*", GpuUnit::kSlice},
                 {"amd.com/gpu", GpuUnit::kDevice}};
  policy.ladder = {MakeClass("inference-interactive", 1'000'000, Tier::kHigh),
                   MakeClass("training-queue-jumper", 500'000, Tier::kStandard),
                   MakeClass("inference-batch", 1'000, Tier::kPreemptible),
                   MakeClass("cluster-default", 100, Tier::kPreemptible)};
  policy.ladder[1].priority_class.preemption_policy = PreemptionPolicy::kNever;
  policy.ladder[3].priority_class.global_default = true;
  policy.workload_types = {MakeType("interactive", "inference-interactive", Respect::kPolicy),
                           MakeType("training", "training-queue-jumper", Respect::kCeiling),
                           MakeType("batch", "inference-batch", Respect::kCeiling)};
  MatchClause jobs;
  jobs.kinds = {"Job", "CronJob"};
  jobs.gpus = GpuMatch{};
  policy.workload_types[2].any.push_back(jobs);
  for (const RuleRow& row : Catalog()) policy.rules[std::string(row.id)] = DefaultBinding(row);
  return policy;
}

inline Policy WithMode(Policy policy, const std::string& rule, Mode mode) {
  policy.rules.at(rule).mode = mode;
  return policy;
}

inline Policy WithRespect(Policy policy, Respect respect) {
  for (WorkloadType& type : policy.workload_types) type.respect = respect;
  return policy;
}

inline Exemption MakeExemption(std::vector<std::string> rules, TimePoint expires_at) {
  Exemption exemption;
  exemption.rules = std::move(rules);
  exemption.owner = "eval-team";
  exemption.reason = "needs pairs until the port is done";
  exemption.expires_at = expires_at;
  return exemption;
}

inline Policy WithExemption(Policy policy, Exemption exemption) {
  policy.exemptions.push_back(std::move(exemption));
  return policy;
}

// The snapshot of a cluster whose classes are the policy's ladder.
inline ClusterSnapshot ClusterOf(const Policy& policy) {
  ClusterSnapshot snapshot;
  snapshot.generation = 7;
  for (const LadderClass& row : policy.ladder) snapshot.classes.Put(row.priority_class.name, row.priority_class);
  return snapshot;
}

inline void AddNamespace(ClusterSnapshot& snapshot, const std::string& name, Labels labels) {
  snapshot.namespaces.Put(name, Namespace{name, std::move(labels)});
}

}  // namespace podium::builders
