// Whose rules go for a live cluster: kube-scheduler is taken to be of the API server's version.
#pragma once

#include <chrono>
#include <functional>

#include "core/mutex.h"
#include "kube/api_client.h"
#include "podium/feasibility.h"

namespace podium {

// Thread-safe. The version is read with the first question, and again every ten minutes: control planes are upgraded
// under a running server. While it cannot be read the last one counts, at first the newest that is known.
class LiveVersion {
 public:
  using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

  explicit LiveVersion(ApiClient& api, SteadyNow now = std::chrono::steady_clock::now);  // `api` must outlive it
  // May take as long as a call to the API server; others are not kept waiting by it.
  SchedulerVersion Get();

 private:
  ApiClient& api_;
  const SteadyNow now_;
  Mutex mutex_;
  SchedulerVersion version_ PODIUM_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point due_ PODIUM_GUARDED_BY(mutex_){};
};

}  // namespace podium
