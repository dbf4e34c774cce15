// A number or a preemptionPolicy in a template that contradicts the class: the workload is stored, and every pod of it
// is refused later ("the integer value of priority must not be provided in pod spec"), visible as an event only.
// Pods are not this rule's case: the Priority step has just compared the three fields with the live class, so a
// difference here could only come from a picture of the cluster that is behind.
#include "rules/catalog.h"
#include "rules/wording.h"

namespace podium {
namespace {

// What the Priority step will compute for the pods. Source: plugin/pkg/admission/priority/admission.go.
struct Computed {
  std::int64_t priority = 0;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  std::string origin;  // for the message
};

Computed FromClass(const PriorityClass& row, const std::string& origin) {
  return {row.value, row.preemption_policy, origin + " '" + row.name + "'"};
}

std::optional<Computed> Compute(const RuleInput& in) {
  if (in.after->class_name) {
    const PriorityClass* row = in.classes.Find(*in.after->class_name);
    if (row == nullptr) return std::nullopt;  // unknown-priority-class tells
    return FromClass(*row, "class");
  }
  if (const PriorityClass* fallback = in.classes.GlobalDefault())
    return FromClass(*fallback, "no class is set, and the global default");
  Computed none;
  none.origin = "no class is set, and no global default exists: that";
  return none;
}

std::string Remedy(const Computed& computed, std::string_view field, const std::string& value) {
  return "; " + computed.origin + " gives " + value +
         ", so every pod would be refused: remove this field, and choose a class with priorityClassName if " +
         std::string(field) + " matters";
}

}  // namespace

RuleOutput InconsistentPriority(const RuleInput& in) {
  const bool has_derived = in.after->priority || in.after->preemption_policy;
  if (in.pod->path.empty() || !has_derived) return {};
  const std::optional<Computed> computed = Compute(in);
  if (!computed) return {};
  RuleOutput out;
  if (in.after->priority && *in.after->priority != computed->priority)
    out.AddFinding(FieldPath(*in.pod, "spec.priority"),
                   "priority is " + std::to_string(*in.after->priority) +
                       Remedy(*computed, "the priority", std::to_string(computed->priority)));
  if (in.after->preemption_policy && *in.after->preemption_policy != computed->preemption_policy)
    out.AddFinding(FieldPath(*in.pod, "spec.preemptionPolicy"),
                   "preemptionPolicy is " + std::string(ToString(*in.after->preemption_policy)) +
                       Remedy(*computed, "the preemption", std::string(ToString(computed->preemption_policy))));
  return out;
}

}  // namespace podium
