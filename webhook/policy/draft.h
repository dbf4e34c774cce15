// A policy while it is read: every part with the places it was written at, possibly incomplete. Readers fill it, checks
// look at it as a whole, and only a draft without errors becomes a Policy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "podium/policy.h"
#include "policy/field.h"
#include "policy/language.h"

namespace podium {

inline constexpr Word<GpuUnit> kUnitWords[] = {
    {"device", GpuUnit::kDevice}, {"slice", GpuUnit::kSlice}, {"shared", GpuUnit::kShared}};

inline constexpr Word<Mode> kModeWords[] = {{ToString(Mode::kOff), Mode::kOff},
                                            {ToString(Mode::kAudit), Mode::kAudit},
                                            {ToString(Mode::kWarn), Mode::kWarn},
                                            {ToString(Mode::kEnforce), Mode::kEnforce}};

struct WorkloadTypeDraft {
  WorkloadType type;  // `any` stays empty until the end
  std::vector<Draft<MatchClause>> clauses;
  std::optional<Mode> advice;
};

struct PolicyDraft {
  std::optional<Draft<std::string>> name;
  std::optional<Draft<Posture>> on_internal_error;
  std::optional<Draft<StaleCluster>> on_stale_cluster;
  std::optional<Draft<std::int64_t>> stale_after_seconds;
  std::optional<Draft<Mode>> advice;
  bool gpus_given = false;  // an empty list is a statement, no list means the default
  std::vector<Draft<GpuResource>> gpus;
  std::vector<Draft<LadderClass>> classes;
  std::vector<Draft<WorkloadTypeDraft>> types;
  std::map<std::string, Draft<RuleBinding>> rules;
  std::vector<Draft<Exemption>> exemptions;
};

// Readers of the sections of spec; each appends to what other files gave.
bool ReadGpus(PolicyDraft& draft, const Field& value);
bool ReadClasses(PolicyDraft& draft, const Field& value);
bool ReadWorkloadTypes(PolicyDraft& draft, const Field& value);
bool ReadRules(PolicyDraft& draft, const Field& value);
bool ReadExemptions(PolicyDraft& draft, const Field& value);

// Kinds of objects; a warning for those that Podium has never heard of.
std::optional<std::vector<std::string>> ReadKinds(const Field& value);

// Fills `slot`, or reports when a single value is given a second time.
template <typename T>
bool GiveOnce(std::optional<Draft<T>>& slot, const Field& value, std::optional<T> read) {
  if (!read) return false;
  if (slot) {
    value.Error(value.path() + " is given twice, first at " + ShowSpan(slot->span) + "; keep one of them");
    return false;
  }
  slot = Draft<T>{.value = std::move(*read), .span = value.span()};
  return true;
}

// What only the whole policy shows. All of them only report; those after the first need lists of bearable length.
[[nodiscard]] bool SizesFit(const PolicyDraft& draft, Problems& problems);
void CheckGpus(const PolicyDraft& draft, Problems& problems);
void CheckLadder(const PolicyDraft& draft, Problems& problems);
void CheckWorkloadTypes(const PolicyDraft& draft, Problems& problems);
void CheckReachable(const PolicyDraft& draft, Problems& problems);
void CheckExemptions(const PolicyDraft& draft, TimePoint now, Problems& problems);

// What spec.gpus is when it is left out; policies/default.yaml writes the same list.
std::vector<GpuResource> DefaultGpus();

// The binding of every rule in the catalog when the policy says nothing of it.
std::map<std::string, RuleBinding> DefaultBindings();

// The keys of each mapping, for PolicyLanguage().
std::vector<MappingInfo> LadderLanguage();
std::vector<MappingInfo> WorkloadTypeLanguage();
std::vector<MappingInfo> BindingLanguage();

template <typename T>
MappingInfo Describe(const KeyTable<T>& table) {
  MappingInfo info{.name = table.name, .keys = {}};
  for (const KeyRow<T>& row : table.rows)
    info.keys.push_back({row.name, row.presence == Presence::kRequired,
                         row.words == nullptr ? std::vector<std::string_view>{} : row.words()});
  return info;
}

}  // namespace podium
