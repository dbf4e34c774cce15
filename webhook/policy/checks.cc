// What only the whole policy shows: sizes, GPU patterns, the ladder, exemptions.
#include <algorithm>
#include <tuple>

#include "core/text.h"
#include "policy/draft.h"

namespace podium {
namespace {

// Every request walks these lists, and some checks compare each entry with each.
constexpr std::size_t kMostEntries = 1000;

template <typename T>
bool SizeFits(const std::vector<Draft<T>>& list, std::string_view path, Problems& problems) {
  if (list.size() <= kMostEntries) return true;
  problems.Error(list[kMostEntries].span, std::string(path) + " has " + std::to_string(list.size()) +
                                              " entries; allowed: at most " + std::to_string(kMostEntries));
  return false;
}

std::string NameAndValue(const Draft<LadderClass>& row) {
  return InQuotes(row.value.priority_class.name) + " (" + std::to_string(row.value.priority_class.value) + ")";
}

using Ladder = std::vector<const Draft<LadderClass>*>;

// The classes whose name and value could be read, highest value first.
Ladder SortedLadder(const PolicyDraft& draft) {
  Ladder ladder;
  for (const Draft<LadderClass>& row : draft.classes)
    if (row.Has("name") && row.Has("value")) ladder.push_back(&row);
  std::stable_sort(ladder.begin(), ladder.end(), [](const Draft<LadderClass>* a, const Draft<LadderClass>* b) {
    return a->value.priority_class.value > b->value.priority_class.value;
  });
  return ladder;
}

void CheckDuplicateClasses(const PolicyDraft& draft, Problems& problems) {
  std::map<std::string_view, const Draft<LadderClass>*> seen;
  for (const Draft<LadderClass>& row : draft.classes) {
    if (row.value.priority_class.name.empty()) continue;
    const auto [first, added] = seen.emplace(row.value.priority_class.name, &row);
    if (!added)
      problems.Error(row.At("name"), "class " + InQuotes(row.value.priority_class.name) +
                                         " is listed twice, first at " + ShowSpan(first->second->At("name")) +
                                         "; keep one of them");
  }
}

void CheckGlobalDefaults(const PolicyDraft& draft, Problems& problems) {
  const Draft<LadderClass>* first = nullptr;
  for (const Draft<LadderClass>& row : draft.classes) {
    if (!row.value.priority_class.global_default) continue;
    if (first != nullptr) {
      problems.Error(row.At("globalDefault"), "two global defaults: " + InQuotes(row.value.priority_class.name) +
                                                  " here and " + InQuotes(first->value.priority_class.name) + " at " +
                                                  ShowSpan(first->At("globalDefault")) +
                                                  "; allowed: at most one, the class of pods that name none");
      continue;
    }
    first = &row;
    if (row.value.tier == Tier::kHigh)
      problems.Warn(row.At("globalDefault"), "class " + InQuotes(row.value.priority_class.name) +
                                                 " is the global default and of tier high; every pod that names no "
                                                 "class, also without GPUs, could evict others");
  }
}

void CheckEqualValues(const Ladder& ladder, Problems& problems) {
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    const LadderClass& above = ladder[i - 1]->value;
    const LadderClass& row = ladder[i]->value;
    if (above.priority_class.value != row.priority_class.value || above.priority_class.name == row.priority_class.name)
      continue;
    problems.Warn(ladder[i]->At("value"), "classes " + InQuotes(above.priority_class.name) + " and " +
                                              InQuotes(row.priority_class.name) + " have the same value " +
                                              std::to_string(row.priority_class.value) +
                                              "; neither can preempt the other: leave a gap between them");
  }
}

void CheckNeverHigh(const Ladder& ladder, Problems& problems) {
  for (const Draft<LadderClass>* row : ladder) {
    const LadderClass& written = row->value;
    if (written.tier != Tier::kHigh || written.priority_class.preemption_policy != PreemptionPolicy::kNever) continue;
    problems.Warn(row->At("preemptionPolicy"), "class " + InQuotes(written.priority_class.name) +
                                                   " is of tier high but its preemptionPolicy is Never; it waits in "
                                                   "front of the queue and evicts nothing: use tier standard");
  }
}

// What preempts must stand above what may be preempted, and who chose a class above who chose none.
void CheckInversions(const Ladder& ladder, Problems& problems) {
  const Draft<LadderClass>* global_default = nullptr;
  const Draft<LadderClass>* lowest_high = nullptr;
  for (const Draft<LadderClass>* row : ladder) {
    if (row->value.priority_class.global_default) global_default = row;
    if (row->value.tier == Tier::kHigh) lowest_high = row;
  }
  for (const Draft<LadderClass>* row : ladder) {
    if (row->value.tier != Tier::kPreemptible) continue;
    const std::int32_t value = row->value.priority_class.value;
    if (lowest_high != nullptr && value > lowest_high->value.priority_class.value)
      problems.Warn(row->At("value"), "preemptible class " + NameAndValue(*row) + " is above the high class " +
                                          NameAndValue(*lowest_high) + ", which therefore cannot preempt it");
    if (global_default == nullptr || value >= global_default->value.priority_class.value) continue;
    problems.Warn(global_default->At("value"), "global default " + NameAndValue(*global_default) +
                                                   " is above the preemptible class " + NameAndValue(*row) +
                                                   "; a pod that names no class would outrank one that does");
  }
}

void CheckExemption(const Draft<Exemption>& exemption, TimePoint now, Problems& problems) {
  const Exemption& written = exemption.value;
  if (exemption.Has("expires") && written.expires_at <= now) {
    const std::string last_day = FormatRfc3339(written.expires_at - std::chrono::hours(24)).substr(0, 10);
    problems.Warn(exemption.At("expires"), "this exemption expired at the end of " + last_day +
                                               " (UTC) and no longer counts; remove it, or let " +
                                               InQuotes(written.owner) + " renew it");
  }
  if (!exemption.flawed && written.namespace_pattern == "*" && written.name_pattern == "*" && written.kinds.empty())
    problems.Warn(exemption.span,
                  "this exemption holds for every object in every namespace; name a namespace, a name or kinds, or "
                  "change the mode of the rule");
}

}  // namespace

