#include "kube/list_watch.h"

#include <algorithm>
#include <utility>

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr int kPageSize = 500;
constexpr milliseconds kFirstBackoff{800};
constexpr milliseconds kLastBackoff{30'000};
constexpr milliseconds kHealthyAfter{120'000};
constexpr milliseconds kShortWatch{1'000};
constexpr milliseconds kLongestRetryAfter{300'000};  // what a server may ask for at most: an outage must end by itself
constexpr int kGone = 410;
constexpr int kTooManyRequests = 429;

// 0.8 s, doubled with each failure up to 30 s, and up to as much again at random.
milliseconds Backoff(int failures, double chance) {
  const int doublings = std::clamp(failures - 1, 0, 6);
  const milliseconds base = std::min(kFirstBackoff * (1 << doublings), kLastBackoff);
  return base + std::chrono::duration_cast<milliseconds>(base * std::clamp(chance, 0.0, 1.0));
}

// Two healthy minutes forgive all failures.
void CountHealth(ListWatchState& state, const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kUnreachable && outcome.kind != OutcomeKind::kListed)
    state.healthy += outcome.lasted;
  if (state.healthy >= kHealthyAfter) state.failures = 0;
}

ListWatchStep AtOnce(ListWatchState state) { return {std::move(state), milliseconds{0}}; }

ListWatchStep AfterFailure(ListWatchState state, const Outcome& outcome) {
  state.failures = std::min(state.failures + 1, 1'000);
  state.healthy = milliseconds{0};
  milliseconds wait = Backoff(state.failures, outcome.chance);
  if (outcome.retry_after) wait = std::max(wait, std::min(*outcome.retry_after, kLongestRetryAfter));
  return {std::move(state), wait};
}

// A new list, from its first page.
ListWatchState Listing(ListWatchState state, ListMode mode) {
  state.phase = ListWatchState::Phase::kList;
  state.mode = mode;
  state.continue_token.clear();
  return state;
}

// --- after a list ---------------------------------------------------------------------------------------------------

ListWatchStep AfterPage(ListWatchState state, const Outcome& outcome) {
  state.continue_token = outcome.continue_token;
  if (!state.continue_token.empty()) return AtOnce(std::move(state));
  state.phase = ListWatchState::Phase::kWatch;
  state.mode = ListMode::kCached;
  state.resource_version = outcome.resource_version;
  return AtOnce(std::move(state));
}

// The version or the pages that were asked for are gone. Each way out is tried at once, but only once: the last one
// leads back to the pages after a wait.
ListWatchStep AfterExpiredList(const ListWatchState& state, const Outcome& outcome) {
  if (state.mode == ListMode::kCached) return AtOnce(Listing(state, ListMode::kPages));
  if (!state.continue_token.empty()) return AtOnce(Listing(state, ListMode::kWhole));
  return AfterFailure(Listing(state, ListMode::kPages), outcome);
}

ListWatchStep AfterList(ListWatchState state, const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::kListed) return AfterPage(std::move(state), outcome);
  const bool expired = outcome.code == kGone || outcome.resource_version_too_large;
  if (outcome.kind == OutcomeKind::kRefused && expired) return AfterExpiredList(state, outcome);
  // Also in the middle of the pages: what came of the failed page cannot be told from what did not.
  const ListMode mode = state.mode == ListMode::kWhole ? ListMode::kPages : state.mode;
  return AfterFailure(Listing(std::move(state), mode), outcome);
}

// --- after a watch --------------------------------------------------------------------------------------------------

ListWatchStep AfterRefusedWatch(ListWatchState state, const Outcome& outcome) {
  const bool server_is_busy = outcome.code == kTooManyRequests || (outcome.code >= 500 && outcome.code <= 599);
  if (server_is_busy) return AfterFailure(std::move(state), outcome);
  return AfterFailure(Listing(std::move(state), ListMode::kCached), outcome);
}

ListWatchStep AfterWatch(ListWatchState state, const Outcome& outcome) {
  if (!outcome.resource_version.empty()) state.resource_version = outcome.resource_version;
  if (outcome.kind == OutcomeKind::kRefused) return AfterRefusedWatch(std::move(state), outcome);
  // Stricter than client-go for a broken one: an answer that is cut at once, again and again, may bring events each
  // time.
  const bool fruitless = outcome.events == 0 || outcome.kind == OutcomeKind::kBroken;
  const bool too_short = outcome.lasted < kShortWatch && fruitless;
  if (outcome.kind == OutcomeKind::kUnreachable || too_short) return AfterFailure(std::move(state), outcome);
  return AtOnce(std::move(state));
}

}  // namespace

ListWatchState FirstState() { return {}; }

ListWatchStep Step(ListWatchState state, const Outcome& outcome) {
  CountHealth(state, outcome);
  if (state.phase == ListWatchState::Phase::kList) return AfterList(std::move(state), outcome);
  return AfterWatch(std::move(state), outcome);
}

ListRequest ListOf(const ListWatchState& state) {
  ListRequest request;
  if (state.mode == ListMode::kCached)
    request.resource_version = state.resource_version.empty() ? "0" : state.resource_version;
  if (state.mode == ListMode::kPages) request.limit = kPageSize;
  request.continue_token = state.continue_token;
  return request;
}

int WatchSeconds(double chance) {
  constexpr int kShortest = 300;
  constexpr int kLongest = 600;
  return kShortest + static_cast<int>((kLongest - kShortest + 1) * std::clamp(chance, 0.0, 0.999'999));
}

}  // namespace podium
