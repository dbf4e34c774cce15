#include "rules/chosen_class.h"

namespace podium {

bool IsChosen(const RuleInput& in) {
  if (!in.after->class_name) return false;
  const PriorityClass* fallback = in.classes.GlobalDefault();
  return fallback == nullptr || fallback->name != *in.after->class_name;
}

std::optional<std::int64_t> ValueOfClass(const RuleInput& in) {
  if (const PriorityClass* known = in.classes.Find(*in.after->class_name)) return known->value;
  return in.pod->path.empty() ? in.after->priority : std::nullopt;
}

bool ChoiceStands(const RuleInput& in, const PriorityClass* wanted) {
  const std::optional<std::int64_t> value = ValueOfClass(in);
  if (!value || wanted == nullptr || in.classes.TierOf(*in.after->class_name) == Tier::kSystem) return true;
  switch (in.workload_type->respect) {
    case Respect::kUser: return true;
    case Respect::kPolicy: return false;
    case Respect::kCeiling: return *value <= wanted->value;
  }
  return true;
}

}  // namespace podium
