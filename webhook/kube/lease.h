// One of several replicas leads: a coordination.k8s.io/v1 Lease, kept the way client-go keeps it
// (staging/src/k8s.io/client-go/tools/leaderelection/leaderelection.go), with a stricter idea of when to stop and a
// sharper one of when a lease is over: the gap after a leader's sudden death is the lease, not the lease and some
// looks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "podium/ports.h"
#include "podium/result.h"

namespace podium {

// Time that never jumps and goes on while the process is stopped. Thread-safe.
class MonotonicClock {
 public:
  using Time = std::chrono::nanoseconds;  // since some fixed instant
  virtual ~MonotonicClock() = default;
  [[nodiscard]] virtual Time Now() const = 0;
};

// CLOCK_BOOTTIME: goes on while the machine sleeps, too.
class BootClock final : public MonotonicClock {
 public:
  [[nodiscard]] Time Now() const override;
};

// Of the Lease's spec. Times are kept as text: whatever somebody wrote there is only compared, never believed.
struct LeaseRecord {
  std::string holder;  // empty: released
  std::int64_t duration_seconds = 0;
  std::string acquire_time;  // RFC 3339 with microseconds
  std::string renew_time;
  std::int64_t transitions = 0;
  bool operator==(const LeaseRecord&) const = default;
};

struct StoredLease {
  LeaseRecord record;
  std::string resource_version;
  bool operator==(const StoredLease&) const = default;
};

// Called from one thread. A call must end within 3 s: a renewal that hangs is leadership lost.
class LeaseApi {
 public:
  virtual ~LeaseApi() = default;
  virtual Result<StoredLease> Get() = 0;                              // kNotFound: there is none
  virtual Result<StoredLease> Create(const LeaseRecord& record) = 0;  // kConflict: there is one already
  // kConflict: the stored version is another; kNotFound: it was deleted.
  virtual Result<StoredLease> Update(const LeaseRecord& record, const std::string& resource_version) = 0;
};

// client-go's usual times. Requires: duration > renew_deadline > retry.
struct LeaseTimes {
  std::chrono::seconds duration{15};        // others wait as long for a sign of life
  std::chrono::seconds renew_deadline{10};  // not renewed for as long: this process stops acting
  std::chrono::seconds retry{2};            // between tries; up to a fifth on top while it is not the leader
};

// --- the state machine ----------------------------------------------------------------------------------------------

enum class LeaseCall { kWait, kGet, kCreate, kUpdate };

struct LeaseStep {
  LeaseCall call = LeaseCall::kWait;
  LeaseRecord record;            // of kCreate and kUpdate
  std::string resource_version;  // of kUpdate
  MonotonicClock::Time wait{};   // of kWait
  bool operator==(const LeaseStep&) const = default;
};

// What one candidate knows. Pure: Next says what to do, After takes what came of it.
//
//   kLook --Get: free or expired--> kTake --Update--> kHold (renews every 2 s)
//   kLook --Get: not found--> kMake --Create--> kHold
//   kHold --Update refused (409, 404)--> kLook, at once;  any other failure --> kLook, after 2 s
//   any of them --10 s after the last renewal was sent--> not acting any more; it must look before it writes
struct LeaseState {
  enum class Phase { kLook, kMake, kTake, kHold };

  Phase phase = Phase::kLook;
  std::optional<StoredLease> seen;                // as last answered
  MonotonicClock::Time since{};                   // when its record was written, at the earliest (Observe in lease.cc)
  std::optional<MonotonicClock::Time> looked_at;  // when the last look that was answered was sent
  std::optional<MonotonicClock::Time> held;       // when the last renewal that succeeded was sent
  MonotonicClock::Time not_before{};              // of the next call
  std::uint64_t tries = 0;                        // spreads the waiting times
  bool operator==(const LeaseState&) const = default;
};

struct LeaseCandidate {
  std::string identity;  // of this process alone, also after a restart: host name and something random
  LeaseTimes times;
};

// Whether the process may act. From when the renewal was *sent*, so that the lease as others see it cannot be over.
bool MayAct(const LeaseState& state, const LeaseTimes& times, MonotonicClock::Time now);

// What the state is once time has passed: a leader that could not renew is none.
LeaseState Aged(LeaseState state, const LeaseTimes& times, MonotonicClock::Time now);

// Requires: `state` is Aged. `wall` only goes into the record, for people.
LeaseStep Next(const LeaseState& state, const LeaseCandidate& candidate, MonotonicClock::Time now, TimePoint wall);

// `answer` is that of `step`, which was sent at `sent`; `now` is after it came.
LeaseState After(LeaseState state, const LeaseCandidate& candidate, const LeaseStep& step,
                 const Result<StoredLease>& answer, MonotonicClock::Time sent, MonotonicClock::Time now);

// What gives the lease back. Nothing: it is not ours to give.
std::optional<LeaseStep> Release(const LeaseState& state, const LeaseCandidate& candidate, TimePoint wall);

// --- the thread -----------------------------------------------------------------------------------------------------

struct LeaseClocks {
  const MonotonicClock& monotonic;
  const Clock& wall;
};

// Keeps trying to lead. `api` and clocks must outlive it.
class LeaseKeeper final : public Leadership {
 public:
  // `say` gets one line when leadership comes or goes and when the API answers differently than before; may be empty,
  // must not throw.
  LeaseKeeper(LeaseApi& api, LeaseClocks clocks, LeaseCandidate candidate, std::function<void(std::string_view)> say);
  ~LeaseKeeper() override;  // Stop()
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  [[nodiscard]] bool IsLeader() const override;  // thread-safe, does not block

  void Start();  // once only
  // Ends the thread and gives the lease back. Stop first what acts on IsLeader(): it is false from here on, but a write
  // that is under way would meet the next leader's.
  void Stop();

  // One step; how long to wait before the next. Not to be called while the thread runs. Never throws.
  MonotonicClock::Time Turn();

  // Who held the lease when it was last read; empty: nobody. Thread-safe.
  [[nodiscard]] std::string holder() const;

 private:
  MonotonicClock::Time TakeStep();
  Result<StoredLease> Call(const LeaseStep& step);
  void Publish();
  void SayChanges(const Result<StoredLease>& answer);
  void Loop();

  LeaseApi& api_;
  const LeaseClocks clocks_;
  const LeaseCandidate candidate_;
  const std::function<void(std::string_view)> say_;

  // Of the thread.
  LeaseState state_;
  bool said_leader_ = false;
  std::optional<ErrorKind> said_error_;

  // Shared.
  std::atomic<std::int64_t> act_until_{INT64_MIN};  // MonotonicClock, nanoseconds
  mutable std::mutex mutex_;                        // of the three below
  std::condition_variable wake_;
  bool stopping_ = false;
  std::string holder_;
  std::thread thread_;
};

}  // namespace podium
