#include "cli/query_listener.h"

#include <chrono>
#include <utility>

#include "cli/live_version.h"
#include "kube/access_api.h"
#include "kube/api_client.h"
#include "serving/query.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr const char* kName = "query";
constexpr int kWorkers = 4;
constexpr std::size_t kQueue = 32;  // beside those that are being answered
constexpr std::size_t kConnections = 64;
constexpr std::size_t kMostBodyBytes = 1 << 20;  // no stored object is bigger than etcd's 1.5 MiB
constexpr milliseconds kApiCallTime{2'000};
constexpr milliseconds kApiConnectTime{1'000};
constexpr milliseconds kStopTime{2'000};

EngineLimits Limits() {
  EngineLimits limits;
  limits.connections = kConnections;
  limits.body_bytes = kMostBodyBytes;
  limits.bytes_in_flight = 16 << 20;
  limits.idle = milliseconds(30'000);
  return limits;
}

}  // namespace

// Destroyed in reverse order: first who asks, then who answers.
struct QueryListener::Impl {
  Impl(std::unique_ptr<ApiClient> client, const QueryListenerOptions& options, QueryDeps deps)
      : address(options.listen),
        api(std::move(client)),
        reviewer(*api, options.audiences),
        access(reviewer),
        version(*api),
        service(With(std::move(deps))),
        pool(kWorkers, kQueue) {}

  QueryDeps With(QueryDeps deps) {
    deps.access = &access;
    if (!deps.version) deps.version = [this] { return version.Get(); };
    return deps;
  }

  SocketAddress address;
  std::unique_ptr<ApiClient> api;
  KubeAccessReviewer reviewer;
  AccessCache access;
  LiveVersion version;
  FeasibilityService service;
  WorkerPool pool;
  std::unique_ptr<Engine> engine;
};

QueryListener::QueryListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

QueryListener::~QueryListener() { Stop(); }

Result<std::unique_ptr<QueryListener>> QueryListener::Start(const ClusterAccess& access,
                                                            const QueryListenerOptions& options, QueryDeps deps,
                                                            const Cell<TlsMaterial>& tls, Metrics& metrics) {
  Result<std::unique_ptr<ApiClient>> api = ConnectApi(
      access, {.call_time = kApiCallTime, .connect_time = kApiConnectTime, .max_body_bytes = kMostBodyBytes});
  if (!api) return api.error().WithContext(access.origin);
  auto impl = std::make_unique<Impl>(*std::move(api), options, std::move(deps));
  Listener listener{.name = kName, .address = options.listen.address, .port = options.listen.port, .tls = &tls};
  listener.limits = Limits();
  listener.routes = QueryRoutes({.service = &impl->service, .pool = &impl->pool, .metrics = &metrics});
  std::vector<Listener> listeners;
  listeners.push_back(std::move(listener));
  Result<std::unique_ptr<Engine>> engine = Engine::Start(std::move(listeners), 1);
  if (!engine) return engine.error();
  impl->engine = *std::move(engine);
  impl->address.port = impl->engine->PortOf(kName);
  return std::unique_ptr<QueryListener>(new QueryListener(std::move(impl)));
}

Engine& QueryListener::engine() { return *impl_->engine; }

const AccessCache& QueryListener::access() const { return impl_->access; }

SocketAddress QueryListener::address() const { return impl_->address; }

void QueryListener::Stop() {
  if (impl_->engine) impl_->engine->Stop(kStopTime);
  impl_->pool.Stop();
}

}  // namespace podium
