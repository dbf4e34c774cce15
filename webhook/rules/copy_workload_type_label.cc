// Pods carry the labels of their template, not those of their Deployment. A type that is named on the workload alone
// would classify the workload one way and each of its pods another, so the label is copied where it can be.
#include <algorithm>

#include "rules/catalog.h"
#include "rules/wording.h"

namespace podium {
namespace {

bool HasOwnLabel(const PodTemplate& pod) {
  static const std::string key(kWorkloadTypeLabel);
  return pod.metadata.labels.contains(key);
}

// One note for the whole object, at its first slot without the label.
bool IsFirstWithout(const RuleInput& in) {
  const std::vector<PodTemplate>& slots = in.request.object->templates;
  const auto first = std::find_if(slots.begin(), slots.end(),
                                  [](const PodTemplate& slot) { return slot.changed && !HasOwnLabel(slot); });
  return first != slots.end() && &*first == in.pod;
}

std::string NotPassedOn(const RuleInput& in, const std::string& label) {
  return std::string(kWorkloadTypeLabel) + ": " + label + " is on the " + in.request.kind.kind +
         " only; add it to its pod templates, or its pods go without";
}

Edit AddLabel(const PodTemplate& pod, const std::string& label) {
  Edit edit;
  edit.path = pod.path + "/metadata/labels/podium.gpu~1workload-type";
  edit.after = label;
  edit.reason = "the workload has this label, its pod template has not";
  if (!pod.has_metadata) {
    edit.missing_parent = pod.path + "/metadata";
  } else if (!pod.metadata.has_labels) {
    edit.missing_parent = pod.path + "/metadata/labels";
  }
  return edit;
}

}  // namespace

RuleOutput CopyWorkloadTypeLabel(const RuleInput& in) {
  if (in.pod->path.empty() || HasOwnLabel(*in.pod)) return {};  // a Pod's own labels are its template's
  const std::string* label = WorkloadTypeLabel(in.request, *in.pod);
  if (label == nullptr) return {};
  RuleOutput out;
  if (in.editable) {
    out.edits.push_back(AddLabel(*in.pod, *label));
  } else if (IsFirstWithout(in)) {
    out.AddFinding(FieldPath(*in.pod, "metadata.labels"), NotPassedOn(in, *label));
  }
  return out;
}

}  // namespace podium
