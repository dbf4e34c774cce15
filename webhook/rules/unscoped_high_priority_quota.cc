// A quota that grants GPUs to high-priority pods without a scope that singles out high-priority classes: whoever may
// use it may take every GPU it grants at high priority.
//
// "Has a scope" is not "is scoped". Only `In` with high classes alone counts: NotIn also takes pods without a class and
// every class made later, Exists takes every class, and `scopes: [PriorityClass]` is Exists in another spelling.
#include <algorithm>

#include "rules/catalog.h"
#include "rules/high_classes.h"
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
  const std::string user = marked ? std::string() : WhoMayBeHigh(in);
  if (!marked && user.empty()) return {};
  const Quota& quota = *in.request.object->quota;
  const bool scoped = std::any_of(quota.scope_selector.begin(), quota.scope_selector.end(),
                                  [&](const QuotaScopeExpression& scope) { return SinglesOut(in, scope, marked); });
  if (scoped) return {};
  const std::string why = marked ? "is marked high-priority" : "can be used by " + user;
  RuleOutput out;
  out.AddFinding("spec.scopeSelector", "quota " + Quote(in.request.DisplayName()) + " grants " + granted + " and " +
                                           why + ", but " + WhatIsWrong(in, quota) + "; " + Fix(in));
  return out;
}

}  // namespace podium
