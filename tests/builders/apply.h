// Edits carried out on the decoded values, written a second time by hand: what the API server stores after our patch
// and what its Priority step then fills in.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "podium/admission.h"
#include "rules/classes.h"

namespace podium::builders {

inline std::string TextOf(const Edit& edit) { return std::get<std::string>(edit.after.value()); }

// Throws on an edit that does not apply, as an RFC 6902 library would refuse it.
inline void ApplyTo(PodTemplate& slot, const Edit& edit) {
  const std::string field = edit.path.substr(slot.path.size());
  Trio& trio = slot.spec.trio;
  if (field == "/spec/priorityClassName") {
    trio.class_name = TextOf(edit);
  } else if (field == "/spec/priority" && !edit.after && trio.priority) {
    trio.priority.reset();
  } else if (field == "/spec/preemptionPolicy" && !edit.after && trio.preemption_policy) {
    trio.preemption_policy.reset();
  } else if (field == "/metadata/labels/podium.gpu~1workload-type") {
    const std::string missing = !slot.has_metadata ? "/metadata" : !slot.metadata.has_labels ? "/metadata/labels" : "";
    if (edit.missing_parent != (missing.empty() ? "" : slot.path + missing))
      throw std::logic_error("wrong parent: " + edit.missing_parent);
    slot.has_metadata = slot.metadata.has_labels = true;
    slot.metadata.labels["podium.gpu/workload-type"] = TextOf(edit);
  } else if (field == "/metadata/annotations/podium.gpu~1injected-by" && slot.path.empty()) {
    if (edit.missing_parent.empty() != slot.metadata.has_annotations)
      throw std::logic_error("wrong parent: " + edit.missing_parent);
    slot.metadata.has_annotations = true;
  } else {
    throw std::logic_error("does not apply: " + edit.path);
  }
}

inline AdmissionObject Applied(AdmissionObject object, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    PodTemplate* target = nullptr;
    for (PodTemplate& slot : object.templates)
      if (edit.path.starts_with(slot.path + "/spec/") || edit.path.starts_with(slot.path + "/metadata/"))
        target = &slot;
    if (target == nullptr) throw std::logic_error("no such slot: " + edit.path);
    ApplyTo(*target, edit);
  }
  return object;
}

// The Priority step after the webhooks. False: it refuses the pod.
// Source: plugin/pkg/admission/priority/admission.go.
inline bool PassesPriorityStep(PodTemplate& pod, const ClassView& classes) {
  Trio& trio = pod.spec.trio;
  const bool named = trio.class_name && !trio.class_name->empty();
  const PriorityClass* row = named ? classes.Find(*trio.class_name) : classes.GlobalDefault();
  if (named && row == nullptr) return false;
  Trio computed{std::nullopt, 0, PreemptionPolicy::kPreemptLowerPriority};
  if (row != nullptr) computed = {row->name, row->value, row->preemption_policy};
  if (trio.priority && trio.priority != computed.priority) return false;
  if (trio.preemption_policy && trio.preemption_policy != computed.preemption_policy) return false;
  trio = computed;
  return true;
}

}  // namespace podium::builders
