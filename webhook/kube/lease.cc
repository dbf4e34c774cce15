#include "kube/lease.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "core/jitter.h"
#include "core/text.h"

namespace podium {
namespace {

using Time = MonotonicClock::Time;
using Phase = LeaseState::Phase;
using std::chrono::duration_cast;
using std::chrono::seconds;

// Of the retry time. client-go: 1.2; but whoever looks every 2 to 4.4 s learns late that a lease is over.
constexpr double kJitter = 0.2;
constexpr std::int64_t kLongestLease = 600;    // seconds; somebody's mistake must not lock everybody out for ever
constexpr std::int64_t kReleasedDuration = 1;  // seconds, as client-go releases

// When others than its holder may take it. By this process's own clock: what the holder wrote as renewTime comes from
// another clock and may lie in the past or far in the future.
Time FreeAt(const LeaseState& state) {
  const LeaseRecord& record = state.seen->record;
  if (record.holder.empty()) return state.since;
  return state.since + seconds(std::clamp<std::int64_t>(record.duration_seconds, 1, kLongestLease));
}

LeaseRecord OwnRecord(const LeaseState& state, const LeaseCandidate& candidate, TimePoint wall) {
  LeaseRecord record;
  record.holder = candidate.identity;
  record.duration_seconds = candidate.times.duration.count();
  record.renew_time = FormatRfc3339(wall);
  record.acquire_time = record.renew_time;
  if (!state.seen || state.phase == Phase::kMake) return record;
  const LeaseRecord& before = state.seen->record;
  const bool renewal = before.holder == candidate.identity;
  if (renewal) record.acquire_time = before.acquire_time;
  // The field is an int32: a sum beyond it would be refused for ever.
  record.transitions = std::min<std::int64_t>(before.transitions + (renewal ? 0 : 1), INT32_MAX);
  return record;
}

// A change of metadata alone is no sign of life of the holder. A record that was not there at the look before was
// written after that look was sent: the lease counts from then, so that it is over within its duration of the renewal
// and not of when the renewal was seen. Not from further back than a holder's margin, though: it acts for the renew
// deadline after it sent the renewal, which was before now; that must be over, with a retry to spare, also where this
// process had been stopped between its looks.
void Observe(LeaseState& state, const StoredLease& lease, const LeaseTimes& times, Time now) {
  if (!state.seen || state.seen->record != lease.record) {
    const Time margin = times.duration - times.renew_deadline - times.retry;
    state.since = state.seen && state.looked_at ? std::max(*state.looked_at, now - margin) : now;
  }
  state.seen = lease;
}

void WaitForRetry(LeaseState& state, const LeaseCandidate& candidate, Time now) {
  const bool leads = state.held.has_value();
  const double spread = leads ? 0 : kJitter * Fraction(candidate.identity, state.tries++);
  state.not_before = now + duration_cast<Time>(std::chrono::duration<double>(candidate.times.retry) * (1 + spread));
}

// Looks again as soon as the lease is over.
void WaitForHolder(LeaseState& state, const LeaseCandidate& candidate, Time now) {
  WaitForRetry(state, candidate, now);
  state.not_before = std::min(state.not_before, FreeAt(state));
}

struct SentAndAnswered {
  Time sent;
  Time now;
};

void TakeAnswerOfLook(LeaseState& state, const LeaseCandidate& candidate, const Result<StoredLease>& answer,
                      SentAndAnswered at) {
  if (!answer && answer.error().kind == ErrorKind::kNotFound) {
    state.seen.reset();
    state.phase = Phase::kMake;
    return;
  }
  if (!answer) return WaitForRetry(state, candidate, at.now);
  Observe(state, *answer, candidate.times, at.now);
  state.looked_at = at.sent;
  const bool ours = answer->record.holder == candidate.identity;
  if (!ours) state.held.reset();
  if (ours || at.now >= FreeAt(state))
    state.phase = Phase::kTake;
  else
    WaitForHolder(state, candidate, at.now);
}

void TakeAnswerOfWrite(LeaseState& state, const LeaseCandidate& candidate, const Result<StoredLease>& answer,
                       SentAndAnswered at) {
  const bool renewal = state.phase == Phase::kHold;
  if (answer) {
    Observe(state, *answer, candidate.times, at.now);
    state.phase = Phase::kHold;
    state.held = at.sent;
    return WaitForRetry(state, candidate, at.now);
  }
  state.phase = Phase::kLook;
  const bool moved = answer.error().kind == ErrorKind::kConflict || answer.error().kind == ErrorKind::kNotFound;
  // Once at once: a leader whose lease was touched can still renew in time. Then at the usual pace, or a storm of
  // conflicts would be answered with one.
  if (!renewal || !moved) WaitForRetry(state, candidate, at.now);
}

}  // namespace

Time BootClock::Now() const {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return seconds(now.tv_sec) + Time(now.tv_nsec);
}

bool MayAct(const LeaseState& state, const LeaseTimes& times, Time now) {
  return state.held && now < *state.held + times.renew_deadline;
}

LeaseState Aged(LeaseState state, const LeaseTimes& times, Time now) {
  if (!state.held || MayAct(state, times, now)) return state;
  state.held.reset();
  // Also a write that was decided on before: what was read for it is too old.
  state.phase = Phase::kLook;
  return state;
}

LeaseStep Next(const LeaseState& state, const LeaseCandidate& candidate, Time now, TimePoint wall) {
  if (now < state.not_before) return {LeaseCall::kWait, {}, "", state.not_before - now};
  switch (state.phase) {
    case Phase::kLook: break;
    case Phase::kMake: return {LeaseCall::kCreate, OwnRecord(state, candidate, wall), "", {}};
    case Phase::kTake:
    case Phase::kHold: return {LeaseCall::kUpdate, OwnRecord(state, candidate, wall), state.seen->resource_version, {}};
  }
  return {LeaseCall::kGet, {}, "", {}};
}

LeaseState After(LeaseState state, const LeaseCandidate& candidate, const LeaseStep& step,
                 const Result<StoredLease>& answer, Time sent, Time now) {
  if (step.call == LeaseCall::kGet) TakeAnswerOfLook(state, candidate, answer, {sent, now});
  if (step.call == LeaseCall::kCreate || step.call == LeaseCall::kUpdate)
    TakeAnswerOfWrite(state, candidate, answer, {sent, now});
  return state;
}

std::optional<LeaseStep> Release(const LeaseState& state, const LeaseCandidate& candidate, TimePoint wall) {
  if (!state.held || !state.seen || state.seen->record.holder != candidate.identity) return {};
  LeaseStep step;
  step.call = LeaseCall::kUpdate;
  step.record.duration_seconds = kReleasedDuration;
  step.record.transitions = state.seen->record.transitions;
  step.record.acquire_time = step.record.renew_time = FormatRfc3339(wall);
  step.resource_version = state.seen->resource_version;
  return step;
}

// --- the thread -----------------------------------------------------------------------------------------------------

LeaseKeeper::LeaseKeeper(LeaseApi& api, LeaseClocks clocks, LeaseCandidate candidate,
                         std::function<void(std::string_view)> say)
    : api_(api), clocks_(clocks), candidate_(std::move(candidate)), say_(std::move(say)) {}

LeaseKeeper::~LeaseKeeper() { Stop(); }

bool LeaseKeeper::IsLeader() const { return clocks_.monotonic.Now().count() < act_until_.load(); }

std::string LeaseKeeper::holder() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return holder_;
}

