// A quota that grants GPUs to high-priority pods without a scope that singles out high-priority classes: whoever may
// use it may take every GPU it grants at high priority.
//
// "Has a scope" is not "is scoped". Only `In` with high classes alone counts: NotIn also takes pods without a class and
// every class made later, Exists takes every class, and `scopes: [PriorityClass]` is Exists in another spelling.
#include <algorithm>

#include "core/text.h"
#include "rules/catalog.h"
#include "rules/quota_keys.h"
#include "rules/wording.h"

namespace podium {
namespace {

constexpr std::string_view kScope = "PriorityClass";

bool IsMarkedHigh(const RuleInput& in) {
  const Labels& labels = in.request.object->metadata.labels;
  const auto tier = labels.find("podium.gpu/tier");
  return tier != labels.end() && tier->second == "high-priority";
}

// --- may this namespace hold a high class? --------------------------------------------------------------------------

bool NamespaceLabelsExclude(const RuleInput& in, const Labels& wanted) {
  if (wanted.empty() || in.snapshot == nullptr) return false;
  const auto known = in.snapshot->namespaces.find(in.request.namespace_name);
  if (known == in.snapshot->namespaces.end()) return false;  // not known is not excluded
  return !std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const auto found = known->second.labels.find(label.first);
    return found != known->second.labels.end() && (label.second == "*" || label.second == found->second);
  });
}

bool Excludes(const RuleInput& in, const MatchClause& clause) {
  const bool by_name =
      !clause.namespaces.empty() &&
      std::none_of(clause.namespaces.begin(), clause.namespaces.end(),
                   [&](const std::string& pattern) { return MatchesPattern(pattern, in.request.namespace_name); });
  return by_name || NamespaceLabelsExclude(in, clause.namespace_labels);
}

// The first workload type that gives a high class to pods of this namespace, or null.
const WorkloadType* HighTypeHere(const RuleInput& in) {
  for (const WorkloadType& type : in.policy.workload_types) {
    if (in.classes.TierOf(type.priority_class) != Tier::kHigh) continue;
    const bool possible =
        std::any_of(type.any.begin(), type.any.end(), [&](const MatchClause& clause) { return !Excludes(in, clause); });
    if (possible) return &type;
  }
  return nullptr;
}

// --- the scope ------------------------------------------------------------------------------------------------------

bool IsHigh(const RuleInput& in, const std::string& name) { return in.classes.TierOf(name) == Tier::kHigh; }

// High classes alone; for a quota that is not meant for them, also: no high class at all.
bool SinglesOut(const RuleInput& in, const QuotaScopeExpression& scope, bool marked) {
  if (scope.scope_name != kScope || scope.op != "In" || scope.values.empty()) return false;
  const auto high = static_cast<std::size_t>(std::count_if(scope.values.begin(), scope.values.end(),
                                                           [&](const std::string& name) { return IsHigh(in, name); }));
  return high == scope.values.size() || (!marked && high == 0);
}

std::string WhatIsWrong(const RuleInput& in, const Quota& quota) {
  for (const QuotaScopeExpression& scope : quota.scope_selector) {
    if (scope.scope_name != kScope) continue;
    if (scope.op != "In") return "operator " + Quote(scope.op) + " of its PriorityClass scope also takes other pods";
    const auto other = std::find_if(scope.values.begin(), scope.values.end(),
                                    [&](const std::string& name) { return !IsHigh(in, name); });
    if (other == scope.values.end()) return "its PriorityClass scope lists no class";
    return "its PriorityClass scope also takes class " + Quote(*other) + ", which is not high-priority";
  }
  const bool as_word = std::find(quota.scopes.begin(), quota.scopes.end(), kScope) != quota.scopes.end();
  return as_word ? "spec.scopes: [PriorityClass] takes pods of every class" : "its PriorityClass scope is missing";
}

std::string Fix(const RuleInput& in) {
  std::vector<std::string_view> high = in.classes.Names();
  std::erase_if(high, [&](std::string_view name) { return in.classes.TierOf(name) != Tier::kHigh; });
  if (high.empty()) return "the policy has no class of tier high: take the label away or add such a class";
  return "operator In with high-priority classes alone is expected, scopeSelector: {matchExpressions: [{scopeName: "
         "PriorityClass, operator: In, values: [" +
         ListNames(high) + "]}]}";
}

std::string Granted(const std::vector<GpuQuotaKey>& keys) {
  std::string out;
  for (const GpuQuotaKey& key : keys)
    if (key.amount > Quantity())
      out += (out.empty() ? "" : ", ") + FormatQuantity(key.amount) + " " + std::string(key.resource);
  return out;
}

}  // namespace

RuleOutput UnscopedHighPriorityQuota(const RuleInput& in) {
  const std::string granted = Granted(GpuQuotaKeys(in));
  if (granted.empty()) return {};
  const bool marked = IsMarkedHigh(in);
  const WorkloadType* type = HighTypeHere(in);
  if (!marked && type == nullptr) return {};
  const Quota& quota = *in.request.object->quota;
  const bool scoped = std::any_of(quota.scope_selector.begin(), quota.scope_selector.end(),
                                  [&](const QuotaScopeExpression& scope) { return SinglesOut(in, scope, marked); });
  if (scoped) return {};
  const std::string why =
      marked ? "is marked high-priority"
             : "can be used by workload type '" + type->name + "' (class '" + type->priority_class + "')";
  RuleOutput out;
  out.AddFinding("spec.scopeSelector", "quota " + Quote(in.request.DisplayName()) + " grants " + granted + " and " +
                                           why + ", but " + WhatIsWrong(in, quota) + "; " + Fix(in));
  return out;
}

}  // namespace podium
