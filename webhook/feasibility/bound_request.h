// What a pod's requests hold on its node, as the scheduler counts it.
// Source: component-helpers/resource/helpers.go (PodRequests, determineContainerReqs), in-place resize included.
#pragma once

#include "feasibility/scheduler_rules.h"

namespace podium {

// Of the spec alone: for the incoming pod. Limits are not read.
ResourceList SpecRequest(const PodSpec& spec);

// Of a bound or nominated pod: figures that its kubelet reports count too.
ResourceList HeldRequest(const PodSpec& spec, const SchedulingStatus& status, ResizeRule rule);

}  // namespace podium
