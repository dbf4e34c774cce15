// The query listener's route: feasibility for people and programs. HTTP around query/service.h.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "query/service.h"
#include "serving/http.h"
#include "serving/metrics.h"
#include "serving/worker_pool.h"

namespace podium {

// Everything pointed to must outlive the routes; `pool` is stopped before any of it ends.
struct QueryRouteDeps {
  FeasibilityService* service = nullptr;
  WorkerPool* pool = nullptr;  // a full one: 503 with Retry-After
  Metrics* metrics = nullptr;
  SteadyNow steady_now = std::chrono::steady_clock::now;
};

// POST /v1/feasibility. The reactor only hands the question over; a thread of the pool answers. Each answer to a caller
// who is known is a line in the log (user, object, outcome, verdict; never the token or the body); of other failures a
// line in 10 s.
std::vector<Route> QueryRoutes(QueryRouteDeps deps);

}  // namespace podium
