// A class that may evict more.
#include <algorithm>
#include <utility>

#include "feasibility/change_search.h"

namespace podium {
namespace {

constexpr std::int32_t kHighestUserValue = 1'000'000'000;  // above it are Kubernetes' own classes

Pod WithTrio(Pod pod, Trio trio) {
  PodSpec spec = *pod.spec;
  spec.trio = std::move(trio);
  pod.spec = std::move(spec);
  return pod;
}

// Usable ones, lowest value first; of equal ones the first by name.
std::vector<const PriorityClass*> ClassesAbove(const SearchInput& input) {
  const std::int64_t priority = PriorityOf(input.incoming);
  std::vector<const PriorityClass*> classes;
  for (const auto& row : input.snapshot.classes) {
    const PriorityClass& candidate = row.value;
    const bool more = candidate.value > priority || (candidate.value == priority && !input.MayPreempt());
    if (more && candidate.value <= kHighestUserValue && candidate.preemption_policy != PreemptionPolicy::kNever)
      classes.push_back(&candidate);
  }
  std::stable_sort(classes.begin(), classes.end(), [](auto* a, auto* b) { return a->value < b->value; });
  const auto last = std::unique(classes.begin(), classes.end(), [](auto* a, auto* b) { return a->value == b->value; });
  classes.erase(last, classes.end());
  return classes;
}

std::string ClassText(const std::string& name, std::int64_t value) {
  return (name.empty() ? "priority " : "class " + name + " (") + std::to_string(value) + (name.empty() ? "" : ")");
}

}  // namespace

// The API server refuses a policy that is not the one of the pod's class, so the class has to change with it.
std::vector<Proposal> AllowPreemption(const SearchInput& input) {
  if (input.MayPreempt()) return {};
  Trio trio = input.incoming.spec->trio;
  const std::string like = trio.class_name ? "a class like " + *trio.class_name + ", with " : "";
  trio.preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  Trials trials(input, ChangeKind::kMayPreempt);
  return ListOf(trials.Try(WithTrio(input.incoming, std::move(trio)),
                           "let it preempt: " + like + "preemptionPolicy PreemptLowerPriority"));
}

// One by one: more victims are not always better, a pod of them may be one that the preemptor wants to stand beside.
std::vector<Proposal> RaiseClass(const SearchInput& input) {
  const std::string own = ClassText(input.incoming.spec->trio.class_name.value_or(""), PriorityOf(input.incoming));
  if (input.report.verdict == Feasibility::kShapeNeverFits) return {};
  Trials trials(input, ChangeKind::kHigherClass);
  for (const PriorityClass* candidate : ClassesAbove(input)) {
    const Trio trio = {candidate->name, candidate->value, candidate->preemption_policy};
    const std::string text = ClassText(candidate->name, candidate->value) + " instead of " + own;
    std::optional<Proposal> proposal = trials.Try(WithTrio(input.incoming, trio), text);
    if (proposal) return ListOf(std::move(proposal));
  }
  return {};
}

}  // namespace podium
