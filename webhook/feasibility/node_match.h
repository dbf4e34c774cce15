// What of a node a pod accepts: taints, labels, names.
// Source: component-helpers/scheduling/corev1 (helpers.go, nodeaffinity), api/core/v1/toleration.go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podium/objects.h"

namespace podium {

// Gt and Lt tolerate nothing: their gate is off by default.
bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

// False when a taint NoSchedule or NoExecute is not tolerated.
bool ToleratesTaintsOf(const SchedulingSpec& pod, const Node& node);

// nodeSelector and the required node affinity.
bool AcceptsLabelsOf(const SchedulingSpec& pod, const Node& node);

// The only nodes that node affinity allows by name, sorted; absent: it does not restrict names. Empty: the terms
// contradict each other.
std::optional<std::vector<std::string>> NodesByName(const SchedulingSpec& pod);

}  // namespace podium
