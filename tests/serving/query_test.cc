// The query listener as `podium serve` puts it together, with an API server that answers, hangs or is away.
#include "serving/query.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "builders/tenants.h"
#include "fakes/access_reviewer.h"
#include "fakes/manual_clock.h"
#include "serving/test_engine.h"
#include "serving/webhook.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

// Questions wait in it until it is opened.
class Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void WaitFor(int waiting) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10), [&] { return waiting_ >= waiting; }));
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class QueryRouteTest : public testing::Test {
 protected:
  QueryRouteTest() : tls_(LoadPair(MakePair(dir_, "podium"))) {
    access_.Admit("alice-token", {"alice", "", {}, {}});
    access_.Allow("alice", "create", "mine");
  }

  void Start(std::size_t queue = 32, const EngineLimits& limits = {}) {
    pool_ = std::make_unique<WorkerPool>(4, queue);
    QueryDeps deps;
    deps.policy = &policy_;
    deps.snapshots = &snapshots_;
    deps.access = &cache_;
    deps.clock = &clock_;
    service_ = std::make_unique<FeasibilityService>(std::move(deps), QueryLimits{.per_caller = 8});
    Listener query{.name = "query", .tls = &tls_, .limits = limits};
    query.routes = QueryRoutes({.service = service_.get(), .pool = pool_.get(), .metrics = &metrics_});
    query_ = Begin(std::move(query));
    WebhookDeps webhook_deps;
    webhook_deps.policy = &policy_;
    webhook_deps.snapshots = &snapshots_;
    webhook_deps.audit_mode = AuditMode::kRelaxed;
    webhook_deps.clock = &clock_;
    webhook_deps.metrics = &metrics_;
    Listener webhook{.name = "webhook", .tls = &tls_};
    webhook.routes = WebhookRoutes(std::move(webhook_deps));
    webhook_ = Begin(std::move(webhook));
  }

  void TearDown() override {
    gate_.Open();
    query_.reset();
    if (pool_) pool_->Stop();
  }

  static std::unique_ptr<Engine> Begin(Listener listener) {
    std::vector<Listener> listeners;
    listeners.push_back(std::move(listener));
    auto engine = Engine::Start(std::move(listeners), 1);
    EXPECT_TRUE(engine) << engine.error().message;
    return *std::move(engine);
  }

  [[nodiscard]] Client Ask() const { return Client::Tls(query_->PortOf("query")); }

  static std::string Question(const std::string& token = "alice-token", const std::string& parameters = "") {
    const std::string field = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return Post("/v1/feasibility" + parameters, builders::ChatPod(1), field);
  }

  // How long a review takes, its handshake included.
  milliseconds TimeOfReview() const {
    const auto began = std::chrono::steady_clock::now();
    const std::string review =
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",)"
        R"("kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},)"
        R"("namespace":"mine","object":)" +
        builders::ChatPod(1) + "}}";
    const Reply reply = Client::Tls(webhook_->PortOf("webhook")).Exchange(Post("/validate?timeout=5s", review));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
  }

  TempDir dir_;
  Cell<TlsMaterial> tls_;
  Gate gate_;
  fakes::MemoryReviewer access_;
  AccessCache cache_{access_};
  ManualClock clock_;
  Cell<Policy> policy_{std::make_shared<const Policy>(builders::ThreeTiers())};
  builders::ShownSnapshot snapshots_{builders::TenantCluster()};
  Metrics metrics_;
  std::unique_ptr<FeasibilityService> service_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Engine> query_;
  std::unique_ptr<Engine> webhook_;
};

