#include "kube/reflector.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "core/mutex.h"
#include "kube/api_status.h"
#include "kube/item_splitter.h"
#include "kube/list_watch.h"
#include "kube/watch_event.h"

namespace podium {
namespace {

constexpr std::chrono::milliseconds kAfterNoMemory{5'000};

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class SystemClock final : public ReflectorClock {
 public:
  [[nodiscard]] steady_clock::time_point Now() const override { return steady_clock::now(); }
  void Wait(milliseconds duration, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, duration, [] { return false; });
  }
};

// The counters, shared between the reflector's thread and its readers.
class Tally {
 public:
  template <typename Change>
  void Update(Change change) {
    const MutexLock lock(mutex_);
    change(counters_);
  }
  [[nodiscard]] ReflectorCounters Read() const {
    const MutexLock lock(mutex_);
    return counters_;
  }

 private:
  mutable Mutex mutex_;
  ReflectorCounters counters_ PODIUM_GUARDED_BY(mutex_);
};

// --- what a body is read with ---------------------------------------------------------------------------------------

class ListReceiver final : public ByteReceiver {
 public:
  ListReceiver(ObjectSink& sink, Tally& tally) : sink_(sink), tally_(tally) {}

  void Opened() override { opened_ = true; }
  Status Take(std::string_view bytes) override {
    std::uint64_t items = 0;
    std::uint64_t skipped = 0;
    Status fed = splitter_.Feed(bytes, [&](std::string_view item) {
      ++items;
      if (const Status taken = sink_.ListItem(item); !taken) {
        ++skipped;
        skip_reason_ = taken.error().message;
      }
    });
    if (items > 0)
      tally_.Update([&](ReflectorCounters& counters) {
        counters.items += items;
        counters.skipped += skipped;
        if (skipped > 0) counters.last_error = "an object was skipped: " + skip_reason_;
      });
    return fed;
  }
  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] Result<ListMeta> Finish() const { return splitter_.Finish(); }

 private:
  ObjectSink& sink_;
  Tally& tally_;
  ItemSplitter splitter_;
  bool opened_ = false;
  std::string skip_reason_;
};

class WatchReceiver final : public ByteReceiver {
 public:
  WatchReceiver(ObjectSink& sink, Tally& tally, std::string object_kind)
      : sink_(sink), tally_(tally), object_kind_(std::move(object_kind)) {}

  // A quiet resource may get no bookmark for more than 90 s after the server's start (seen with 1.36: silent once, then
  // 149 s without a sign). Its view is fresh all the same: the server has just agreed to go on from its version.
  void Opened() override {
    opened_ = true;
    sink_.Alive();
  }
  Status Take(std::string_view bytes) override {
    Status fed = splitter_.Feed(bytes, [this](std::string_view line) {
      if (!refusal_) Handle(line);
    });
    if (!fed || !refusal_) return fed;
    return ToError(*refusal_, "watching");  // what follows an ERROR event means nothing
  }

  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] const std::string& resource_version() const { return resource_version_; }
  [[nodiscard]] const std::optional<ApiError>& refusal() const { return refusal_; }

 private:
  void Handle(std::string_view line) {
    const WatchEvent event = ReadWatchEvent(line);
    if (event.kind == WatchEventKind::kError) {
      refusal_ = ReadApiError(0, event.object, std::nullopt);
      return;
    }
    const bool other_kind = !object_kind_.empty() && event.object_kind != object_kind_;
    if (event.kind == WatchEventKind::kUnknown || other_kind) return Skip("an event of unknown type or kind");
    ++events_;
    if (event.kind == WatchEventKind::kBookmark)
      tally_.Update([](ReflectorCounters& counters) { ++counters.bookmarks; });
    else
      Change(event);
    // Also behind an object that the sink refused: it would be refused again.
    if (!event.resource_version.empty()) resource_version_ = event.resource_version;
    sink_.Alive();
  }

  void Change(const WatchEvent& event) {
    const bool gone = event.kind == WatchEventKind::kDelete;
    const Status taken = gone ? sink_.Delete(event.object) : sink_.Upsert(event.object);
    tally_.Update([](ReflectorCounters& counters) { ++counters.events; });
    if (!taken) Skip(taken.error().message);
  }

