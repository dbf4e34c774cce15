// What the API server said of callers, remembered for seconds, and how often it may be asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/mutex.h"
#include "podium/ports.h"

namespace podium {

using SteadyTime = std::chrono::steady_clock::time_point;
using SteadyNow = std::function<SteadyTime()>;

// Values that are good until a time of their own; over `capacity` the one that came first goes.
template <typename Value>
class ExpiringMap {
 public:
  explicit ExpiringMap(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] std::optional<Value> Find(const std::string& key, SteadyTime now) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.until <= now) return std::nullopt;
    return found->second.value;
  }

  void Put(const std::string& key, Value value, SteadyTime until) {
    const auto [entry, added] = entries_.insert_or_assign(key, Entry{std::move(value), until});
    if (!added) return;
    order_.push_back(key);
    if (order_.size() <= capacity_) return;
    entries_.erase(order_.front());
    order_.pop_front();
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Value value;
    SteadyTime until;
  };

  std::size_t capacity_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> order_;  // of the keys, as they came
};

struct AccessCacheLimits {
  std::size_t entries = 1024;  // of each of the four kinds of answers
  // A token that is withdrawn, and a right that is, count this much longer. When a token expires is not told.
  std::chrono::milliseconds yes{10'000};
  std::chrono::milliseconds no{2'000};  // of a token; of a right it counts as long as a yes
  // Questions to the API server; as many may come at once after a second of silence. Apart, so that tokens which
  // nobody knows do not use up what those who are known need: up to a dozen rights for one answer.
  std::int64_t tokens_per_second = 50;
  std::int64_t rights_per_second = 200;
  // After so many failures in a row nobody is asked for a while: threads that wait for an API server that is away would
  // be missing for those whose answers are known.
  int failures = 4;
  std::chrono::milliseconds pause{1'000};
};

struct AccessCounters {
  std::uint64_t remembered = 0;  // answered without the API server
  std::uint64_t asked = 0;       // of the API server, with an answer
  std::uint64_t failed = 0;      // the same without one
  std::uint64_t held_back = 0;   // not asked: too many questions, or a pause
};

// Thread-safe. The tokens themselves are not kept: answers are found by their SHA-256. Nobody's answer pushes out a
// yes: whoever tries tokens fills a map of their own.
class AccessCache final : public AccessReviewer {
 public:
  // `behind` must outlive it.
  explicit AccessCache(AccessReviewer& behind, const AccessCacheLimits& limits = {},
                       SteadyNow now = std::chrono::steady_clock::now);

  // Errors: those of `behind`, and kUnavailable while it is not asked.
  Result<std::optional<Caller>> WhoIs(std::string_view token) override;
  Result<bool> May(const Caller& caller, const AccessQuestion& question) override;

  [[nodiscard]] AccessCounters counters() const;

 private:
  // Refills with time; one is taken for each question.
  struct Allowance {
    std::int64_t per_second = 0;
    double left = 0;
    SteadyTime counted_at{};
  };

  Status Admit(Allowance& allowance);
  void Note(bool answered);

  AccessReviewer& behind_;
  const AccessCacheLimits limits_;
  const SteadyNow now_;
  mutable Mutex mutex_;  // never held while `behind` is asked
  ExpiringMap<Caller> callers_ PODIUM_GUARDED_BY(mutex_);
  ExpiringMap<bool> strangers_ PODIUM_GUARDED_BY(mutex_);
  ExpiringMap<bool> allowed_ PODIUM_GUARDED_BY(mutex_);
  ExpiringMap<bool> refused_ PODIUM_GUARDED_BY(mutex_);
  Allowance tokens_ PODIUM_GUARDED_BY(mutex_);
  Allowance rights_ PODIUM_GUARDED_BY(mutex_);
  int failures_ PODIUM_GUARDED_BY(mutex_) = 0;
  SteadyTime paused_until_ PODIUM_GUARDED_BY(mutex_){};
  AccessCounters counters_ PODIUM_GUARDED_BY(mutex_);
};

}  // namespace podium
