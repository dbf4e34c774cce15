// The arithmetic of PodDisruptionBudgets, as the disruption controller does it
// (pkg/controller/disruption/disruption.go: getExpectedPodCount; percentages round up).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "podium/policy.h"

namespace podium {

enum class Rounding { kUp, kDown };

// ScaledLimit("25%", 10, kUp) -> 3;  ScaledLimit("4", 10, kUp) -> 4. Nothing: not a whole number or percentage.
std::optional<std::int64_t> ScaledLimit(std::string_view limit, std::int64_t replicas, Rounding rounding);

// How many of `replicas` pods must stay healthy. Nothing: the template has no readable limit.
std::optional<std::int64_t> DesiredHealthy(const BudgetTemplate& budget, std::int64_t replicas);

// How many pods a rollout may take down at once. Deployments and StatefulSets both round down
// (pkg/controller/deployment/util/deployment_util.go: ResolveFenceposts; pkg/controller/statefulset:
// getStatefulSetMaxUnavailable). That both may still take one where this says 0 does not matter to a budget that leaves
// room for one eviction.
std::optional<std::int64_t> RolloutTakes(std::string_view max_unavailable, std::int64_t replicas);

}  // namespace podium
