#include "query/access_cache.h"

#include <algorithm>

#include "core/digest.h"

namespace podium {
namespace {

// With its length in front no two lists of texts look alike.
void Append(std::string& key, std::string_view text) {
  key += std::to_string(text.size()) + ':';
  key += text;
}

std::string KeyOf(const Caller& caller, const AccessQuestion& question) {
  std::string key;
  for (const std::string* text :
       {&question.verb, &question.resource, &question.namespace_name, &caller.user, &caller.uid})
    Append(key, *text);
  key += std::to_string(caller.groups.size()) + '/';
  for (const std::string& group : caller.groups) Append(key, group);
  for (const auto& [name, values] : caller.extra) {
    Append(key, name);
    key += std::to_string(values.size()) + '/';
    for (const std::string& value : values) Append(key, value);
  }
  return Sha256Hex(key);
}

}  // namespace

AccessCache::AccessCache(AccessReviewer& behind, const AccessCacheLimits& limits, SteadyNow now)
    : behind_(behind),
      limits_(limits),
      now_(std::move(now)),
      callers_(limits.entries),
      strangers_(limits.entries),
      allowed_(limits.entries),
      refused_(limits.entries),
      tokens_{limits.tokens_per_second, static_cast<double>(limits.tokens_per_second), now_()},
      rights_{limits.rights_per_second, static_cast<double>(limits.rights_per_second), now_()} {}

Result<std::optional<Caller>> AccessCache::WhoIs(std::string_view token) {
  const std::string key = Sha256Hex(token);
  {
    const MutexLock lock(mutex_);
    std::optional<Caller> caller = callers_.Find(key, now_());
    if (caller || strangers_.Find(key, now_())) {
      ++counters_.remembered;
      return caller;
    }
  }
  if (const Status admitted = Admit(tokens_); !admitted) return admitted.error();
  Result<std::optional<Caller>> answer = behind_.WhoIs(token);
  Note(answer.ok());
  if (!answer) return answer;
  const MutexLock lock(mutex_);
  if (*answer)
    callers_.Put(key, **answer, now_() + limits_.yes);
  else
    strangers_.Put(key, true, now_() + limits_.no);
  return answer;
}

Result<bool> AccessCache::May(const Caller& caller, const AccessQuestion& question) {
  const std::string key = KeyOf(caller, question);
  {
    const MutexLock lock(mutex_);
    const bool allowed = allowed_.Find(key, now_()).has_value();
    if (allowed || refused_.Find(key, now_())) {
      ++counters_.remembered;
      return allowed;
    }
  }
  if (const Status admitted = Admit(rights_); !admitted) return admitted.error();
  Result<bool> answer = behind_.May(caller, question);
  Note(answer.ok());
  if (!answer) return answer;
  const MutexLock lock(mutex_);
  if (*answer)
    allowed_.Put(key, true, now_() + limits_.yes);
  else
    refused_.Put(key, true, now_() + limits_.yes);
  return answer;
}

// Whether the API server may be asked now.
Status AccessCache::Admit(Allowance& allowance) {
  const MutexLock lock(mutex_);
  const SteadyTime now = now_();
  if (now < paused_until_) {
    ++counters_.held_back;
    return Error{ErrorKind::kUnavailable, "the API server has failed several times; it is asked again in a moment"};
  }
  const auto most = static_cast<double>(allowance.per_second);
  const double seconds = std::chrono::duration<double>(now - allowance.counted_at).count();
  allowance.left = std::min(most, allowance.left + most * seconds);
  allowance.counted_at = now;
  if (allowance.left < 1) {
    ++counters_.held_back;
    return Error{ErrorKind::kUnavailable, "more than " + std::to_string(allowance.per_second) +
                                              " questions a second about callers are not put to the API server"};
  }
  allowance.left -= 1;
  return {};
}

void AccessCache::Note(bool answered) {
  const MutexLock lock(mutex_);
  ++(answered ? counters_.asked : counters_.failed);
  failures_ = answered ? 0 : failures_ + 1;
  if (failures_ >= limits_.failures) paused_until_ = now_() + limits_.pause;
}

AccessCounters AccessCache::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

}  // namespace podium
