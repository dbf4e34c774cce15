// Keeps an ObjectSink equal to what the API server has of one resource: LIST, then WATCH, for ever.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "kube/api_client.h"
#include "kube/object_sink.h"

namespace podium {

// The time a reflector lives in. Called from the reflector's thread.
class ReflectorClock {
 public:
  virtual ~ReflectorClock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point Now() const = 0;
  // Returns early when `stop` is requested.
  virtual void Wait(std::chrono::milliseconds duration, const std::stop_token& stop) = 0;
};

// The steady clock of the system. Lives as long as the process.
ReflectorClock& SystemReflectorClock();

struct ReflectorOptions {
  std::string path;         // "/api/v1/pods"
  std::string object_kind;  // "Pod": watched objects of another kind are skipped; empty: not looked at
  Query query = {};         // selectors, added to every LIST and WATCH
  // Bookmarks come about once a minute: after one and a half the connection is taken for dead.
  std::chrono::milliseconds silence{90'000};
  std::chrono::milliseconds list_time{300'000};         // of one page, or of a list in one piece
  std::size_t max_list_bytes = std::size_t{2} << 30;    // likewise; not held, only passed through
  std::size_t max_watch_bytes = std::size_t{64} << 30;  // of one watch: ten minutes at 100 MB/s
  std::uint32_t seed = 0;                               // of the jitter; 0: taken from the system
};

struct ReflectorCounters {
  std::uint64_t lists = 0;    // begun; pages are not counted
  std::uint64_t pages = 0;    // requests for a list or a part of it
  std::uint64_t watches = 0;  // begun
  std::uint64_t items = 0;    // of complete and broken lists
  std::uint64_t events = 0;   // ADDED, MODIFIED, DELETED
  std::uint64_t bookmarks = 0;
  std::uint64_t skipped = 0;      // objects the sink refused, unknown events, other kinds
  std::uint64_t refused = 0;      // replies that were not 2xx, and ERROR events
  std::uint64_t expired = 0;      // of `refused`: 410
  std::uint64_t unreachable = 0;  // no reply at all
  std::uint64_t broken = 0;       // replies that broke off, went silent or could not be read
  bool synced = false;            // a list was complete once: the sink has a view
  std::string last_error;         // one line without secrets; empty: none yet

  // Lists and watches that came to nothing. A version that is gone is none of them: that is how a list goes on.
  [[nodiscard]] std::uint64_t Failures() const { return refused - expired + unreachable + broken; }
};

// One thread, from construction to Stop. Failures are counted and tried again for ever, as list_watch.h says.
class Reflector {
 public:
  // `api`, `sink` and `clock` must outlive it. The sink is called from the reflector's thread only.
  Reflector(ApiClient& api, ObjectSink& sink, const ReflectorOptions& options,
            ReflectorClock& clock = SystemReflectorClock());
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Ends the thread, also in the middle of a silent watch or a wait; an unfinished list is abandoned. The longest
  // thing that it may have to wait for is the sink, the name resolution of the server or a credential plugin.
  void Stop();
  // Stop without the wait for the thread's end.
  void BeginStop();
  // From any thread.
  [[nodiscard]] ReflectorCounters counters() const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace podium
