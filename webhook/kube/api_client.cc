#include "kube/api_client.h"

#include <algorithm>
#include <functional>

#include "core/mutex.h"
#include "core/regular_file.h"
#include "kube/address.h"
#include "kube/credentials.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kUnauthorized = 401;

// A connection and what it was made from.
struct Connection {
  std::unique_ptr<HttpsClient> client;
  std::string mark;
  SteadyClock::time_point idle_since;
};

class PooledClient final : public ApiClient {
 public:
  PooledClient(const ClusterAccess& access, const ApiClientOptions& options)
      : access_(access),
        url_(SplitServerUrl(access.server)),
        options_(options),
        credentials_(access.token, options.exec) {}

  Status Check() const {
    const Result<std::unique_ptr<HttpsClient>> client = Open({});
    return client ? Status() : Status(client.error());
  }

  Result<ApiReply> Call(const ApiRequest& request) override {
    return Authorized(request, [this](const ClientRequest& what, const Credential& credential) {
      Result<Connection> connection = Take(credential);
      if (!connection) return Result<ClientReply>(connection.error());
      Result<ClientReply> reply = connection->client->Send(what);
      if (reply) Return(std::move(*connection));
      return reply;
    });
  }

  Result<ApiReply> Stream(const std::string& path, const Query& query, const StreamLimits& limits,
                          ByteReceiver& receiver, const std::stop_token& stop) override {
    const ApiRequest request{.path = path, .query = query};
    return Authorized(request, [&](const ClientRequest& what, const Credential& credential) {
      // Never one of the pool: a stream holds its connection for minutes, and Cancel spoils it.
      Result<std::unique_ptr<HttpsClient>> client = Open(credential);
      if (!client) return Result<ClientReply>(client.error());
      const std::stop_callback cancel(stop, [&client] { (*client)->Cancel(); });
      return (*client)->Stream(what, limits, receiver);
    });
  }

 private:
  using Exchange = std::function<Result<ClientReply>(const ClientRequest& request, const Credential& credential)>;

  Result<ApiReply> Authorized(const ApiRequest& from, const Exchange& exchange) {
    ClientRequest request{from.method,        url_.path + from.path + EncodeQuery(from.query),
                          from.content_type,  from.body,
                          "application/json", ""};
    Result<Credential> credential = credentials_.Current();
    if (!credential) return credential.error();
    request.bearer_token = credential->token;
    Result<ClientReply> reply = exchange(request, *credential);
    if (reply && reply->status == kUnauthorized && credentials_.Reject(credential->token)) {
      credential = credentials_.Current();
      if (!credential) return credential.error();
      request.bearer_token = credential->token;
      reply = exchange(request, *credential);
    }
    if (!reply) return reply.error();
    return ApiReply{reply->status, std::move(reply->body), reply->retry_after};
  }

  // --- connections --------------------------------------------------------------------------------------------------

  Result<std::unique_ptr<HttpsClient>> Open(const Credential& credential) const {
    const Result<std::string> ca = ReadPem(access_.ca, "CA");
    if (!ca) return ca.error();
    Result<std::string> certificate = ReadPem(access_.client_certificate, "client certificate");
    if (!certificate) return certificate.error();
    Result<std::string> key = ReadPem(access_.client_key, "client key");
    if (!key) return key.error();
    ClientOptions options;
    options.ca_file = access_.ca.file.empty() ? access_.origin : access_.ca.file;
    options.ca_pem = *ca;
    const bool plugin_has_key = !credential.client_key_pem.empty();
    options.client_certificate_pem = plugin_has_key ? credential.client_certificate_pem : *certificate;
    options.client_key_pem = plugin_has_key ? credential.client_key_pem : *key;
    options.server_name = access_.tls_server_name;
    options.timeout = options_.call_time;
    options.connect_timeout = options_.connect_time;
    options.max_body_bytes = options_.max_body_bytes;
    return HttpsClient::Connect(url_.origin, options);
  }

  [[nodiscard]] std::string Mark(const Credential& credential) const {
    return FileMark(access_.ca.file) + ' ' + FileMark(access_.client_certificate.file) + ' ' +
           FileMark(access_.client_key.file) + ' ' + credential.client_certificate_pem;
  }

  Result<Connection> Take(const Credential& credential) {
    Connection taken{nullptr, Mark(credential), {}};
    {
      const MutexLock lock(mutex_);
      const SteadyClock::time_point oldest = SteadyClock::now() - options_.idle_time;
      std::erase_if(idle_, [&](const Connection& idle) { return idle.mark != taken.mark || idle.idle_since < oldest; });
      if (!idle_.empty()) {
        taken = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (taken.client != nullptr) return taken;
    Result<std::unique_ptr<HttpsClient>> opened = Open(credential);
    if (!opened) return opened.error();
    taken.client = std::move(*opened);
    return taken;
  }

  void Return(Connection connection) {
    const MutexLock lock(mutex_);
    if (idle_.size() >= options_.idle_connections) return;
    connection.idle_since = SteadyClock::now();
    idle_.push_back(std::move(connection));
  }

  const ClusterAccess access_;
  const SplitUrl url_;
  const ApiClientOptions options_;
  CredentialSource credentials_;
  Mutex mutex_;
  std::vector<Connection> idle_ PODIUM_GUARDED_BY(mutex_);
};

}  // namespace

std::string EncodeQuery(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += text.empty() ? '?' : '&';
    text += PercentEncoded(name) + '=' + PercentEncoded(value);
  }
  return text;
}

Result<std::unique_ptr<ApiClient>> ConnectApi(const ClusterAccess& access, const ApiClientOptions& options) {
  auto client = std::make_unique<PooledClient>(access, options);
  if (const Status checked = client->Check(); !checked)
    return checked.error().WithContext("reaching the cluster of " + access.origin);
  return std::unique_ptr<ApiClient>(std::move(client));
}

}  // namespace podium
