// What a pod asks for, counted as the scheduler counts it.
// Source: component-helpers/resource/helpers.go (PodRequests), without in-place resize: an incoming pod has no status.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "podium/objects.h"
#include "podium/policy.h"

namespace podium {

// Per resource: max(sum of containers and sidecars, running peak of init containers), pod-level cpu, memory and
// hugepages replace the result, overhead is added. A missing request is its limit (the API server fills that in on
// Pods, not in templates). Exact amounts; round the totals.
ResourceList EffectiveRequest(const PodSpec& spec);

// Of the first entry whose pattern matches; absent: no GPU resource.
std::optional<GpuUnit> UnitOf(std::string_view resource, const std::vector<GpuResource>& gpus);

// The GPU part of it: one entry for each resource that `gpus` names (first matching pattern gives the unit), sorted by
// resource, counts rounded up to whole units, zero counts left out.
std::vector<GpuRequest> EffectiveGpuRequest(const PodSpec& spec, const std::vector<GpuResource>& gpus);

// Total units over the requests that are of `unit`.
std::int64_t TotalOf(const std::vector<GpuRequest>& requests, GpuUnit unit);

}  // namespace podium
