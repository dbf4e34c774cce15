// The keys of a ResourceQuota that name GPUs. For extended resources Kubernetes charges `requests.<name>` only; it
// stores the others without complaint. Source: pkg/quota/v1/evaluator/core/pods.go, podComputeUsageHelper.
#pragma once

#include <string_view>
#include <vector>

#include "podium/quantity.h"
#include "rules/catalog.h"

namespace podium {

struct GpuQuotaKey {
  std::string_view key;       // "limits.nvidia.com/gpu"
  std::string_view resource;  // "nvidia.com/gpu"
  bool charged = false;       // its prefix is "requests."
  Quantity amount;
};

// Those of the request's quota, in key order; views into the request. Empty when there is no quota.
std::vector<GpuQuotaKey> GpuQuotaKeys(const RuleInput& in);

}  // namespace podium
