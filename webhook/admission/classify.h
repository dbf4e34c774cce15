// The workload behind a request as far as the request shows it; what matching and exemptions go by.
#pragma once

#include <array>
#include <string_view>

#include "podium/admission.h"

namespace podium {

// The object itself and what stands above it: a pod of a Deployment is a Pod, a ReplicaSet's and (by its
// pod-template-hash) a Deployment's. A Job's own CronJob is seen on the Job, not on its pods. Views into the request.
struct VisibleWorkload {
  std::array<std::string_view, 3> kinds;  // unused places are empty
  std::array<std::string_view, 3> names;  // of the same; a pod's Deployment by its ReplicaSet's name without the hash
};

VisibleWorkload SeeWorkload(const AdmissionRequest& request);

// `exemption` frees this workload from `rule` at `now`.
bool IsExempted(const Exemption& exemption, std::string_view rule, const AdmissionRequest& request, TimePoint now);

}  // namespace podium
