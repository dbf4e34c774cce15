// Private to engine.cc: one connection. Boost may be included here.
#pragma once

#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/mutex.h"
#include "serving/engine.h"
#include "serving/head.h"
#include "serving/input_buffer.h"
#include "serving/reply.h"
#include "serving/stream.h"

namespace podium {

namespace asio = boost::asio;

// The executor is spelled out: the default, any_io_executor, costs an indirect call for each wait.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using SteadyClock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;

class Session;

// What the sessions of one listener share, over all reactors.
struct ListenerState {
  Listener config;
  std::atomic<std::size_t> open{0};
  std::atomic<std::size_t> bytes_in_flight{0};  // memory of input buffers
};

// Written by one reactor, read by anyone.
struct alignas(64) ReactorCounters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> handshakes_failed{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> rejected{0};
  std::atomic<std::uint64_t> deadlines{0};
};

inline void Count(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

// At most one line in 10 s (serving/log_limit.h).
void LogFailure(std::string_view where, const char* what);

// How other threads reach a reactor for as long as it is there.
class Mailbox {
 public:
  explicit Mailbox(asio::io_context& io) : io_(&io) {}

  template <typename Task>
  void Post(Task task) {
    const MutexLock lock(mutex_);
    if (io_ != nullptr) asio::post(*io_, std::move(task));
  }
  void Close() {
    const MutexLock lock(mutex_);
    io_ = nullptr;
  }

 private:
  Mutex mutex_;
  asio::io_context* io_ PODIUM_GUARDED_BY(mutex_);
};

// One thread's loop and the connections that live on it. Everything but the counters and `io` belongs to that thread.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of destruction, and there are few of them
struct Reactor {
  Reactor(const std::atomic<bool>& drain, std::chrono::milliseconds period, const Journal& of_engine)
      : draining(drain), sweep_period(period), journal(of_engine) {}
  ~Reactor() { mailbox->Close(); }
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  void Add(Session& session);
  void Remove(Session& session);
  void BeginStop();
  void CloseAll();
  // Closes the oldest connection of `listener` that never sent a request. False: there is none on this reactor.
  bool MakeRoom(const ListenerState& listener);
  // `session` has a whole request. It is answered when the turn ends, together with those of its neighbours.
  void AnswerAtEndOfTurn(std::shared_ptr<Session> session);
  void EndTurn();

  const std::atomic<bool>& draining;
  const std::chrono::milliseconds sweep_period;
  const Journal& journal;
  ReactorCounters counters;
  bool stopping = false;
  std::list<Session*> sessions;
  asio::io_context io{1};  // after what sessions use in their destructors: it is destroyed first
  asio::executor_work_guard<Executor> work{io.get_executor()};
  Timer sweep{io};
  const std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>(io);

 private:
  void Sweep();
  std::size_t AskJournal() const;

  std::vector<std::shared_ptr<Session>> asking_;  // sessions with a whole request, of this turn
  std::string entries_;                           // for the journal, of this turn
};

// One connection as a state machine on a non-blocking socket: Run() takes steps until a step has to wait. Its deadline
// is absolute and set once for each phase; the reactor's sweep looks at all deadlines a few times a second, so moving
// one costs a store and not a timer. Lives as long as a handler holds it; never leaves its reactor's thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `tls` null: plain.
  Session(Socket socket, std::shared_ptr<const TlsMaterial> tls, Reactor& reactor, ListenerState& listener);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Start();
  void OnSweep(SteadyClock::time_point now);
  // Belongs to `listener` and has sent no whole head of a request yet.
  [[nodiscard]] bool IsSilentOn(const ListenerState& listener) const;
  void OnStop();
  // The end of the turn, in three passes over the sessions that have a request. The handler; what it gives for the
  // journal is added to `entries`.
  void CallHandler(std::string& entries);
  // The reply, now that the journal keeps so many bytes of the turn's entries.
  void MakeReply(std::size_t kept_bytes);
  // Sends it, and goes on; or waits for an answer that comes later.
  void OnAnswered();
  void OnLater(const HttpResponse& response);
  void Close();

  std::list<Session*>::iterator position;  // the reactor's

 private:
  enum class Phase { kHandshake, kIdle, kHead, kBody, kTurn, kLater, kWrite, kLinger };
  enum class Next { kAgain, kWaitRead, kWaitWrite, kWaitTurn, kClose };

  void Run();
  void TakeSteps();
  Next Step();
  Next StepHandshake();
  Next StepIdle();
  Next StepHead();
  Next StepBody();
  Next StepWrite();
  Next StepLinger();
  static Next After(IoState state);

  void Enter(Phase phase);
  [[nodiscard]] std::chrono::milliseconds LimitOf(Phase phase) const;
  void EnterBody();
  bool KeepsPace();
  Next Fill(std::size_t wanted);
  bool Reserve(std::size_t capacity);
  void ReleaseInput();
  Next Accept(AcceptedHead head);
  Next Reject(const HttpResponse& response);
  Next Reply(const HttpResponse& response);
  Answer Invoke();
  Next BeginLater(const LaterAnswer& answer);
  template <typename Callback>
  std::invoke_result_t<Callback> Guard(const Callback& callback);
  void Wait(Socket::wait_type type, bool& waiting);
  void OnDeadline();

  Socket socket_;
  const std::string peer_;
  Reactor& reactor_;
  ListenerState& listener_;
  Stream stream_;
  Phase phase_ = Phase::kHandshake;
  SteadyClock::time_point now_{};  // of the current turn
  SteadyClock::time_point deadline_{};
  InputBuffer in_;
  std::size_t charged_ = 0;                  // of bytes_in_flight
  std::size_t searched_ = 0;                 // so far of the data for the end of the head
  SteadyClock::time_point body_end_{};       // deadline of the whole body; deadline_ is that of its window
  std::optional<std::size_t> window_began_;  // bytes of the body at the beginning of its window; none in the first
  AcceptedHead request_;                     // from the head until the answer
  Answer answer_;                            // from the handler until the reply
  std::shared_ptr<Session> self_;            // while an answer is awaited: nobody else holds the session then
  std::size_t entry_end_ = 0;                // where its entry ends among those of the turn
  bool http11_ = true;
  bool keep_ = true;  // the connection, after this answer
  std::string out_;
  std::size_t written_ = 0;
  std::uint64_t served_ = 0;  // answers sent
  bool readable_ = false;     // the socket said so since the last answer
  bool waiting_read_ = false;
  bool waiting_write_ = false;
  bool closed_ = false;
};

}  // namespace podium