void LeaseKeeper::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void LeaseKeeper::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  act_until_ = INT64_MIN;
  state_ = Aged(std::move(state_), candidate_.times, clocks_.monotonic.Now());
  const std::optional<LeaseStep> release = Release(state_, candidate_, clocks_.wall.Now());
  state_ = {};
  if (!release) return;
  const Result<StoredLease> answer = Call(*release);  // one try: the lease runs out by itself, too
  if (say_) say_(answer ? "lease: released" : "lease: not released: " + answer.error().message);
}

void LeaseKeeper::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Time wait = Turn();
    lock.lock();
    wake_.wait_for(lock, wait, [this] { return stopping_; });
  }
}

Time LeaseKeeper::Turn() {
  try {
    return TakeStep();
  } catch (...) {  // out of memory: what was published runs out by itself
    return candidate_.times.retry;
  }
}

Time LeaseKeeper::TakeStep() {
  state_ = Aged(std::move(state_), candidate_.times, clocks_.monotonic.Now());
  const Time sent = clocks_.monotonic.Now();
  const LeaseStep step = Next(state_, candidate_, sent, clocks_.wall.Now());
  if (step.call == LeaseCall::kWait) {
    Publish();
    return step.wait;
  }
  const Result<StoredLease> answer = Call(step);
  const Time now = clocks_.monotonic.Now();
  state_ = Aged(After(std::move(state_), candidate_, step, answer, sent, now), candidate_.times, now);
  Publish();
  SayChanges(answer);
  return std::max(Time{}, state_.not_before - now);
}

Result<StoredLease> LeaseKeeper::Call(const LeaseStep& step) {
  try {
    if (step.call == LeaseCall::kCreate) return api_.Create(step.record);
    if (step.call == LeaseCall::kUpdate) return api_.Update(step.record, step.resource_version);
    return api_.Get();
  } catch (const std::exception& failure) {
    return Error{ErrorKind::kInternal, failure.what()};
  } catch (...) {
    return Error{ErrorKind::kInternal, "an unknown exception"};
  }
}

void LeaseKeeper::Publish() {
  act_until_ = state_.held ? (*state_.held + candidate_.times.renew_deadline).count() : INT64_MIN;
  const bool leads = IsLeader();
  if (say_ && leads != said_leader_) say_(leads ? "lease: this replica leads" : "lease: this replica no longer leads");
  said_leader_ = leads;
  const std::lock_guard<std::mutex> lock(mutex_);
  holder_ = state_.seen ? state_.seen->record.holder : "";
}

// Conflicts and a missing lease are how an election goes; the rest is worth a line, once.
void LeaseKeeper::SayChanges(const Result<StoredLease>& answer) {
  const bool ordinary =
      answer || answer.error().kind == ErrorKind::kConflict || answer.error().kind == ErrorKind::kNotFound;
  const std::optional<ErrorKind> kind = ordinary ? std::nullopt : std::optional(answer.error().kind);
  if (kind == said_error_) return;
  said_error_ = kind;
  if (say_) say_(kind ? "lease: " + answer.error().message : std::string("lease: the API answers again"));
}

}  // namespace podium
