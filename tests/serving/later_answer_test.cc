// Answers that another thread makes.
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "serving/test_engine.h"

namespace podium {
namespace {

using Done = LaterAnswer::Done;

// An engine with routes whose answers the test gives, on this thread.
class LaterEngine {
 public:
  explicit LaterEngine(const EngineLimits& limits = {}) {
    const auto later = [this](const HttpRequest&) {
      return LaterAnswer{[this](Done done) {
        const std::lock_guard lock(mutex_);
        asked_.push_back(std::move(done));
        came_.notify_all();
      }};
    };
    Listener listener{.name = "plain", .limits = limits, .routes = TestRoutes()};
    listener.routes.push_back({"POST", "/later", later});
    listener.routes.push_back({"POST", "/at-once", [](const HttpRequest& http) {
                                 return LaterAnswer{
                                     [body = std::string(http.body)](const Done& done) { done(Text(body)); }};
                               }});
    listener.routes.push_back({"POST", "/throws", [](const HttpRequest&) {
                                 return LaterAnswer{[](const Done&) { throw std::runtime_error("secret"); }};
                               }});
    const auto who = [](const HttpRequest& http) { return Text("<" + std::string(http.authorization) + ">"); };
    listener.routes.push_back({"POST", "/who", who, Credentials::kPassed});
    listener.routes.push_back({"POST", "/nobody", who});
    auto engine = Engine::Start({listener}, 1);
    EXPECT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }

  Engine* operator->() { return engine_.get(); }
  [[nodiscard]] std::uint16_t port() const { return engine_->PortOf("plain"); }
  void End() { engine_.reset(); }
  // The oldest question that has no answer.
  Done Next() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, std::chrono::seconds(10), [&] { return !asked_.empty(); }));
    Done done = std::move(asked_.front());
    asked_.erase(asked_.begin());
    return done;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Done> asked_;
  std::unique_ptr<Engine> engine_;
};

TEST(LaterAnswer, ComesFromAnotherThreadWhileTheReactorServesOthers) {
  LaterEngine engine;
  Client waiting(engine.port());
  ASSERT_TRUE(waiting.Send(Post("/later", "{}") + Post("/echo", "behind it")));
  const Done done = engine.Next();
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/echo", "meanwhile")).body, "meanwhile");
  done(Text("late"));
  EXPECT_EQ(waiting.Read().body, "late");
  EXPECT_EQ(waiting.Read().body, "behind it");
}

TEST(LaterAnswer, MayBeThereAtOnce) {
  LaterEngine engine;
  Client client(engine.port());
  for (const char* body : {"one", "two"}) EXPECT_EQ(client.Exchange(Post("/at-once", body)).body, body);
}

TEST(LaterAnswer, ThatDoesNotComeIsA503) {
  LaterEngine engine({.answer = std::chrono::milliseconds(50)});
  Client client(engine.port());
  const Reply reply = client.Exchange(Post("/later", "{}"));
  EXPECT_EQ(reply.status, 503);
  EXPECT_TRUE(reply.Has("\r\nRetry-After: 1\r\n"));
  EXPECT_EQ(reply.body, "{\"error\": \"the answer was not ready in time; try again\"}\n");
  EXPECT_EQ(client.ReadToEnd(), "");
  engine.Next()(Text("too late"));
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/echo", "still here")).body, "still here");
  EXPECT_EQ(engine->counters().deadlines, 1U);
}

TEST(LaterAnswer, WhoseBeginningThrowsIsA500) {
  LaterEngine engine;
  const Reply reply = Client(engine.port()).Exchange(Post("/throws", "{}"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "{\"error\": \"internal error; the server's log says more\"}\n");
}

TEST(LaterAnswer, ForAClientThatHasGoneIsNobodys) {
  LaterEngine engine;
  {
    Client gone(engine.port());
    ASSERT_TRUE(gone.Send(Post("/later", "{}")));
  }
  engine.Next()(Text("late"));
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/echo", "still here")).body, "still here");
}

TEST(LaterAnswer, IsWaitedForAtTheEnd) {
  LaterEngine engine;
  Client client(engine.port());
  ASSERT_TRUE(client.Send(Post("/later", "{}")));
  const Done done = engine.Next();
  auto stopped = std::async(std::launch::async, [&] { engine->Stop(std::chrono::seconds(10)); });
  done(Text("late"));
  const Reply reply = client.Read();
  EXPECT_EQ(reply.body, "late");
  stopped.get();
}

TEST(LaterAnswer, IsNobodysWhenTheEngineHasGone) {
  LaterEngine engine;
  Client client(engine.port());
  ASSERT_TRUE(client.Send(Post("/later", "{}")));
  const Done done = engine.Next();
  engine->Stop(std::chrono::milliseconds(10));
  EXPECT_EQ(client.ReadToEnd(), "");
  done(Text("after the stop"));
  engine.End();
  done(Text("after the end"));
}

TEST(Authorization, IsPassedToRoutesThatAskForItOnly) {
  LaterEngine engine;
  const std::string field = "Authorization: Bearer abc\r\n";
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/who", "{}", field)).body, "<Bearer abc>");
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/nobody", "{}", field)).body, "<>");
  EXPECT_EQ(Client(engine.port()).Exchange(Post("/who", "{}")).body, "<>");
}

TEST(Authorization, TwiceIsRefused) {
  LaterEngine engine;
  const Reply reply = Client(engine.port()).Exchange(Post("/who", "{}", "Authorization: a\r\nauthorization: b\r\n"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body, "{\"error\": \"more than one Authorization\"}\n");
}

}  // namespace
}  // namespace podium
