// The decision. Pure: no clock, log, random, global or thread; the same for the server and the command line.
#pragma once

#include <string>

#include "podium/admission.h"

namespace podium {

struct DecideOptions {
  std::string own_namespace = "podium-system";  // where Podium itself runs: never touched
};

// Cannot fail: every problem is a finding or `internal_error`, and the policy's posture turns that into a verdict.
// A null snapshot means "not synced" (or no cluster): the policy's ladder stands in for the classes.
Decision Decide(const AdmissionRequest& request, const Policy& policy, const ClusterSnapshot* snapshot,
                const DecideOptions& options, TimePoint now);

// The workload type of one pod slot: first match in policy order. `request` gives namespace and kind.
Classification Classify(const AdmissionRequest& request, const PodTemplate& pod, const std::vector<GpuRequest>& gpus,
                        const Policy& policy, const ClusterSnapshot* snapshot);

}  // namespace podium
