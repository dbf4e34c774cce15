// Whose rules go for a live cluster: kube-scheduler is taken to be of the API server's version.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "cli/log.h"
#include "core/mutex.h"
#include "kube/api_client.h"
#include "podium/feasibility.h"
#include "podium/result.h"

namespace podium {

// Thread-safe. The version is read with the first question, and again every ten minutes: control planes are upgraded
// under a running server. While it cannot be read the last one counts, at first the newest that is known.
class LiveVersion {
 public:
  using Say = std::function<void(LogLevel level, std::string_view line)>;
  using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

  // `api` must outlive it. `say` gets a line when the version is another, or cannot be read; may be empty.
  explicit LiveVersion(ApiClient& api, Say say = {}, SteadyNow now = std::chrono::steady_clock::now);
  // May take as long as a call to the API server; others are not kept waiting by it.
  SchedulerVersion Get();

 private:
  void Take(const Result<SchedulerVersion>& answer) PODIUM_REQUIRES(mutex_);

  ApiClient& api_;
  const Say say_;
  const SteadyNow now_;
  Mutex mutex_;
  SchedulerVersion version_ PODIUM_GUARDED_BY(mutex_);
  bool is_known_ PODIUM_GUARDED_BY(mutex_) = false;
  std::string problem_ PODIUM_GUARDED_BY(mutex_);  // the last one that was said
  std::chrono::steady_clock::time_point due_ PODIUM_GUARDED_BY(mutex_){};
};

}  // namespace podium
