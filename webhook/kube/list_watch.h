// What a client of LIST and WATCH does next, for one resource. A pure state machine: no clock, no socket, no chance.
// Source: Kubernetes client-go tools/cache/reflector.go; the differences are named where they are.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace podium {

// How the next list is asked for. The first one comes from the API server's cache, and so does one that follows a
// watch; only when that is refused etcd has to answer.
enum class ListMode {
  kCached,  // resourceVersion=0, or the last one seen ("not older than"); never in pages: the server would ignore them
  kPages,   // resourceVersion="" in pages of 500
  kWhole,   // resourceVersion="" in one piece: the pages expired under our hands
};

struct ListWatchState {
  enum class Phase { kList, kWatch };
  Phase phase = Phase::kList;
  ListMode mode = ListMode::kCached;
  std::string resource_version = {};  // of the last list, event or bookmark; opaque
  std::string continue_token = {};    // of the next page
  int failures = 0;                   // in a row; decides the back-off
  std::chrono::milliseconds healthy{0};
  bool operator==(const ListWatchState&) const = default;
};

// What came of the last action.
enum class OutcomeKind {
  kListed,       // a page, complete
  kRefused,      // a reply that is not 2xx, or an ERROR event of a watch
  kUnreachable,  // no reply: connection refused, timeout, TLS
  kBroken,       // a reply that ended or went silent before it was complete, or that could not be read
  kClosed,       // a watch that the server ended in order
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kUnreachable;
  std::string resource_version = {};        // the list's, or the last one the watch brought; empty: none
  std::string continue_token = {};          // of a page
  int code = 0;                             // of kRefused: the HTTP status or the Status object's code; 0: none
  bool resource_version_too_large = false;  // of kRefused: the server's cache is behind what we have seen
  std::optional<std::chrono::milliseconds> retry_after = {};  // what the server asked for
  std::uint64_t events = 0;                                   // of a watch, bookmarks included
  std::chrono::milliseconds lasted{0};
  double chance = 0;  // a random number in [0, 1), for the jitter
};

struct ListRequest {
  std::string resource_version;
  int limit = 0;  // 0: not asked for
  std::string continue_token;
  bool operator==(const ListRequest&) const = default;
};

// What to do, after `wait`. A list without continue_token is a new one: what an unfinished one brought is void.
struct ListWatchStep {
  ListWatchState state;
  std::chrono::milliseconds wait{0};
};

// Where every reflector begins.
ListWatchState FirstState();

// From one action's outcome to the next action. At most one LIST for each recovery: a connection that fails or breaks
// resumes the watch where it was, so that a restarted API server is not met by a list from everybody.
ListWatchStep Step(ListWatchState state, const Outcome& outcome);

// The action of a state in phase kList.
ListRequest ListOf(const ListWatchState& state);

// timeoutSeconds of a watch, 300 to 600: spreads the watches of all clients. `chance` in [0, 1).
int WatchSeconds(double chance);

}  // namespace podium
