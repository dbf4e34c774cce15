#include "serving/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/address.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "serving/engine_session.h"

namespace podium {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;

constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kAcceptRetry{100};

std::string AddressOf(const Listener& listener) {
  const bool v6 = listener.address.find(':') != std::string::npos;
  return (v6 ? "[" + listener.address + "]" : listener.address) + ":" + std::to_string(listener.port);
}

Error BindError(const Listener& listener, const error_code& error) {
  const std::string where = "listener " + listener.name + ": " + AddressOf(listener);
  if (error == asio::error::address_in_use)
    return {ErrorKind::kConflict, where + " is in use by another process; stop it or choose another port"};
  if (error == asio::error::access_denied)
    return {ErrorKind::kPermission, where + " may not be bound by this user; choose a port above 1023"};
  return {ErrorKind::kUnavailable, where + " cannot be bound: " + error.message()};
}

// A deadline is noticed at most a quarter of the shortest limit late.
std::chrono::milliseconds SweepPeriod(const std::vector<Listener>& listeners) {
  std::chrono::milliseconds shortest{1'000};
  for (const Listener& listener : listeners) {
    const EngineLimits& limits = listener.limits;
    shortest = std::min({shortest, limits.handshake, limits.idle, limits.head, limits.body, limits.body_window,
                         limits.answer, limits.write, limits.shutdown});
  }
  return std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(250));
}

// A listening socket. Lives on the first reactor.
struct Door {
  Door(asio::io_context& io, Listener listener) : state{.config = std::move(listener)}, acceptor(io), retry(io) {}

  Status Open();

