#include "cli/live_version.h"

#include <utility>

#include "kube/server_version.h"

namespace podium {
namespace {

constexpr std::chrono::minutes kGoodFor{10};
constexpr std::chrono::seconds kRetry{10};

Result<SchedulerVersion> Ask(ApiClient& api) {
  const Result<std::string> text = ReadServerVersion(api);
  if (!text) return text.error();
  return ParseSchedulerVersion(*text);
}

}  // namespace

LiveVersion::LiveVersion(ApiClient& api, SteadyNow now) : api_(api), now_(std::move(now)) {}

SchedulerVersion LiveVersion::Get() {
  {
    const MutexLock lock(mutex_);
    if (now_() < due_) return version_;
    due_ = now_() + kRetry;  // whoever comes meanwhile takes the one that is known
  }
  const Result<SchedulerVersion> version = Ask(api_);
  const MutexLock lock(mutex_);
  if (version) {
    version_ = *version;
    due_ = now_() + kGoodFor;
  }
  return version_;
}

}  // namespace podium