TEST_F(QueryRouteTest, AnswersOverTlsAndKeepsTheConnection) {
  Start();
  Client client = Ask();
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.Exchange(Question("alice-token", "?replicas=2"));
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_TRUE(reply.Has("\r\nContent-Type: application/json\r\n"));
    EXPECT_TRUE(reply.Has("\r\nCache-Control: no-store\r\n"));
    EXPECT_EQ(nlohmann::json::parse(reply.body)["workload"]["fitAfter"], 2);
  }
  MetricSources sources;
  sources.access = &cache_;
  const std::string metrics = RenderMetrics(metrics_, sources);
  EXPECT_THAT(metrics, HasSubstr("podium_query_requests_total{outcome=\"answered\"} 3\n"));
  EXPECT_THAT(metrics, HasSubstr("podium_query_duration_seconds_count 3\n"));
  EXPECT_THAT(metrics, HasSubstr("podium_query_access_reviews_total{result=\"answered\"} 5\n"));
  EXPECT_THAT(RenderMetrics(metrics_, {}), Not(HasSubstr("podium_query")));
}

TEST_F(QueryRouteTest, RefusalsCarryTheirFields) {
  Start(32, {.body_bytes = 4'096});
  const Reply nobody = Ask().Exchange(Question(""));
  EXPECT_EQ(nobody.status, 401);
  EXPECT_TRUE(nobody.Has("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_TRUE(nobody.Has("\r\nWWW-Authenticate: Bearer realm=\"podium\"\r\n"));
  EXPECT_EQ(Ask().Exchange(Question("bad")).status, 401);
  EXPECT_TRUE(Ask().Exchange("GET /v1/feasibility HTTP/1.1\r\nHost: x\r\n\r\n").Has("\r\nAllow: POST\r\n"));
  EXPECT_EQ(Ask().Exchange(Post("/v1/feasibility", std::string(4'097, ' '))).status, 413);
  EXPECT_EQ(Ask().Exchange(Post("/validate", "{}")).status, 404) << "no webhook here";
  const std::string yaml =
      "POST /v1/feasibility HTTP/1.1\r\nHost: x\r\nContent-Type: application/yaml\r\nContent-Length: 2\r\n\r\n{}";
  EXPECT_EQ(Ask().Exchange(yaml).status, 415);
}

TEST_F(QueryRouteTest, AnApiServerThatIsAwayIsA503ToComeBackAfter) {
  Start();
  access_.FailWith(Error{ErrorKind::kUnavailable, "cannot connect"});
  const Reply reply = Ask().Exchange(Question());
  EXPECT_EQ(reply.status, 503);
  EXPECT_TRUE(reply.Has("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(reply.body, Not(HasSubstr("cannot connect")));
}

TEST_F(QueryRouteTest, AHangingApiServerDelaysNoReview) {
  Start();
  access_.OnQuestion([this] { gate_.Wait(); });
  std::vector<Client> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(Ask());
    ASSERT_TRUE(clients.back().Send(Question()));
    if (i == 3) gate_.WaitFor(4);  // all workers hang
  }
  // 32 wait behind those four; nobody else is let in, and they are told so while it hangs.
  int turned_away = 0;
  for (int i = 36; i < 64; ++i) {
    const Reply reply = clients[static_cast<std::size_t>(i)].Read();
    EXPECT_EQ(reply.status, 503);
    EXPECT_TRUE(reply.Has("\r\nRetry-After: 1\r\n"));
    EXPECT_EQ(reply.body, "{\"error\": \"too many questions at once; try again in a moment\"}\n");
    ++turned_away;
  }
  EXPECT_EQ(turned_away, 28);
  milliseconds slowest{};
  for (int i = 0; i < 20; ++i) slowest = std::max(slowest, TimeOfReview());
  EXPECT_LT(slowest, milliseconds(500)) << "of a few milliseconds on a machine with nothing else to do";
  access_.OnQuestion({});
  gate_.Open();
  for (int i = 0; i < 36; ++i) EXPECT_NE(clients[static_cast<std::size_t>(i)].Read().status, 0);
}

TEST_F(QueryRouteTest, WhatIsBeingAnsweredAtTheEndIsAnswered) {
  Start();
  access_.OnQuestion([this] { gate_.Wait(); });
  Client client = Ask();
  ASSERT_TRUE(client.Send(Question()));
  gate_.WaitFor(1);
  auto stopped = std::async(std::launch::async, [this] { query_->Stop(std::chrono::seconds(10)); });
  gate_.Open();
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, 200) << reply.body;
  stopped.get();
}

}  // namespace
}  // namespace podium
