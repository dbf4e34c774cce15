// What of a cluster each purpose needs, as in ClusterSnapshot::sources.
#pragma once

#include <string_view>
#include <vector>

#include "podium/feasibility.h"

namespace podium {

// To decide about a manifest.
inline std::vector<std::string_view> DecisionResources() { return {"namespaces", "priorityclasses.scheduling.k8s.io"}; }

// To say what the scheduler does.
inline std::vector<std::string_view> FeasibilityResources() {
  return {kEvaluatedResources.begin(), kEvaluatedResources.end()};
}

// To plan budgets.
inline std::vector<std::string_view> BudgetResources() {
  return {"namespaces",
          "priorityclasses.scheduling.k8s.io",
          "poddisruptionbudgets.policy",
          "horizontalpodautoscalers.autoscaling",
          "deployments.apps",
          "statefulsets.apps",
          "replicasets.apps",
          "replicationcontrollers"};
}

}  // namespace podium
