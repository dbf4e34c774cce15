// Requests to the API server. The port behind which reflectors and writers meet it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/cluster_access.h"
#include "kube/exec_plugin.h"
#include "kube/transport.h"
#include "podium/result.h"

namespace podium {

using Query = std::vector<std::pair<std::string, std::string>>;

// EncodeQuery({{"fieldSelector", "status.phase!=Failed"}}) -> "?fieldSelector=status.phase%21%3DFailed"; {} -> "".
std::string EncodeQuery(const Query& query);

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // without a query
  Query query = {};
  std::string content_type = {};
  std::string body = {};
};

struct ApiReply {
  int status = 0;
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};
};

// Thread-safe. Every HTTP status is a reply; ReadApiError makes something of it. Errors are those of HttpsClient, and
// kUnavailable, kTimeout, kNotFound and kInvalidInput of a credential that cannot be had.
class ApiClient {
 public:
  virtual ~ApiClient() = default;
  // A short call. After 401 the credential is read anew and the call made once more. A GET on a connection that turns
  // out to be closed is repeated once; a write never is: whether it was done is unknown, so look before you repeat it.
  virtual Result<ApiReply> Call(const ApiRequest& request) = 0;
  // The body of a LIST or WATCH, as it arrives; see HttpsClient::Stream. `stop` ends it at once with kUnavailable.
  virtual Result<ApiReply> Stream(const std::string& path, const Query& query, const StreamLimits& limits,
                                  ByteReceiver& receiver, const std::stop_token& stop) = 0;
};

struct ApiClientOptions {
  std::chrono::milliseconds call_time{10'000};  // of each attempt, connecting included
  std::chrono::milliseconds connect_time{5'000};
  std::size_t max_body_bytes = 16 << 20;
  std::size_t idle_connections = 4;
  // Go's server closes idle connections after 90 s; one that may be closed is not worth a write.
  std::chrono::milliseconds idle_time{30'000};
  ExecLimits exec = {};
};

// Reads the access's files once, so that a mistake shows at once; connects with the first request. Files that change
// later (the CA, the client certificate) are noticed with the next request.
Result<std::unique_ptr<ApiClient>> ConnectApi(const ClusterAccess& access, const ApiClientOptions& options = {});

}  // namespace podium
