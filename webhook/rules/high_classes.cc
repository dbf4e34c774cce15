#include "rules/high_classes.h"

#include <algorithm>

#include "rules/matching.h"

namespace podium {
namespace {

bool NamespaceLabelsExclude(const RuleInput& in, const Labels& wanted) {
  if (wanted.empty() || in.snapshot == nullptr) return false;
  const Namespace* known = in.snapshot->namespaces.Find(in.request.namespace_name);
  return known != nullptr && !LabelsMatch(wanted, known->labels);  // not known is not excluded
}

bool Excludes(const RuleInput& in, const MatchClause& clause) {
  const bool by_name = !clause.namespaces.empty() && !AnyPatternMatches(clause.namespaces, in.request.namespace_name);
  return by_name || NamespaceLabelsExclude(in, clause.namespace_labels);
}

// Every pod of this namespace matches: the clause has conditions on the namespace alone.
bool TakesEveryPod(const RuleInput& in, const MatchClause& clause) {
  const bool others = !clause.labels.empty() || !clause.kinds.empty() || !clause.owner_kinds.empty() ||
                      !clause.service_accounts.empty() || clause.gpus;
  const bool known = clause.namespace_labels.empty() || in.snapshot != nullptr;
  return !others && known && !Excludes(in, clause);
}

bool AnyHighClass(const RuleInput& in) {
  return std::any_of(in.policy.ladder.begin(), in.policy.ladder.end(),
                     [](const LadderClass& row) { return row.tier == Tier::kHigh; });
}

}  // namespace

std::string WhoMayBeHigh(const RuleInput& in) {
  if (!AnyHighClass(in)) return {};
  for (const WorkloadType& type : in.policy.workload_types) {
    const auto possible = [&](const MatchClause& clause) { return !Excludes(in, clause); };
    if (std::none_of(type.any.begin(), type.any.end(), possible)) continue;
    if (in.classes.TierOf(type.priority_class) == Tier::kHigh)
      return "workload type '" + type.name + "' (class '" + type.priority_class + "')";
    if (type.respect == Respect::kUser) return "workload type '" + type.name + "', whose authors may choose any class";
    if (std::any_of(type.any.begin(), type.any.end(), [&](const MatchClause& c) { return TakesEveryPod(in, c); }))
      return {};
  }
  return "pods of no workload type, which may name any class";
}

}  // namespace podium
