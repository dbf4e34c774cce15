// Copies of a pod that differ in one thing. The pod itself never changes.
#pragma once

#include <string>
#include <utility>

#include "podium/objects.h"

namespace podium {

inline Pod WithScheduling(Pod pod, SchedulingSpec scheduling) {
  pod.scheduling = std::move(scheduling);
  return pod;
}

// The pod asks for at most `total` of a resource, its overhead included: containers keep what they ask for in the order
// in which they are listed, sidecars first, and those behind get what is left. A limit that equalled the request
// follows it, as it must for GPUs.
Pod WithAtMost(Pod pod, const std::string& resource, Quantity total);

}  // namespace podium