  void Skip(const std::string& reason) {
    tally_.Update([&reason](ReflectorCounters& counters) {
      ++counters.skipped;
      counters.last_error = "an object was skipped: " + reason;
    });
  }

  ObjectSink& sink_;
  Tally& tally_;
  const std::string object_kind_;
  LineSplitter splitter_;
  bool opened_ = false;
  std::uint64_t events_ = 0;
  std::string resource_version_;
  std::optional<ApiError> refusal_;
};

}  // namespace

ReflectorClock& SystemReflectorClock() {
  static SystemClock clock;
  return clock;
}

// --- the thread -----------------------------------------------------------------------------------------------------

class Reflector::Worker {
 public:
  Worker(ApiClient& api, ObjectSink& sink, const ReflectorOptions& options, ReflectorClock& clock)
      : api_(api),
        sink_(sink),
        options_(options),
        clock_(clock),
        random_(options.seed != 0 ? options.seed : std::random_device{}()),
        thread_([this] { Run(stop_.get_token()); }) {}

  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void BeginStop() { stop_.request_stop(); }
  void Stop() {
    BeginStop();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] ReflectorCounters counters() const { return tally_.Read(); }

 private:
  using Phase = ListWatchState::Phase;

  void Run(const std::stop_token& stop) {
    ListWatchState state = FirstState();
    while (!stop.stop_requested()) {
      const steady_clock::time_point begin = clock_.Now();
      Outcome outcome = Attempt(state, stop);
      if (stop.stop_requested()) break;
      outcome.lasted = std::chrono::duration_cast<milliseconds>(clock_.Now() - begin);
      outcome.chance = Chance();
      ListWatchStep step = Step(std::move(state), outcome);
      if (list_open_ && step.state.continue_token.empty() && !CloseList(outcome.kind == OutcomeKind::kListed)) {
        state = FirstState();
        clock_.Wait(kAfterNoMemory, stop);
        continue;
      }
      if (step.wait > milliseconds(0)) clock_.Wait(step.wait, stop);
      state = std::move(step.state);
    }
    if (list_open_) CloseList(false);
  }

  // A list or a watch. What a sink or a parser throws (there is no memory left) breaks it off, not the process.
  Outcome Attempt(const ListWatchState& state, const std::stop_token& stop) {
    try {
      return state.phase == Phase::kList ? List(ListOf(state), stop) : Watch(state, stop);
    } catch (const std::exception& failure) {
      tally_.Update([&](ReflectorCounters& counters) {
        ++counters.broken;
        counters.last_error = std::string("broken off: ") + failure.what();
      });
      return {.kind = OutcomeKind::kBroken};
    }
  }

  // 24 bits, so that it is below 1.
  double Chance() { return static_cast<double>(random_() >> 8) / (1 << 24); }

  // False: the sink had no memory for it, and has what it had before or a part of it. List again.
  bool CloseList(bool complete) {
    list_open_ = false;
    try {
      if (complete)
        sink_.EndList();
      else
        sink_.AbandonList();
    } catch (const std::exception&) {
      return false;
    }
    if (complete) tally_.Update([](ReflectorCounters& counters) { counters.synced = true; });
    return true;
  }

  // --- LIST ---------------------------------------------------------------------------------------------------------

  Outcome List(const ListRequest& request, const std::stop_token& stop) {
    const bool begins = !std::exchange(list_open_, true);
    if (begins) sink_.BeginList();
    tally_.Update([begins](ReflectorCounters& counters) {
      ++counters.pages;
      if (begins) ++counters.lists;
    });
    ListReceiver receiver(sink_, tally_);
    const StreamLimits limits{options_.silence, options_.list_time, options_.max_list_bytes};
    const Result<ApiReply> reply = api_.Stream(options_.path, ListQuery(request), limits, receiver, stop);
    if (!reply) return Failed(receiver.opened() ? OutcomeKind::kBroken : OutcomeKind::kUnreachable, reply.error());
    if (!IsSuccess(*reply)) return Refused(ReadApiError(reply->status, reply->body, reply->retry_after), "listing");
    const Result<ListMeta> meta = receiver.Finish();
    if (!meta) return Failed(OutcomeKind::kBroken, meta.error());
    if (!options_.object_kind.empty() && meta->kind != options_.object_kind + "List")
      return Failed(OutcomeKind::kBroken, {ErrorKind::kCorrupt, options_.path + " answered with a " + meta->kind +
                                                                    "; wanted is " + options_.object_kind + "List"});
    Outcome outcome;
    outcome.kind = OutcomeKind::kListed;
    outcome.resource_version = meta->resource_version;
    outcome.continue_token = meta->continue_token;
    return outcome;
  }

