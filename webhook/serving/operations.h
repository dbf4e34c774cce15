// The operations listener: health for the kubelet, metrics for Prometheus. Plain HTTP, no object names in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "serving/http.h"
#include "serving/metrics.h"

namespace podium {

enum class SnapshotNeed { kOptional, kRequired };  // kRequired: not ready before the first sync

struct OperationsDeps {
  MetricSources sources;
  const Metrics* metrics = nullptr;  // required
  SnapshotNeed snapshot = SnapshotNeed::kOptional;
  std::function<std::vector<std::string>()> unsynced;  // what has not been read yet, for people; may be empty
};

// GET /livez (the process serves), /readyz (send traffic here: a policy is loaded, not draining, snapshot synced where
// required; ?verbose lists the checks and how fresh each watched resource is), /healthz (livez with the list of
// checks), /metrics (Prometheus text). Thread-safe. Everything `deps` points to must outlive the routes.
std::vector<Route> OperationsRoutes(OperationsDeps deps);

}  // namespace podium
