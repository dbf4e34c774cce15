// The HTTPS client, on cpp-httplib. The only place that knows it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

struct ClientReply {
  int status = 0;
  std::string content_type;
  std::string body;
};

struct ClientOptions {
  std::string ca_file;  // PEM; required: an unverified connection is not offered
  std::chrono::milliseconds timeout{10'000};
  std::size_t max_body_bytes = 16 << 20;
};

// One keep-alive connection to one server; verified against `ca_file`, host name or IP against the certificate's SANs
// (the common name is never looked at). TLS 1.2 or 1.3, no redirects, no compression. Not thread-safe.
//
// Errors: kUnavailable (away, broken off), kTimeout (`timeout` counts from the start of a request, connecting included;
// a server that keeps dripping is given up after twice that at the latest), kPermission (the certificate is refused;
// nothing was sent), kInvalidInput (a reply over a limit, or a path that is none). Every HTTP status is a reply.
class HttpsClient {
 public:
  // `url`: "https://127.0.0.1:9443". kInvalidInput for anything else, and for a `ca_file` without certificates.
  // Connects with the first request, and again whenever the server has closed.
  static Result<std::unique_ptr<HttpsClient>> Connect(const std::string& url, const ClientOptions& options);
  virtual ~HttpsClient() = default;
  virtual Result<ClientReply> Post(const std::string& path, std::string_view body, const std::string& content_type) = 0;
  // Repeated once when the idle connection turns out to be closed. A Post is not: only the caller knows whether it may.
  virtual Result<ClientReply> Get(const std::string& path) = 0;
};

}  // namespace podium
