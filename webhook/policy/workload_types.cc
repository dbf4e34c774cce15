// spec.workloadTypes: who matches, which class, whose word counts, which budget.
#include <algorithm>

#include "policy/draft.h"
#include "policy/gpu_match.h"

namespace podium {
namespace {

constexpr std::string_view kBudgetLimits =
    "a whole number from 0 to 1000000 without quotes, or a percentage from \"0%\" to \"100%\"";

constexpr Word<Respect> kRespectWords[] = {
    {"user", Respect::kUser}, {"policy", Respect::kPolicy}, {"ceiling", Respect::kCeiling}};
// unhealthyPodEvictionPolicy of policy/v1.
constexpr Word<bool> kUnhealthyWords[] = {{"IfHealthyBudget", false}, {"AlwaysAllow", true}};

bool Contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// --- clauses --------------------------------------------------------------------------------------------------------

std::optional<Labels> ReadLabels(const Field& value) {
  const std::optional<std::vector<std::pair<Field, Field>>> members = value.Members();
  if (!members) return std::nullopt;
  if (members->empty()) {
    value.Unfit("a mapping with at least one label; to set no condition, leave the key out");
    return std::nullopt;
  }
  Labels labels;
  for (const auto& [key, label] : *members) {
    // A key that looks like a number is a fine label key, quoted or not: keys are always texts.
    const bool good_key = IsLabelKey(key.node().scalar);
    if (!good_key)
      key.Error(key.path() + " is " + InQuotes(key.node().scalar) + "; allowed: " + std::string(kLabelKey.allowed));
    const std::optional<std::string> text = label.Text(kLabelValue);
    if (good_key && text) labels.emplace(key.node().scalar, *text);
  }
  if (labels.size() != members->size()) return std::nullopt;
  return labels;
}

// Pods are never owned by these two themselves.
bool ReadOwnerKinds(MatchClause& clause, const Field& value) {
  if (!Set(clause.owner_kinds, ReadKinds(value))) return false;
  constexpr std::pair<std::string_view, std::string_view> kOwnersOfOwners[] = {{"Deployment", "ReplicaSet"},
                                                                               {"CronJob", "Job"}};
  for (const auto& [kind, owner] : kOwnersOfOwners)
    if (Contains(clause.owner_kinds, kind))
      value.Warn(value.path() + " names " + std::string(kind) + ", which owns no pods itself; write " +
                 std::string(owner) + " here, or " + std::string(kind) + " under kinds");
  return true;
}

constexpr KeyRow<MatchClause> kClauseRows[] = {
    {"labels", Presence::kOptional,
     [](MatchClause& clause, const Field& value) { return Set(clause.labels, ReadLabels(value)); }},
    {"namespaces", Presence::kOptional,
     [](MatchClause& clause, const Field& value) { return Set(clause.namespaces, value.Texts(kNamespacePattern)); }},
    {"namespaceLabels", Presence::kOptional,
     [](MatchClause& clause, const Field& value) { return Set(clause.namespace_labels, ReadLabels(value)); }},
    {"kinds", Presence::kOptional,
     [](MatchClause& clause, const Field& value) { return Set(clause.kinds, ReadKinds(value)); }},
    {"ownerKinds", Presence::kOptional, ReadOwnerKinds},
    {"serviceAccounts", Presence::kOptional,
     [](MatchClause& clause, const Field& value) {
       return Set(clause.service_accounts, value.Texts(kServiceAccountPattern));
     }},
    {"gpus", Presence::kOptional, ReadGpuMatch},
};
constexpr KeyTable<MatchClause> kClauseKeys{"clause", "a clause", kClauseRows};

// Nothing for what is no clause at all, and for `{}`, which would quietly match every pod of the cluster.
std::optional<Draft<MatchClause>> ReadClause(const Field& value) {
  if (value.node().kind == YamlKind::kMapping && value.node().members.empty()) {
    value.Unfit("a clause with at least one condition; for every pod, write namespaces: [\"*\"]");
    return std::nullopt;
  }
  std::optional<Draft<MatchClause>> draft = ReadMapping(value, kClauseKeys);
  if (draft && Contains(draft->value.kinds, "CronJob") && !Contains(draft->value.kinds, "Job"))
    value.problems().Warn(draft->At("kinds"),
                          value.path() +
                              ".kinds names CronJob without Job; pods of a CronJob are owned by its "
                              "Jobs and cannot be told from those of any other Job: add Job");
  return draft;
}

bool ReadAny(WorkloadTypeDraft& draft, const Field& value) {
  const std::optional<std::vector<Field>> items = value.Items();
  if (!items) return false;
  if (items->empty()) value.Unfit("a list with at least one clause");
  for (const Field& item : *items)
    if (std::optional<Draft<MatchClause>> clause = ReadClause(item)) draft.clauses.push_back(std::move(*clause));
  return draft.clauses.size() == items->size() && !items->empty();
}

constexpr KeyRow<WorkloadTypeDraft> kAnyRows[] = {{"any", Presence::kRequired, ReadAny}};
constexpr KeyTable<WorkloadTypeDraft> kAnyKeys{"any", "a match of several clauses", kAnyRows,
                                               "; beside any there is nothing: write it into the clauses of any"};

bool ReadMatch(WorkloadTypeDraft& draft, const Field& value) {
  if (value.node().kind == YamlKind::kMapping && value.node().Find("any") != nullptr) {
    std::optional<Draft<WorkloadTypeDraft>> any = ReadMapping(value, kAnyKeys);
    if (!any) return false;
    draft.clauses = std::move(any->value.clauses);
    return any->Has("any");
  }
  std::optional<Draft<MatchClause>> clause = ReadClause(value);
  if (!clause) return false;
  draft.clauses.push_back(std::move(*clause));
  return true;
}

// --- budgets --------------------------------------------------------------------------------------------------------

// IntOrString as the disruption controller takes it: a number, or a percentage that ends in '%'. A quoted number is
// neither to it.
std::optional<std::string> ReadLimit(const Field& value) {
  const std::string_view text = value.node().scalar;
  const bool percentage = text.ends_with('%');
  const std::optional<IntRange> number = ParseCount(percentage ? text.substr(0, text.size() - 1) : text);
  const bool one_number = number && number->at_least == number->at_most;
  if (one_number && (percentage ? number->at_most <= 100 : !value.node().quoted)) return std::string(text);
  value.Unfit(kBudgetLimits);
  return std::nullopt;
}

void WarnWhenNothingMayGo(const Field& value, const std::string& limit) {
  value.Warn(value.path() + " is " + limit + ", which allows no disruption: node drains and upgrades would hang");
}

bool ReadMinAvailable(BudgetTemplate& budget, const Field& value) {
  if (!Set(budget.min_available, ReadLimit(value))) return false;
  if (*budget.min_available == "100%") WarnWhenNothingMayGo(value, *budget.min_available);
  return true;
}

bool ReadMaxUnavailable(BudgetTemplate& budget, const Field& value) {
  if (!Set(budget.max_unavailable, ReadLimit(value))) return false;
  const std::string& limit = *budget.max_unavailable;
  if (limit == "0" || limit == "0%") WarnWhenNothingMayGo(value, limit);
  return true;
}

constexpr KeyRow<BudgetTemplate> kBudgetRows[] = {
    {"minAvailable", Presence::kOptional, ReadMinAvailable},
    {"maxUnavailable", Presence::kOptional, ReadMaxUnavailable},
    {"unhealthyPods", Presence::kOptional,
     ReadWord<kUnhealthyWords, &BudgetTemplate::always_allow_unhealthy, BudgetTemplate>, TextsOf<kUnhealthyWords>},
};
constexpr KeyTable<BudgetTemplate> kBudgetKeys{"budget", "a budget", kBudgetRows};

bool ReadBudget(WorkloadTypeDraft& draft, const Field& value) {
  std::optional<Draft<BudgetTemplate>> budget = ReadMapping(value, kBudgetKeys);
  if (!budget) return false;
  const bool has_min = value.node().Find("minAvailable") != nullptr;
  const bool has_max = value.node().Find("maxUnavailable") != nullptr;
  if (has_min == has_max) {
    value.Error(value.path() + (has_min ? " has both minAvailable and maxUnavailable" : " has no limit") +
                "; allowed: exactly one of minAvailable, maxUnavailable");
    return false;
  }
  draft.type.budget = std::move(budget->value);
  return true;
}

// --- types ----------------------------------------------------------------------------------------------------------

bool ReadAdvice(WorkloadTypeDraft& draft, const Field& value) {
  draft.advice = value.OneOf(kModeWords);
  return draft.advice.has_value();
}

constexpr KeyRow<WorkloadTypeDraft> kTypeRows[] = {
    {"name", Presence::kRequired,
     [](WorkloadTypeDraft& draft, const Field& value) { return Set(draft.type.name, value.Text(kDnsLabel)); }},
    {"match", Presence::kRequired, ReadMatch},
    {"class", Presence::kRequired,
     [](WorkloadTypeDraft& draft, const Field& value) { return Set(draft.type.priority_class, value.Text()); }},
    {"respect", Presence::kOptional,
     [](WorkloadTypeDraft& draft, const Field& value) { return Set(draft.type.respect, value.OneOf(kRespectWords)); },
     TextsOf<kRespectWords>},
    {"budget", Presence::kOptional, ReadBudget},
    {"advice", Presence::kOptional, ReadAdvice, TextsOf<kModeWords>},
};
constexpr KeyTable<WorkloadTypeDraft> kTypeKeys{"workloadType", "a workload type", kTypeRows};

}  // namespace

bool ReadWorkloadTypes(PolicyDraft& draft, const Field& value) {
  for (Draft<WorkloadTypeDraft>& type : ReadList(value, kTypeKeys)) draft.types.push_back(std::move(type));
  return true;
}

std::vector<MappingInfo> WorkloadTypeLanguage() {
  return {Describe(kTypeKeys), Describe(kAnyKeys), Describe(kClauseKeys), GpuMatchLanguage(), Describe(kBudgetKeys)};
}

}  // namespace podium
