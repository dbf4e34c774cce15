// Gives a pod or template the class of its workload type.
//
// The API server's Priority step runs before webhooks and again after them. It fills in the class (when there is a
// global default), the number and the policy, and refuses a pod whose number or policy is not the class's. So "the
// class is set" does not mean that anybody chose it, and a new class must take the two derived fields away. Source:
// plugin/pkg/admission/priority/admission.go.
#include "rules/catalog.h"
#include "rules/chosen_class.h"
#include "rules/wording.h"

namespace podium {
namespace {

std::string TypeName(const RuleInput& in) { return "workload type '" + in.workload_type->name + "'"; }

std::string ClassPath(const RuleInput& in) { return FieldPath(*in.pod, "spec.priorityClassName"); }

std::string MissingClass(const RuleInput& in) {
  return "class " + Quote(in.workload_type->priority_class) + " of " + TypeName(in) +
         " does not exist, so none is injected; existing classes: " + ListNames(in.classes.Names());
}

std::string AboveCeiling(const RuleInput& in, const PriorityClass& wanted) {
  return "class " + Quote(*in.after->class_name) + " (" + std::to_string(*ValueOfClass(in)) +
         ") is above the ceiling of " + TypeName(in) + "; replaced by '" + wanted.name + "' (" +
         std::to_string(wanted.value) + ")";
}

using Value = std::optional<EditValue>;

Edit Change(std::string path, Value before, Value after, std::string reason) {
  return {std::move(path), std::move(before), std::move(after), {}, {}, std::move(reason)};
}

// The derived fields go, they are not set: the API server fills them in from the live class, so a ladder that has
// drifted from the cluster cannot make a pod that is refused.
std::vector<Edit> MakeEdits(const RuleInput& in, const PriorityClass& wanted) {
  const Trio& stored = in.pod->spec.trio;
  const std::string spec = in.pod->path + "/spec/";
  const std::string reason = TypeName(in);
  std::vector<Edit> edits;
  edits.reserve(4);
  const Value chosen = stored.class_name ? Value(*stored.class_name) : std::nullopt;
  edits.push_back(Change(spec + "priorityClassName", chosen, wanted.name, reason));
  if (stored.priority) edits.push_back(Change(spec + "priority", *stored.priority, std::nullopt, reason));
  if (stored.preemption_policy)
    edits.push_back(
        Change(spec + "preemptionPolicy", std::string(ToString(*stored.preemption_policy)), std::nullopt, reason));
  if (!in.pod->path.empty()) return edits;
  const std::string giver = in.policy.name + "/" + in.workload_type->name;
  edits.push_back(Change("/metadata/annotations/podium.gpu~1injected-by", std::nullopt, giver, reason));
  if (!in.pod->metadata.has_annotations) edits.back().missing_parent = "/metadata/annotations";
  return edits;
}

}  // namespace

RuleOutput InjectPriorityClass(const RuleInput& in) {
  if (in.workload_type == nullptr) return {};
  if (in.pod->spec.containers.empty()) return {};  // refused by the API server anyway, and "spec" may be missing
  if (in.after->class_name == in.workload_type->priority_class) return {};
  const PriorityClass* wanted = in.classes.Find(in.workload_type->priority_class);
  const bool chosen = IsChosen(in);
  if (chosen && ChoiceStands(in, wanted)) return {};
  RuleOutput out;
  if (wanted == nullptr) {
    out.AddFinding(ClassPath(in), MissingClass(in));
    return out;
  }
  if (chosen && in.workload_type->respect == Respect::kCeiling)
    out.AddFinding(ClassPath(in), AboveCeiling(in, *wanted));
  out.after = Trio{wanted->name, wanted->value, wanted->preemption_policy};
  if (in.editable) out.edits = MakeEdits(in, *wanted);
  return out;
}

}  // namespace podium
