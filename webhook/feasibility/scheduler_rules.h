// What differs between the versions of kube-scheduler, as data.
#pragma once

#include <cstdint>
#include <string>

#include "podium/feasibility.h"

namespace podium {

enum class ResizeRule {
  kByContainer,             // 1.34, 1.35: the larger figure of each container, then the sum
  kByContainerAndPodTotal,  // 1.36: and of the pod-level figures
  kByTotals,                // 1.37: sums, then the largest
};

struct SchedulerRules {
  SchedulerVersion version;
  ResizeRule resize = ResizeRule::kByTotals;
  bool names_claims = false;             // "no new claims to deallocate, " before "preemption: "
  bool names_placement = true;           // a pod that preempts is told the node and the number of victims
  bool selects_unlabelled = false;       // namespaceSelectors of the incoming pod also match by the empty label set
  bool promises_to_gated_count = true;   // nominations of gated pods
  bool charges_after_violation = false;  // budgets behind the first broken one
  bool unstarted_in_reverse = false;     // equal pods without a start time: the later in the list comes first
  std::int32_t needed_features = 3;      // how many of the features a pod can need are known
  bool operator==(const SchedulerRules&) const = default;
};

// The rules of `version`; of the nearest known one when it is older or newer than those.
const SchedulerRules& RulesOf(SchedulerVersion version);

std::string FormatVersion(SchedulerVersion version);  // "1.36"

}  // namespace podium
