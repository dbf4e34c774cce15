// Deadlines, many connections, rotation and stopping: tests that wait for time or push load. Label: slow.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "serving/test_engine.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;
using testing::StartsWith;

constexpr milliseconds kShort{60};
constexpr milliseconds kGenerous{5'000};  // an engine that waits for the wrong limit takes longer

EngineLimits ShortLimits() {
  return {.handshake = kShort,
          .first_request = kGenerous * 2,
          .idle = kGenerous * 2,
          .head = kShort,
          .body = kShort,
          .write = kShort,
          .shutdown = kShort};
}

milliseconds Since(SteadyClock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(SteadyClock::now() - start);
}

// --- deadlines ------------------------------------------------------------------------------------------------------

TEST(EngineDeadline, CutsConnectionsThatNeverBeginTheirHandshake) {
  TestEngine engine(ShortLimits());
  std::vector<Client> silent;
  for (int i = 0; i < 50; ++i) silent.emplace_back(engine.tls());
  const auto start = SteadyClock::now();
  for (Client& client : silent) EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_LT(Since(start), kGenerous);
  EXPECT_EQ(engine->counters().deadlines, 50U);
}

TEST(EngineDeadline, CutsAHalfHeadButNotAnIdleConnection) {
  TestEngine engine(ShortLimits());
  Client idle = Client::Tls(engine.tls());
  EXPECT_EQ(idle.Exchange(Post("/echo", "1")).body, "1");
  Client half = Client::Tls(engine.tls());
  ASSERT_TRUE(half.Send("POST /echo HTTP/1.1\r\nHost:"));
  EXPECT_THAT(half.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_EQ(idle.Exchange(Post("/echo", "2")).body, "2");
  EXPECT_EQ(engine->counters().deadlines, 1U);
}

// Well within the body's own limit: a few that begin large bodies must not hold the budget for as long as that.
TEST(EngineDeadline, CutsABodyThatStopsWhereItIs) {
  EngineLimits limits = ShortLimits();
  limits.body = kGenerous * 2;
  limits.body_window = kShort;
  limits.bytes_in_flight = 4 << 20;
  TestEngine engine(limits);
  const std::string request = Post("/echo", std::string(2 << 20, 'x'));
  std::vector<Client> stopped;
  const auto start = SteadyClock::now();
  for (int i = 0; i < 2; ++i) {
    stopped.emplace_back(engine.plain());
    ASSERT_TRUE(stopped.back().Send(std::string_view(request).substr(0, (3 << 20) / 2)));
  }
  for (Client& client : stopped) EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_LT(Since(start), kGenerous);
  EXPECT_EQ(Client(engine.plain()).Exchange(request).status, 200) << "the budget is free again";
  EXPECT_EQ(engine->counters().deadlines, 2U);
}

TEST(EngineDeadline, CutsABodyThatDrips) {
  EngineLimits limits = ShortLimits();
  limits.body = kGenerous * 2;
  limits.body_window = kShort;
  TestEngine engine(limits);
  Client slow(engine.plain());
  const std::string request = Post("/echo", std::string(1 << 20, 'x'));
  const auto start = SteadyClock::now();
  std::size_t sent = request.find("\r\n\r\n") + 4;
  ASSERT_TRUE(slow.Send({request.data(), sent}));
  while (sent < request.size() && !slow.Readable(milliseconds(1)) && slow.Send({&request[sent], 1})) ++sent;
  EXPECT_LT(Since(start), kGenerous);
  EXPECT_LT(sent, request.size());
  EXPECT_EQ(engine->counters().deadlines, 1U);
}

// Slow, but it comes: only the limit of the whole body counts.
TEST(EngineDeadline, ABodyThatKeepsPaceIsServed) {
  EngineLimits limits = ShortLimits();
  limits.body = kGenerous * 2;
  limits.body_window = kShort;
  limits.body_window_bytes = 1;
  TestEngine engine(limits);
  Client slow(engine.plain());
  const std::string request = Post("/echo", std::string(300, 'x'));
  const auto start = SteadyClock::now();
  ASSERT_TRUE(slow.Send({request.data(), request.size() - 300}));
  for (int i = 0; i < 300; ++i) {
    ASSERT_FALSE(slow.Readable(milliseconds(1))) << slow.ReadToEnd();
    ASSERT_TRUE(slow.Send("x"));
  }
  EXPECT_EQ(slow.Read().body, std::string(300, 'x'));
  EXPECT_GT(Since(start), kShort * 3) << "it has been through several windows";
}

TEST(EngineDeadline, CutsAHalfBody) {
  TestEngine engine(ShortLimits());
  Client half(engine.plain());
  ASSERT_TRUE(half.Send(Post("/echo", "complete").substr(0, Post("/echo", "complete").size() - 1)));
  EXPECT_THAT(half.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

// One byte well within every limit, again and again: a deadline that starts anew with each byte never ends.
TEST(EngineDeadline, CutsDrippersWhileOthersAreServed) {
  TestEngine engine(ShortLimits());
  std::vector<Client> drippers;
  for (int i = 0; i < 50; ++i) drippers.emplace_back(i % 2 == 0 ? Client::Tls(engine.tls()) : Client(engine.plain()));
  const std::string request = Post("/echo", std::string(1'000, 'x'));
  const auto start = SteadyClock::now();
  std::size_t cut = 0;
  for (std::size_t at = 0; cut < drippers.size() && at < request.size(); ++at) {
    cut = 0;
    for (Client& client : drippers)
      if (client.Readable(milliseconds(0)) || !client.Send({&request[at], 1})) ++cut;
    engine.ExpectHealthy();
  }
  EXPECT_EQ(cut, drippers.size());
  EXPECT_LT(Since(start), kGenerous);
  EXPECT_EQ(engine->counters().deadlines, 50U);
}

TEST(EngineDeadline, ClosesAnIdleConnectionPolitelyAtItsLimit) {
  EngineLimits limits = ShortLimits();
  limits.idle = kShort;
  TestEngine engine(limits);
  Client client = Client::Tls(engine.tls());
  EXPECT_EQ(client.Exchange(Post("/echo", "1")).body, "1");
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(SSL_get_shutdown(client.ssl()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN) << "close_notify";
  EXPECT_EQ(engine->counters().deadlines, 0U);
}

TEST(EngineDeadline, ClosesAConnectionThatNeverAsksLongBeforeTheIdleLimit) {
  EngineLimits limits = ShortLimits();
  limits.first_request = kShort;
  TestEngine engine(limits);
  Client client = Client::Tls(engine.tls());
  const auto start = SteadyClock::now();
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_LT(Since(start), kGenerous);
}

TEST(EngineDeadline, CutsAClientThatDoesNotReadItsAnswer) {
  EngineLimits limits = ShortLimits();
  limits.body = kGenerous;
  TestEngine engine(limits);
  Client client(engine.plain());
  const std::string request = Post("/echo", std::string(7 << 20, 'x'));
  ASSERT_TRUE(client.Send(request));
  while (engine->counters().deadlines == 0) std::this_thread::yield();
  EXPECT_LT(client.ReadToEnd().size(), request.size());
  engine.ExpectHealthy();
}

// --- many connections -----------------------------------------------------------------------------------------------

// Case 060, scaled: idle keep-alive connections and half heads must not cost the next caller anything.
TEST(EngineLoad, IdleConnectionsTakeNoWorker) {
  TestEngine engine({}, 2);
  std::vector<Client> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(Client::Tls(engine.tls()));
    ASSERT_EQ(idle.back().Exchange(Post("/echo", "review")).status, 200);
  }
  std::vector<Client> half;
  for (int i = 0; i < 50; ++i) {
    half.push_back(Client::Tls(engine.tls()));
    ASSERT_TRUE(half.back().Send(Post("/echo", "review").substr(0, 60)));
  }
  const auto start = SteadyClock::now();
  EXPECT_EQ(Client::Tls(engine.tls()).Exchange(Post("/echo", "new")).body, "new");
  EXPECT_LT(Since(start), milliseconds(1'000));
  for (Client& client : idle) {
    EXPECT_FALSE(client.Readable(milliseconds(0))) << "closed without having been announced";
    EXPECT_EQ(client.Exchange(Post("/echo", "again")).body, "again");
  }
}

// Half and a byte: a buffer that doubles would take twice what was sent.
TEST(EngineLoad, ABodyTakesNotMuchMoreRoomThanHasArrived) {
  TestEngine engine({.bytes_in_flight = 12 << 20});
  const std::string request = Post("/echo", std::string(7'000'000, 'x'));
  Client stopped(engine.plain());
  ASSERT_TRUE(stopped.Send(std::string_view(request).substr(0, 4'200'000)));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Client(engine.plain()).Exchange(request).status, 200);
}

TEST(EngineLoad, ABurstOfConnectionsIsServed) {
  TestEngine engine({}, 2);
  std::vector<Client> clients;
  clients.reserve(400);
  for (int i = 0; i < 400; ++i) {
    clients.emplace_back(engine.plain());
    ASSERT_TRUE(clients.back().Send(Post("/echo", std::to_string(i))));
  }
  for (int i = 0; i < 400; ++i) EXPECT_EQ(clients[static_cast<std::size_t>(i)].Read().body, std::to_string(i));
  EXPECT_EQ(engine->counters().connections_open, 400U);
  clients.clear();
  while (engine->counters().connections_open != 0) std::this_thread::yield();
}

TEST(EngineLoad, RotatesCertificatesUnderLoadWithoutAFailedHandshake) {
  TestEngine engine({}, 2);
  const auto first = engine.material().Load();
  const auto second = LoadPair(MakePair(engine.dir(), "second"));
  std::atomic<bool> done{false};
  std::atomic<int> failed{0};
  std::atomic<int> served{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i)
    callers.emplace_back([&] {
      while (!done) {
        const bool good = Client::Tls(engine.tls()).Exchange(Post("/echo", "x")).status == 200;
        ++(good ? served : failed);
      }
    });
  for (int swap = 0; swap < 100; ++swap) {
    engine.material().Store(swap % 2 == 0 ? second : first);
    const int before = served + failed;
    while (served + failed == before) std::this_thread::yield();
  }
  done = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GE(served, 100);
  EXPECT_EQ(engine->counters().handshakes_failed, 0U);
}

TEST(EngineLoad, RecoversWhenDescriptorsRunOut) {
  TestEngine engine;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int lowest_free = ::dup(socket);
  ::close(lowest_free);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(lowest_free);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  Client client(socket, engine.plain());
  EXPECT_TRUE(client.Send(Post("/echo", "patience")));
  EXPECT_FALSE(client.Readable(std::chrono::milliseconds(20)));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.Read().body, "patience");
  engine.ExpectHealthy();
}

// --- the end --------------------------------------------------------------------------------------------------------

TEST(EngineStop, ClosesIdleConnectionsAtOnce) {
  TestEngine engine({}, 2);
  std::vector<Client> idle;
  for (int i = 0; i < 50; ++i) {
    idle.push_back(i % 2 == 0 ? Client::Tls(engine.tls()) : Client(engine.plain()));
    ASSERT_EQ(idle.back().Exchange(Post("/echo", "x")).status, 200);
  }
  const auto start = SteadyClock::now();
  engine->Stop(kGenerous * 2);
  EXPECT_LT(Since(start), milliseconds(900));
  for (Client& client : idle) EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(EngineStop, LetsARunningRequestFinish) {
  TestEngine engine;
  Client client = Client::Tls(engine.tls());
  const std::string request = Post("/echo", std::string(100'000, 'x'));
  ASSERT_EQ(client.Exchange(Post("/echo", "1")).status, 200);
  ASSERT_TRUE(client.Send(std::string_view(request).substr(0, 50'000)));
  Client witness(engine.plain());
  ASSERT_EQ(witness.Exchange(Post("/echo", "1")).status, 200);  // by now the engine has begun to read the large one
  std::thread stopper([&] { engine->Stop(kGenerous); });
  EXPECT_EQ(witness.ReadToEnd(), "");
  ASSERT_TRUE(client.Send(std::string_view(request).substr(50'000)));
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.Has("Connection: close\r\n"));
  stopper.join();
}

TEST(EngineStop, CutsWhatIsNotDoneAtTheDeadline) {
  TestEngine engine;
  Client client(engine.plain());
  ASSERT_TRUE(client.Send("POST /echo HTTP/1.1\r\n"));
  Client witness(engine.plain());
  ASSERT_EQ(witness.Exchange(Post("/echo", "1")).status, 200);
  const auto start = SteadyClock::now();
  engine->Stop(kShort);
  EXPECT_LT(Since(start), kGenerous);
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(EngineStop, IsHarmlessTwiceAndFreesThePort) {
  TestEngine engine;
  const std::uint16_t port = engine.plain();
  engine->Stop(kShort);
  engine->Stop(kShort);
  EXPECT_TRUE(Engine::Start({Listener{.name = "webhook", .port = port, .routes = TestRoutes()}}, 1));
}

TEST(EngineStop, DrainAnnouncesTheEndInEveryAnswer) {
  TestEngine engine;
  Client client(engine.plain());
  EXPECT_FALSE(client.Exchange(Post("/echo", "1")).Has("Connection: close\r\n"));
  engine->BeginDrain();
  EXPECT_TRUE(client.Exchange(Post("/echo", "2")).Has("Connection: close\r\n"));
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(Client(engine.plain()).Exchange(Post("/echo", "3")).body, "3") << "still serving";
}

// What a client of a Service sees: it keeps its connection until told to close it, and then connects to whom the
// endpoints name by then.
class Caller {
 public:
  Caller(const std::atomic<std::uint16_t>& target, const std::atomic<bool>& done) : target_(target), done_(done) {}

  void Run() {
    while (!done_) {
      Client client = Client::Tls(target_);
      while (!done_) {
        const Reply reply = client.Exchange(Post("/echo", "x"));
        ++(reply.status == 200 && reply.body == "x" ? served : failed);
        if (reply.status != 200 || reply.Has("Connection: close")) break;
      }
    }
  }

  std::atomic<int> served{0};
  std::atomic<int> failed{0};

 private:
  const std::atomic<std::uint16_t>& target_;
  const std::atomic<bool>& done_;
};

TEST(EngineStop, HandsOverUnderLoadWithoutAFailedRequest) {
  auto leaving = std::make_unique<TestEngine>(EngineLimits{}, 2);
  TestEngine staying({}, 2);
  std::atomic<std::uint16_t> target{leaving->tls()};
  std::atomic<bool> done{false};
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    callers.push_back(std::make_unique<Caller>(target, done));
    threads.emplace_back([&caller = *callers.back()] { caller.Run(); });
  }
  while ((*leaving)->counters().requests < 200) std::this_thread::yield();
  target = staying.tls();
  (*leaving)->BeginDrain();
  while ((*leaving)->counters().connections_open > 0) std::this_thread::yield();
  (*leaving)->Stop(kGenerous);
  while (staying->counters().requests < 200) std::this_thread::yield();
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& caller : callers) {
    EXPECT_EQ(caller->failed, 0);
    EXPECT_GT(caller->served, 0);
  }
}

// Without a drain, in the middle of traffic: whoever got an answer got a whole one, and it returns.
TEST(EngineStop, ReturnsUnderLoad) {
  TestEngine engine({}, 2);
  std::atomic<std::uint16_t> target{engine.tls()};
  std::atomic<bool> done{false};
  Caller caller(target, done);
  std::thread thread([&] { caller.Run(); });
  while (engine->counters().requests < 50) std::this_thread::yield();
  const auto start = SteadyClock::now();
  engine->Stop(kGenerous * 2);
  EXPECT_LT(Since(start), kGenerous);
  done = true;
  thread.join();
  EXPECT_GE(caller.served, 49);
}

}  // namespace
}  // namespace podium
