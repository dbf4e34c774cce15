// The ladder of a policy beside the classes of a cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

enum class ClassDriftKind {
  kMissing,        // the ladder has it, the cluster does not
  kValue,          // the numbers differ: cannot be changed in place
  kPolicy,         // preemptionPolicy differs: cannot be changed in place
  kGlobalDefault,  // one is the global default and the other is not
  kManyDefaults,   // the cluster has several; the lowest value counts
};

// The word of metrics and JSON: "missing", "value", "preemption_policy", "global_default", "many_defaults".
std::string_view ToString(ClassDriftKind kind);

struct ClassDrift {
  ClassDriftKind kind = ClassDriftKind::kMissing;
  std::string class_name;
  std::string message;  // what differs and what to do, one line
  bool operator==(const ClassDrift&) const = default;
};

// In the order of the ladder; classes that only the cluster has are no drift. The cluster's classes are what pods get.
// Which of several global defaults counts: plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass.
std::vector<ClassDrift> FindClassDrift(const Policy& policy, const Table<PriorityClass>& live);

// The PriorityClass object of a row, as JSON for a server-side apply.
std::string RenderPriorityClass(const LadderClass& row);

}  // namespace podium