  ListenerState state;
  Acceptor acceptor;
  Timer retry;
};

// SO_REUSEADDR alone: it passes over the last process's TIME_WAIT, but a second living process is refused, where
// SO_REUSEPORT would let both share the traffic.
Status Door::Open() {
  error_code error;
  const auto address = asio::ip::make_address(state.config.address, error);
  if (error)
    return Error{ErrorKind::kInvalidInput, "listener " + state.config.name + ": '" + state.config.address +
                                               "' is not an IP address; give one like 127.0.0.1, 0.0.0.0 or ::"};
  const tcp::endpoint endpoint(address, state.config.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (!error) state.config.port = acceptor.local_endpoint(error).port();
  if (error) return BindError(state.config, error);
  return {};
}

// An empty cell must not turn a TLS listener into a plain one.
void OpenSession(ListenerState& listener, Reactor& reactor, Socket socket) {
  try {
    const auto tls = listener.config.tls == nullptr ? nullptr : listener.config.tls->Load();
    if (tls != nullptr || listener.config.tls == nullptr)
      return std::make_shared<Session>(std::move(socket), tls, reactor, listener)->Start();
    Count(reactor.counters.handshakes_failed);
  } catch (const std::exception& failure) {
    spdlog::error("listener {}: a connection is given up: {}", listener.config.name, failure.what());
  }
  listener.open.fetch_sub(1, std::memory_order_relaxed);
}

// Signals belong to the main thread: a thread inherits the mask of the one that starts it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class AsioEngine final : public Engine {
 public:
  AsioEngine(std::vector<Listener> listeners, int threads, Journal journal);
  ~AsioEngine() override { Stop(std::chrono::milliseconds(0)); }

  Status Open();
  Status StartThreads();

  [[nodiscard]] std::uint16_t PortOf(std::string_view listener) const override;
  [[nodiscard]] EngineCounters counters() const override;
  void BeginDrain() override { draining_ = true; }
  void Stop(std::chrono::milliseconds deadline) override;

 private:
  void RunReactor(Reactor& reactor);
  Reactor& NextReactor();
  void Accept(Door& door);
  void OnAccept(Door& door, Reactor& reactor, const error_code& error, Socket socket);
  void RetryAccept(Door& door, const error_code& error);
  void Admit(Door& door, Reactor& reactor, Socket socket);
  void CloseDoor(Door& door);

  std::atomic<bool> draining_{false};
  std::atomic<bool> stopped_{false};
  const Journal journal_;
  std::vector<std::unique_ptr<Reactor>> reactors_;
  std::vector<std::unique_ptr<Door>> doors_;  // on reactor 0, so they go before it
  std::size_t turn_ = 0;                      // touched by reactor 0 only
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;  // reactors, under mutex_
  std::vector<std::thread> threads_;
};

AsioEngine::AsioEngine(std::vector<Listener> listeners, int threads, Journal journal) : journal_(std::move(journal)) {
  const std::chrono::milliseconds period = SweepPeriod(listeners);
  for (int i = 0; i < threads; ++i) reactors_.push_back(std::make_unique<Reactor>(draining_, period, journal_));
  for (Listener& listener : listeners)
    doors_.push_back(std::make_unique<Door>(reactors_.front()->io, std::move(listener)));
}

Status AsioEngine::Open() {
  for (const auto& door : doors_)
    if (Status opened = door->Open(); !opened) return opened;
  return {};
}

Status AsioEngine::StartThreads() {
  for (const auto& door : doors_) Accept(*door);
  const SignalsBlocked blocked;
  try {
    for (const auto& reactor : reactors_) {
      {
        const std::lock_guard lock(mutex_);
        ++running_;
      }
      threads_.emplace_back([this, &reactor = *reactor] { RunReactor(reactor); });
    }
  } catch (const std::system_error& failure) {
    const std::lock_guard lock(mutex_);
    --running_;
    return Error{ErrorKind::kUnavailable, std::string("a reactor thread cannot be started: ") + failure.what() +
                                              "; raise the limit of threads or ask for fewer"};
  }
  return {};
}

void AsioEngine::RunReactor(Reactor& reactor) {
  for (bool running = true; running;) {
    try {
      reactor.io.run();
      running = false;
    } catch (const std::exception& failure) {  // no memory, outside of a session: the loop goes on
      spdlog::error("a reactor caught: {}", failure.what());
    }
  }
  // Cut by the deadline: what has been decided is recorded and answered, for as far as the sockets take it at once.
  reactor.EndTurn();
  reactor.CloseAll();
  reactor.EndTurn();  // of requests that came right behind those answers: recorded, though nobody is there any more
  {
    const std::lock_guard lock(mutex_);
    --running_;
  }
  ended_.notify_all();
}

// --- accepting ------------------------------------------------------------------------------------------------------

Reactor& AsioEngine::NextReactor() { return *reactors_[turn_++ % reactors_.size()]; }

void AsioEngine::Accept(Door& door) {
  Reactor& reactor = NextReactor();
  door.acceptor.async_accept(reactor.io, [this, &door, &reactor](const error_code& error, Socket socket) {
    OnAccept(door, reactor, error, std::move(socket));
  });
}

void AsioEngine::OnAccept(Door& door, Reactor& reactor, const error_code& error, Socket socket) {
  if (!door.acceptor.is_open()) return;
  if (error) return RetryAccept(door, error);
  Admit(door, reactor, std::move(socket));
  Accept(door);
}

// Out of descriptors or memory: the connection stays in the queue and the error would repeat at once and for ever.
void AsioEngine::RetryAccept(Door& door, const error_code& error) {
  LogFailure("listener " + door.state.config.name, ("accept: " + error.message()).c_str());
  door.retry.expires_after(kAcceptRetry);
  door.retry.async_wait([this, &door](const error_code& cancelled) {
    if (!cancelled && door.acceptor.is_open()) Accept(door);
  });
}

void AsioEngine::Admit(Door& door, Reactor& reactor, Socket socket) {
  Count(reactors_.front()->counters.accepted);
  error_code error;
  const bool full = door.state.open.fetch_add(1, std::memory_order_relaxed) >= door.state.config.limits.connections;
  if (full) Count(reactors_.front()->counters.refused);
  socket.set_option(tcp::no_delay(true), error);
  socket.non_blocking(true, error);
  // One task for the other thread: the session, which lives there and nowhere else.
  asio::dispatch(reactor.io, [&door, &reactor, full, socket = std::move(socket)]() mutable {
    if (full && !reactor.MakeRoom(door.state)) {
      door.state.open.fetch_sub(1, std::memory_order_relaxed);
      return;  // the socket's destructor closes it
    }
    OpenSession(door.state, reactor, std::move(socket));
  });
}

// What the kernel has accepted already is served: those clients have every reason to believe that somebody is here.
void AsioEngine::CloseDoor(Door& door) {
  error_code error;
  door.acceptor.non_blocking(true, error);
  while (!error) {
    Reactor& reactor = NextReactor();
    Socket socket = door.acceptor.accept(reactor.io, error);
    if (!error) Admit(door, reactor, std::move(socket));
  }
  door.acceptor.close(error);
  door.retry.cancel();
}

// --- the end --------------------------------------------------------------------------------------------------------

void AsioEngine::Stop(std::chrono::milliseconds deadline) {
  if (stopped_.exchange(true)) return;
  const auto until = SteadyClock::now() + deadline;
  draining_ = true;
  asio::post(reactors_.front()->io, [this] {
    for (const auto& door : doors_) CloseDoor(*door);
    for (const auto& reactor : reactors_) asio::post(reactor->io, [&reactor = *reactor] { reactor.BeginStop(); });
  });
  {
    std::unique_lock lock(mutex_);
    ended_.wait_until(lock, until, [this] { return running_ == 0; });
  }
  for (const auto& reactor : reactors_) reactor->io.stop();
  for (std::thread& thread : threads_) thread.join();
}

std::uint16_t AsioEngine::PortOf(std::string_view listener) const {
  for (const auto& door : doors_)
    if (door->state.config.name == listener) return door->state.config.port;
  return 0;
}

EngineCounters AsioEngine::counters() const {
  EngineCounters sum;
  for (const auto& door : doors_) sum.connections_open += door->state.open;
  for (const auto& reactor : reactors_) {
    sum.connections_accepted += reactor->counters.accepted;
    sum.connections_refused += reactor->counters.refused;
    sum.handshakes_failed += reactor->counters.handshakes_failed;
    sum.requests += reactor->counters.requests;
    sum.requests_rejected += reactor->counters.rejected;
    sum.deadlines += reactor->counters.deadlines;
  }
  return sum;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Start(std::vector<Listener> listeners, int threads, Journal journal) {
  if (threads < 1 || listeners.empty())
    return Error{ErrorKind::kInvalidInput, "the engine wants at least one listener and one thread"};
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes with write(): a peer that went away must be an error, not the end
  try {
    auto engine = std::make_unique<AsioEngine>(std::move(listeners), threads, std::move(journal));
    if (Status opened = engine->Open(); !opened) return opened.error();
    if (Status started = engine->StartThreads(); !started) return started.error();
    return std::unique_ptr<Engine>(std::move(engine));
  } catch (const std::exception& failure) {
    return Error{ErrorKind::kUnavailable, std::string("the engine cannot be started: ") + failure.what()};
  }
}

}  // namespace podium
