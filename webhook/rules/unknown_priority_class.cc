// A class name that the cluster does not have: the workload is stored, and no pod is ever made from it.
#include "rules/catalog.h"
#include "rules/wording.h"

namespace podium {
namespace {

// The Priority step looks the class up before a webhook sees the Pod and refuses an unknown one. A number therefore
// means that the class exists, and that it is our picture of the cluster which is behind.
bool ResolvedByApiServer(const PodTemplate& pod) { return pod.path.empty() && pod.spec.trio.priority.has_value(); }

}  // namespace

RuleOutput UnknownPriorityClass(const RuleInput& in) {
  if (!in.after->class_name || in.classes.Find(*in.after->class_name) != nullptr) return {};
  if (ResolvedByApiServer(*in.pod)) return {};
  const std::vector<std::string_view> names = in.classes.Names();
  RuleOutput out;
  out.AddFinding(FieldPath(*in.pod, "spec.priorityClassName"),
                 "class " + Quote(*in.after->class_name) + " does not exist" +
                     EndOrDidYouMean(*in.after->class_name, names) +
                     (in.snapshot != nullptr ? " The cluster has: " : " The policy names: ") + ListNames(names) +
                     ". Create the class or use one of these");
  return out;
}

}  // namespace podium