bool SizesFit(const PolicyDraft& draft, Problems& problems) {
  const bool fits[] = {SizeFits(draft.gpus, "spec.gpus", problems), SizeFits(draft.classes, "spec.classes", problems),
                       SizeFits(draft.types, "spec.workloadTypes", problems),
                       SizeFits(draft.exemptions, "spec.exemptions", problems)};
  return std::all_of(std::begin(fits), std::end(fits), [](bool fit) { return fit; });
}

void CheckGpus(const PolicyDraft& draft, Problems& problems) {
  for (std::size_t i = 0; i < draft.gpus.size(); ++i) {
    const Draft<GpuResource>& gpu = draft.gpus[i];
    const auto end = draft.gpus.begin() + static_cast<std::ptrdiff_t>(i);
    // A pattern read as a text: what another pattern matches there, it matches in every name the pattern stands for.
    const auto earlier = std::find_if(draft.gpus.begin(), end, [&gpu](const Draft<GpuResource>& other) {
      return other.Has("resource") && MatchesPattern(other.value.pattern, gpu.value.pattern);
    });
    if (!gpu.Has("resource") || earlier == end) continue;
    problems.Warn(gpu.At("resource"), "GPU resource " + InQuotes(gpu.value.pattern) + " is never reached; " +
                                          InQuotes(earlier->value.pattern) + " at " +
                                          ShowSpan(earlier->At("resource")) +
                                          " matches first: move the narrower one up");
  }
}

void CheckLadder(const PolicyDraft& draft, Problems& problems) {
  const Ladder ladder = SortedLadder(draft);
  CheckDuplicateClasses(draft, problems);
  CheckGlobalDefaults(draft, problems);
  CheckEqualValues(ladder, problems);
  CheckNeverHigh(ladder, problems);
  CheckInversions(ladder, problems);
}

void CheckExemptions(const PolicyDraft& draft, TimePoint now, Problems& problems) {
  for (const Draft<Exemption>& exemption : draft.exemptions) CheckExemption(exemption, now, problems);
}

}  // namespace podium
