// A label that names no workload type: a typing error that would silently give the default class.
#include <algorithm>

#include "rules/catalog.h"
#include "rules/wording.h"

namespace podium {
namespace {

bool OnTemplate(const PodTemplate& pod, const std::string* label) {
  const auto own = pod.metadata.labels.find(std::string(kWorkloadTypeLabel));
  return own != pod.metadata.labels.end() && &own->second == label;
}

// A label of the workload itself is told once, at the first slot that the policy is applied to.
bool ToldBefore(const RuleInput& in) {
  const std::vector<PodTemplate>& slots = in.request.object->templates;
  return std::any_of(slots.begin(), slots.end(), [&](const PodTemplate& slot) {
    return slot.changed && &slot < in.pod &&
           WorkloadTypeLabel(in.request, slot) == WorkloadTypeLabel(in.request, *in.pod);
  });
}

}  // namespace

RuleOutput UnknownWorkloadType(const RuleInput& in) {
  const std::string* label = WorkloadTypeLabel(in.request, *in.pod);
  if (label == nullptr) return {};
  const std::vector<WorkloadType>& types = in.policy.workload_types;
  const bool known = std::any_of(types.begin(), types.end(), [&](const auto& type) { return type.name == *label; });
  if (known || ToldBefore(in)) return {};
  std::vector<std::string_view> names;
  for (const WorkloadType& type : types) names.emplace_back(type.name);
  const std::string field = "metadata.labels[" + std::string(kWorkloadTypeLabel) + "]";
  RuleOutput out;
  out.AddFinding(OnTemplate(*in.pod, label) ? FieldPath(*in.pod, field) : field,
                 std::string(kWorkloadTypeLabel) + ": " + Quote(*label) + " is no workload type" +
                     EndOrDidYouMean(*label, names) + " Known: " + ListNames(names));
  return out;
}

}  // namespace podium
