// A Pod about to be stored with a class that its workload type does not allow. /mutate replaces such a class; so at
// /validate another webhook has put it there, or /mutate was not asked. Templates are not this rule's case: their pods
// are put right when they are created.
#include "rules/catalog.h"
#include "rules/chosen_class.h"
#include "rules/wording.h"

namespace podium {

RuleOutput DisallowedPriorityClass(const RuleInput& in) {
  if (!in.pod->path.empty() || in.workload_type == nullptr || !IsChosen(in)) return {};
  const WorkloadType& type = *in.workload_type;
  if (in.after->class_name == type.priority_class || ChoiceStands(in, in.classes.Find(type.priority_class))) return {};
  const bool ceiling = type.respect == Respect::kCeiling;
  RuleOutput out;
  out.AddFinding(
      FieldPath(*in.pod, "spec.priorityClassName"),
      "class " + Quote(*in.after->class_name) + " is not allowed for workload type '" + type.name + "', which " +
          (ceiling ? "may have '" + type.priority_class + "' or a lower class" : "has '" + type.priority_class + "'") +
          "; /mutate gives it that class, so it was not asked, or another webhook changed the class after it");
  return out;
}

}  // namespace podium
