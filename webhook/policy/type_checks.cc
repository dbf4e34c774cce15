// What only the whole policy shows of workload types: names, classes, budgets, and types that can never match.
#include <algorithm>

#include "core/text.h"
#include "policy/draft.h"
#include "rules/catalog.h"

namespace podium {
namespace {

// Each clause is compared with each earlier one.
constexpr std::size_t kMostClauses = 4000;

bool Contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

void CheckDuplicateTypes(const PolicyDraft& draft, Problems& problems) {
  std::map<std::string_view, const Draft<WorkloadTypeDraft>*> seen;
  for (const Draft<WorkloadTypeDraft>& type : draft.types) {
    if (!type.Has("name")) continue;
    const auto [first, added] = seen.emplace(type.value.type.name, &type);
    if (!added)
      problems.Error(type.At("name"), "workload type " + InQuotes(type.value.type.name) +
                                          " is listed twice, first at " + ShowSpan(first->second->At("name")) +
                                          "; keep one of them");
  }
}

void CheckClasses(const PolicyDraft& draft, Problems& problems) {
  std::vector<std::string_view> names;
  for (const Draft<LadderClass>& row : draft.classes) names.push_back(row.value.priority_class.name);
  for (const Draft<WorkloadTypeDraft>& type : draft.types) {
    const std::string& name = type.value.type.priority_class;
    if (!type.Has("class") || std::find(names.begin(), names.end(), name) != names.end()) continue;
    problems.Error(type.At("class"), "class " + InQuotes(name) + " is not in spec.classes; allowed: " +
                                         JoinNames(names) + DidYouMean(name, names));
  }
}

// A label that names no type classifies pods which the rule unknown-workload-type complains about.
void CheckTypeLabels(const PolicyDraft& draft, Problems& problems) {
  std::vector<std::string_view> names;
  for (const Draft<WorkloadTypeDraft>& type : draft.types) names.push_back(type.value.type.name);
  for (const Draft<WorkloadTypeDraft>& type : draft.types) {
    for (const Draft<MatchClause>& clause : type.value.clauses) {
      const auto label = clause.value.labels.find(std::string(kWorkloadTypeLabel));
      if (label == clause.value.labels.end() || label->second == "*") continue;
      if (std::find(names.begin(), names.end(), label->second) != names.end()) continue;
      problems.Warn(clause.At("labels"), "label " + std::string(kWorkloadTypeLabel) + ": " + label->second +
                                             " names no workload type of this policy; types: " + JoinNames(names) +
                                             DidYouMean(label->second, names));
    }
  }
}

bool NamesJobs(const MatchClause& clause) {
  return Contains(clause.kinds, "Job") || Contains(clause.kinds, "CronJob") || Contains(clause.owner_kinds, "Job");
}

// The disruption controller finds no scale for Jobs; such a budget would allow no disruption at all
// (pkg/controller/disruption/disruption.go).
void CheckBudget(const Draft<WorkloadTypeDraft>& type, Problems& problems) {
  const std::optional<BudgetTemplate>& budget = type.value.type.budget;
  if (!budget) return;
  const bool fixed = budget->min_available && !budget->min_available->ends_with('%');
  const std::vector<Draft<MatchClause>>& clauses = type.value.clauses;
  const auto jobs = std::find_if(clauses.begin(), clauses.end(),
                                 [](const Draft<MatchClause>& clause) { return NamesJobs(clause.value); });
  if (fixed || jobs == clauses.end()) return;
  problems.Warn(type.At("budget"), "workload type " + InQuotes(type.value.type.name) + " matches Jobs (" +
                                       ShowSpan(jobs->span) +
                                       "), for which Kubernetes cannot count maxUnavailable or a percentage; such a "
                                       "budget would block every eviction: use a whole number as minAvailable");
}

// --- clauses that an earlier type takes all of ----------------------------------------------------------------------

bool TakesLabels(const Labels& wide, const Labels& narrow) {
  return std::all_of(wide.begin(), wide.end(), [&narrow](const auto& label) {
    const auto found = narrow.find(label.first);
    return found != narrow.end() && (label.second == "*" || label.second == found->second);
  });
}

// Every pattern of `narrow`, read as a text, is matched by one of `wide`.
bool TakesPatterns(const std::vector<std::string>& wide, const std::vector<std::string>& narrow) {
  if (wide.empty()) return true;
  return !narrow.empty() && std::all_of(narrow.begin(), narrow.end(), [&wide](const std::string& text) {
    return std::any_of(wide.begin(), wide.end(),
                       [&text](const std::string& pattern) { return MatchesPattern(pattern, text); });
  });
}

bool TakesKinds(const std::vector<std::string>& wide, const std::vector<std::string>& narrow) {
  if (wide.empty()) return true;
  return !narrow.empty() &&
         std::all_of(narrow.begin(), narrow.end(), [&wide](const std::string& kind) { return Contains(wide, kind); });
}

bool TakesGpus(const std::optional<GpuMatch>& wide, const std::optional<GpuMatch>& narrow) {
  if (!wide) return true;
  if (!narrow || (wide->unit && wide->unit != narrow->unit)) return false;
  if (!MatchesPattern(wide->resource, narrow->resource)) return false;
  const bool same_units = wide->unit == narrow->unit && wide->resource == narrow->resource;
  // Counting more resources can only give more units, so an upper bound says nothing then.
  if (!same_units && wide->count.at_most != INT64_MAX) return false;
  return wide->count.at_least <= narrow->count.at_least && wide->count.at_most >= narrow->count.at_most;
}

// True when whatever `narrow` matches, `wide` matches too. False is no proof of the opposite.
bool Takes(const MatchClause& wide, const MatchClause& narrow) {
  return TakesLabels(wide.labels, narrow.labels) && TakesPatterns(wide.namespaces, narrow.namespaces) &&
         TakesLabels(wide.namespace_labels, narrow.namespace_labels) && TakesKinds(wide.kinds, narrow.kinds) &&
         TakesKinds(wide.owner_kinds, narrow.owner_kinds) &&
         TakesPatterns(wide.service_accounts, narrow.service_accounts) && TakesGpus(wide.gpus, narrow.gpus);
}

struct Taker {
  const Draft<WorkloadTypeDraft>* type = nullptr;
  const Draft<MatchClause>* clause = nullptr;
};

// The first earlier clause of another type that takes all of `clause`; without a type: there is none.
Taker FindTaker(const PolicyDraft& draft, const Draft<WorkloadTypeDraft>& type, const Draft<MatchClause>& clause) {
  for (const Draft<WorkloadTypeDraft>& earlier : draft.types) {
    if (&earlier == &type) return {};
    if (earlier.flawed) continue;  // it may mean less than it seems to say
    for (const Draft<MatchClause>& wide : earlier.value.clauses)
      if (Takes(wide.value, clause.value)) return {&earlier, &wide};
  }
  return {};
}

void CheckReach(const PolicyDraft& draft, const Draft<WorkloadTypeDraft>& type, Problems& problems) {
  std::vector<std::pair<const Draft<MatchClause>*, Taker>> taken;
  for (const Draft<MatchClause>& clause : type.value.clauses)
    if (const Taker taker = FindTaker(draft, type, clause); taker.type != nullptr) taken.emplace_back(&clause, taker);
  const bool all = !taken.empty() && taken.size() == type.value.clauses.size();
  const std::string name = InQuotes(type.value.type.name);
  for (const auto& [clause, taker] : taken)
    problems.Warn(all ? type.span : clause->span,
                  (all ? "workload type " + name : "this clause of workload type " + name) + " is never reached; " +
                      InQuotes(taker.type->value.type.name) + " at " + ShowSpan(taker.clause->span) +
                      " takes all that it matches: move the narrower one up");
}

}  // namespace

void CheckWorkloadTypes(const PolicyDraft& draft, Problems& problems) {
  CheckDuplicateTypes(draft, problems);
  CheckClasses(draft, problems);
  CheckTypeLabels(draft, problems);
  for (const Draft<WorkloadTypeDraft>& type : draft.types) CheckBudget(type, problems);
}

void CheckReachable(const PolicyDraft& draft, Problems& problems) {
  std::size_t clauses = 0;
  for (const Draft<WorkloadTypeDraft>& type : draft.types) clauses += type.value.clauses.size();
  if (clauses > kMostClauses) return;
  for (const Draft<WorkloadTypeDraft>& type : draft.types)
    if (!type.flawed) CheckReach(draft, type, problems);
}

}  // namespace podium
