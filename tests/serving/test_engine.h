// An engine on free ports with a few plain routes, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "serving/certificates.h"
#include "serving/client.h"
#include "serving/engine.h"

namespace podium {

inline HttpResponse Text(std::string body) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

inline std::vector<Route> TestRoutes() {
  return {
      {"POST", "/echo", [](const HttpRequest& http) { return Text(std::string(http.body)); }},
      {"POST", "/query", [](const HttpRequest& http) { return Text(std::string(http.query)); }},
      {"GET", "/peer", [](const HttpRequest& http) { return Text(std::string(http.peer)); }},
      {"POST", "/throw/exception", [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); }},
      {"POST", "/throw/int", [](const HttpRequest&) -> HttpResponse { throw 42; }},
      {"POST", "/throw/bad-alloc", [](const HttpRequest&) -> HttpResponse { throw std::bad_alloc(); }},
  };
}

// A plain and a TLS listener over the same routes and limits.
class TestEngine {
 public:
  explicit TestEngine(const EngineLimits& limits = {}, int threads = 1) : tls_(LoadPair(MakePair(dir_, "first"))) {
    Listener plain{.name = "plain", .limits = limits, .routes = TestRoutes()};
    Listener tls = plain;
    tls.name = "tls";
    tls.tls = &tls_;
    auto engine = Engine::Start({plain, tls}, threads);
    if (engine) engine_ = *std::move(engine);
    EXPECT_TRUE(engine_) << engine.error().message;
  }

  Engine* operator->() { return engine_.get(); }
  [[nodiscard]] std::uint16_t plain() const { return engine_->PortOf("plain"); }
  [[nodiscard]] std::uint16_t tls() const { return engine_->PortOf("tls"); }
  Cell<TlsMaterial>& material() { return tls_; }
  [[nodiscard]] const TempDir& dir() const { return dir_; }

  void ExpectHealthy() const { EXPECT_EQ(Client(plain()).Exchange(Post("/echo", "still here")).body, "still here"); }

 private:
  TempDir dir_;
  Cell<TlsMaterial> tls_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace podium