  [[nodiscard]] Query ListQuery(const ListRequest& request) const {
    Query query = options_.query;
    if (request.limit > 0) query.emplace_back("limit", std::to_string(request.limit));
    if (!request.continue_token.empty()) query.emplace_back("continue", request.continue_token);
    if (!request.resource_version.empty()) query.emplace_back("resourceVersion", request.resource_version);
    return query;
  }

  // --- WATCH --------------------------------------------------------------------------------------------------------

  Outcome Watch(const ListWatchState& state, const std::stop_token& stop) {
    tally_.Update([](ReflectorCounters& counters) { ++counters.watches; });
    const int seconds = WatchSeconds(Chance());
    WatchReceiver receiver(sink_, tally_, options_.object_kind);
    const StreamLimits limits{options_.silence, std::chrono::seconds(seconds) + options_.silence,
                              options_.max_watch_bytes};
    const Result<ApiReply> reply =
        api_.Stream(options_.path, WatchQuery(state.resource_version, seconds), limits, receiver, stop);
    Outcome outcome;
    if (receiver.refusal())
      outcome = Refused(*receiver.refusal(), "watching");
    else if (!reply)
      outcome = Failed(receiver.opened() ? OutcomeKind::kBroken : OutcomeKind::kUnreachable, reply.error());
    else if (!IsSuccess(*reply))
      outcome = Refused(ReadApiError(reply->status, reply->body, reply->retry_after), "watching");
    else
      outcome.kind = OutcomeKind::kClosed;
    outcome.events = receiver.events();
    outcome.resource_version = receiver.resource_version();
    return outcome;
  }

  [[nodiscard]] Query WatchQuery(const std::string& resource_version, int seconds) const {
    Query query = options_.query;
    query.emplace_back("watch", "true");
    query.emplace_back("allowWatchBookmarks", "true");
    query.emplace_back("resourceVersion", resource_version);
    query.emplace_back("timeoutSeconds", std::to_string(seconds));
    return query;
  }

  // --- what went wrong ----------------------------------------------------------------------------------------------

  static bool IsSuccess(const ApiReply& reply) { return reply.status >= 200 && reply.status <= 299; }

  Outcome Failed(OutcomeKind kind, const Error& error) {
    Outcome outcome;
    outcome.kind = kind;
    if (stop_.stop_requested()) return outcome;  // our own doing
    tally_.Update([&](ReflectorCounters& counters) {
      ++(kind == OutcomeKind::kBroken ? counters.broken : counters.unreachable);
      counters.last_error = error.message;
    });
    return outcome;
  }

  Outcome Refused(const ApiError& error, const std::string& what) {
    constexpr int kGone = 410;
    tally_.Update([&](ReflectorCounters& counters) {
      ++counters.refused;
      if (error.code == kGone) ++counters.expired;
      counters.last_error = ToError(error, what + " " + options_.path).message;
    });
    Outcome outcome;
    outcome.kind = OutcomeKind::kRefused;
    outcome.code = error.code;
    outcome.resource_version_too_large = error.resource_version_too_large;
    outcome.retry_after = error.retry_after;
    return outcome;
  }

  ApiClient& api_;
  ObjectSink& sink_;
  const ReflectorOptions options_;
  ReflectorClock& clock_;
  Tally tally_;

  // Of the thread.
  std::mt19937 random_;
  bool list_open_ = false;

  std::stop_source stop_;
  std::thread thread_;  // last: everything above is there when it starts
};

Reflector::Reflector(ApiClient& api, ObjectSink& sink, const ReflectorOptions& options, ReflectorClock& clock)
    : worker_(std::make_unique<Worker>(api, sink, options, clock)) {}

Reflector::~Reflector() = default;

void Reflector::Stop() { worker_->Stop(); }

void Reflector::BeginStop() { worker_->BeginStop(); }

ReflectorCounters Reflector::counters() const { return worker_->counters(); }

}  // namespace podium
