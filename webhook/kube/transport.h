// The HTTPS client, on cpp-httplib. The only place that knows it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

struct ClientRequest {
  std::string method;        // GET, POST, PUT, PATCH or DELETE
  std::string path;          // with its query
  std::string content_type;  // of the body; empty only when there is none
  std::string body;
  std::string accept;        // empty: not said
  std::string bearer_token;  // empty: none
};

struct ClientReply {
  int status = 0;
  std::string content_type;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;  // the header, when it is a number
};

struct ClientOptions {
  std::string ca_file;                 // PEM; required: an unverified connection is not offered
  std::string ca_pem;                  // PEM text instead; `ca_file` then only names it in messages
  std::string client_certificate_pem;  // with its chain; empty: none
  std::string client_key_pem;
  std::string server_name;  // of the certificate; empty: the URL's host
  std::chrono::milliseconds timeout{10'000};
  std::chrono::milliseconds connect_timeout{5'000};  // the handshake included
  std::size_t max_body_bytes = 16 << 20;
};

struct StreamLimits {
  std::chrono::milliseconds silence{90'000};  // the longest time without a byte
  std::chrono::milliseconds overall{600'000};
  std::size_t max_body_bytes = std::size_t{2} << 30;
};

// Takes the body of a 2xx reply as it arrives.
class ByteReceiver {
 public:
  virtual ~ByteReceiver() = default;
  virtual void Opened() = 0;                        // the head has come, and no byte of the body yet
  virtual Status Take(std::string_view bytes) = 0;  // an error ends the request and is its result
};

// One keep-alive connection to one server; verified against the CA, host name or IP against the certificate's SANs (the
// common name is never looked at). TLS 1.2 or 1.3, no redirects, no compression. Not thread-safe, but for Cancel.
//
// Errors: kUnavailable (away, broken off, cancelled), kTimeout (`timeout` counts from the start of a request,
// connecting included; a server that keeps dripping is given up after twice that at the latest), kPermission (the
// certificate is refused; nothing was sent), kInvalidInput (a reply over a limit, or a path that is none). Every HTTP
// status is a reply.
class HttpsClient {
 public:
  // `url`: "https://127.0.0.1:9443". kInvalidInput for anything else, for a CA without certificates and for a client
  // certificate without its key. Connects with the first request, and again whenever the server has closed.
  static Result<std::unique_ptr<HttpsClient>> Connect(const std::string& url, const ClientOptions& options);
  virtual ~HttpsClient() = default;

  // A GET is repeated once when the idle connection turns out to be closed. Nothing else is: only the caller knows
  // whether it may.
  virtual Result<ClientReply> Send(const ClientRequest& request) = 0;
  // Hands the body of a 2xx reply to `receiver` as it arrives; the reply's body is empty then, and the first 8 KiB of
  // the body otherwise. A body without length that breaks off looks like one that ended (HTTP cannot tell): the
  // receiver must know an end when it sees one. kTimeout also for silence. Never repeated.
  virtual Result<ClientReply> Stream(const ClientRequest& request, const StreamLimits& limits,
                                     ByteReceiver& receiver) = 0;
  // From any thread: ends the request that is under way, and all later ones, with kUnavailable. Wakes a silent wait.
  virtual void Cancel() = 0;

  Result<ClientReply> Post(const std::string& path, std::string_view body, const std::string& content_type);
  Result<ClientReply> Get(const std::string& path);
};

}  // namespace podium
