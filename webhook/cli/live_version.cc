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

std::string Text(SchedulerVersion version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

}  // namespace

LiveVersion::LiveVersion(ApiClient& api, Say say, SteadyNow now)
    : api_(api), say_(std::move(say)), now_(std::move(now)) {}

SchedulerVersion LiveVersion::Get() {
  {
    const MutexLock lock(mutex_);
    if (now_() < due_) return version_;
    due_ = now_() + kRetry;  // whoever comes meanwhile takes the one that is known
  }
  const Result<SchedulerVersion> answer = Ask(api_);
  const MutexLock lock(mutex_);
  Take(answer);
  return version_;
}

void LiveVersion::Take(const Result<SchedulerVersion>& answer) {
  const std::string problem = answer ? "" : answer.error().message;
  if (say_ && !answer && problem != problem_)
    say_(LogLevel::kWarning, "the rules of kube-scheduler " + Text(version_) + " are used: " + problem);
  problem_ = problem;
  if (!answer) return;
  due_ = now_() + kGoodFor;
  if (say_ && (!is_known_ || *answer != version_))
    say_(LogLevel::kInfo, "kube-scheduler " + Text(*answer) + ", by the API server's version");
  is_known_ = true;
  version_ = *answer;
}

}  // namespace podium
