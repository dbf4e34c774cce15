#include "kube/transport.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

#include "core/text.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

// --- the address ----------------------------------------------------------------------------------------------------

struct Address {
  std::string host;  // an IPv6 address without its brackets
  int port = 443;
  bool is_ip = false;
};

bool IsIpLiteral(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// 0 when `text` is no port.
int ParsePort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && port >= 1 && port <= 65535 ? port : 0;
}

std::optional<Address> ParseAuthority(std::string_view authority) {
  Address address;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    address.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
    if (address.host.find(':') == std::string::npos || !IsIpLiteral(address.host)) return std::nullopt;
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    address.host = authority.substr(0, colon);
    port = authority.substr(colon);
    if (address.host.empty() || !std::all_of(address.host.begin(), address.host.end(), IsHostCharacter))
      return std::nullopt;
  }
  address.is_ip = IsIpLiteral(address.host);
  if (port.empty()) return address;
  if (port.front() != ':') return std::nullopt;
  address.port = ParsePort(port.substr(1));
  if (address.port == 0) return std::nullopt;
  return address;
}

// Scheme, host and port; a path, a query or a user in it would be dropped silently, so they are refused.
std::optional<Address> ParseUrl(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  return ParseAuthority(url);
}

// --- what a request may cost ----------------------------------------------------------------------------------------

// cpp-httplib limits neither the length of a line nor the number of header lines, restarts its read timeout with every
// byte, and matches the status line with a recursive std::regex. So the limits sit below it, in the socket BIO.
constexpr std::size_t kMaxHandshakeBytes = 256 << 10;
constexpr std::size_t kMaxHeadBytes = 16 << 10;  // one TLS record more may arrive, since records come whole

enum class Phase { kHandshake, kHead, kBody };
enum class Stop { kNone, kDeadline, kTooManyBytes, kBodyTooLarge, kCompressed };

// What one request has used up so far. One per client; the callbacks below find it through OpenSSL's extra data.
struct Meter {
  std::size_t max_body_bytes = 0;
  SteadyClock::time_point deadline;
  Phase phase = Phase::kHead;
  std::size_t wire_bytes = 0;  // read from the socket in this phase
  Stop stop = Stop::kNone;
  int certificate_error = X509_V_OK;

  void Begin(SteadyClock::time_point until) {
    deadline = until;
    stop = Stop::kNone;
    certificate_error = X509_V_OK;
    Enter(Phase::kHead);
  }

  void Enter(Phase next) {
    phase = next;
    wire_bytes = 0;
  }

  // Bytes on the wire, so the body's share leaves room for records and chunk heads.
  [[nodiscard]] std::size_t Budget() const {
    if (phase == Phase::kHandshake) return kMaxHandshakeBytes;
    return phase == Phase::kHead ? kMaxHeadBytes : 4 * max_body_bytes + kMaxHeadBytes;
  }

  [[nodiscard]] bool MayRead() {
    if (SteadyClock::now() >= deadline)
      stop = Stop::kDeadline;
    else if (wire_bytes >= Budget())
      stop = Stop::kTooManyBytes;
    return stop == Stop::kNone;
  }
};

long CountSocketBytes(BIO* bio, int operation, const char* /*data*/, std::size_t /*length*/, int /*argi*/,
                      long /*argl*/, int result, std::size_t* processed) {
  auto* meter = reinterpret_cast<Meter*>(BIO_get_callback_arg(bio));
  if (operation == BIO_CB_READ && !meter->MayRead()) {
    // What an earlier read left there ("try again") must not be taken for the answer to this one.
    BIO_clear_retry_flags(bio);
    return -1;
  }
  if (operation == (BIO_CB_READ | BIO_CB_RETURN) && result > 0 && processed != nullptr) meter->wire_bytes += *processed;
  return result;
}

int MeterIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

Meter& MeterOf(const SSL* ssl) { return *static_cast<Meter*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), MeterIndex())); }

void WatchHandshake(const SSL* ssl, int where, int /*result*/) {
  Meter& meter = MeterOf(ssl);
  BIO* bio = SSL_get_rbio(ssl);
  if ((where & SSL_CB_HANDSHAKE_START) != 0 && BIO_get_callback_ex(bio) == nullptr) {
    BIO_set_callback_ex(bio, CountSocketBytes);
    BIO_set_callback_arg(bio, reinterpret_cast<char*>(&meter));
    meter.Enter(Phase::kHandshake);
  }
  // TLS 1.3 reports each session ticket as a handshake too: only the first one begins a new phase.
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0 && meter.phase == Phase::kHandshake) meter.Enter(Phase::kHead);
}

int RecordCertificateError(int accepted, X509_STORE_CTX* store) {
  if (accepted == 1) return accepted;
  const auto* ssl = static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  MeterOf(ssl).certificate_error = X509_STORE_CTX_get_error(store);
  return accepted;
}

// --- TLS ------------------------------------------------------------------------------------------------------------

// cpp-httplib's own check accepts a matching common name although the certificate has alternative names, and reads
// past short IP entries. It is switched off; OpenSSL's, which ends the handshake before a byte of ours is sent, is on.
Status SecureContext(SSL_CTX* context, const Address& address, const std::string& ca_file, Meter& meter) {
  ERR_clear_error();
  if (SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    return Error{ErrorKind::kInvalidInput, "cannot read CA certificates from " + Quoted(ca_file) +
                                               "; it must be a readable PEM file with at least one certificate"};
  }
  X509_VERIFY_PARAM* wanted = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int named = address.is_ip ? X509_VERIFY_PARAM_set1_ip_asc(wanted, address.host.c_str())
                                  : X509_VERIFY_PARAM_set1_host(wanted, address.host.data(), address.host.size());
  const bool secured = named == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                       SSL_CTX_set_ex_data(context, MeterIndex(), &meter) == 1;
  ERR_clear_error();
  if (!secured) return Error{ErrorKind::kInternal, "OpenSSL refuses the settings of the client's TLS context"};
  SSL_CTX_set_security_level(context, 2);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, RecordCertificateError);
  SSL_CTX_set_info_callback(context, WatchHandshake);
  return {};
}

// Keeps a peer that went away from ending the process: cpp-httplib writes to the socket with the default SIGPIPE.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeBlocked() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// --- the client -----------------------------------------------------------------------------------------------------

bool IsVisibleAscii(char c) { return c > ' ' && c <= '~'; }

bool IsHeaderValue(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || IsVisibleAscii(c); });
}

bool IsPath(std::string_view path) {
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), IsVisibleAscii);
}

class HttplibClient final : public HttpsClient {
 public:
  HttplibClient(const Address& address, std::string url, const ClientOptions& options)
      : url_(std::move(url)),
        host_(address.host),
        options_(options),
        client_(std::make_unique<httplib::SSLClient>(address.host, address.port)) {
    meter_.max_body_bytes = options.max_body_bytes;
    client_->enable_server_certificate_verification(false);  // see SecureContext
    client_->set_connection_timeout(options.timeout);
    client_->set_read_timeout(options.timeout);
    client_->set_write_timeout(options.timeout);
    client_->set_keep_alive(true);
    client_->set_tcp_nodelay(true);
    client_->set_follow_location(false);
    client_->set_decompress(false);
    client_->set_url_encode(false);
  }

  ~HttplibClient() override {
    const SigpipeBlocked guard;
    client_.reset();
  }

  HttplibClient(const HttplibClient&) = delete;
  HttplibClient& operator=(const HttplibClient&) = delete;

  Status Secure(const Address& address) {
    if (!client_->is_valid()) return Error{ErrorKind::kInternal, "OpenSSL cannot create a TLS client context"};
    return SecureContext(client_->ssl_context(), address, options_.ca_file, meter_);
  }

  Result<ClientReply> Post(const std::string& path, std::string_view body, const std::string& content_type) override {
    if (!IsHeaderValue(content_type)) {
      return Error{ErrorKind::kInvalidInput, Quoted(content_type) +
                                                 " is not a content type; wanted is one line such as "
                                                 "application/json"};
    }
    httplib::Request request;
    request.method = "POST";
    request.path = path;
    request.body = body;
    request.set_header("Content-Type", content_type);
    return Send(request);
  }

  Result<ClientReply> Get(const std::string& path) override {
    httplib::Request request;
    request.method = "GET";
    request.path = path;
    const bool reused = client_->is_socket_open() != 0;
    Result<ClientReply> reply = Send(request);
    // A server that closed the idle connection is noticed only when the request fails on it. A GET may simply be
    // repeated; whether a POST may, only the caller knows.
    const bool stale = reused && !reply && reply.error().kind == ErrorKind::kUnavailable;
    return stale ? Send(request) : reply;
  }

 private:
  Result<ClientReply> Send(httplib::Request request) {
    if (!IsPath(request.path)) {
      return Error{ErrorKind::kInvalidInput,
                   Quoted(request.path) + " is not a path; wanted is '/' and then visible ASCII, the rest as %XX"};
    }
    ClientReply reply;
    request.response_handler = [this, &reply](const httplib::Response& head) { return AcceptHead(head, reply); };
    request.content_receiver = [this, &reply](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
      return AcceptBody({data, size}, reply);
    };
    const SigpipeBlocked guard;
    meter_.Begin(SteadyClock::now() + options_.timeout);
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    try {
      if (client_->send(request, response, error) && meter_.stop == Stop::kNone) return reply;
    } catch (const std::exception&) {
      client_->stop();
      return Error{ErrorKind::kUnavailable, url_ + " broke off or did not answer in HTTP"};
    }
    client_->stop();
    return Explain(error);
  }

  bool AcceptHead(const httplib::Response& head, ClientReply& reply) {
    meter_.Enter(Phase::kBody);
    reply.status = head.status;
    reply.content_type = head.get_header_value("Content-Type");
    // Nothing was offered in Accept-Encoding; expanding what comes anyway is how 200 bytes become 300 MiB.
    if (head.has_header("Content-Encoding") && head.get_header_value("Content-Encoding") != "identity")
      meter_.stop = Stop::kCompressed;
    return meter_.stop == Stop::kNone;
  }

  bool AcceptBody(std::string_view part, ClientReply& reply) {
    if (part.size() > options_.max_body_bytes - reply.body.size()) {
      meter_.stop = Stop::kBodyTooLarge;
      return false;
    }
    reply.body += part;
    return true;
  }

  [[nodiscard]] Error Explain(httplib::Error error) const {
    switch (meter_.stop) {
      case Stop::kNone: break;
      case Stop::kDeadline: return TimedOut();
      case Stop::kTooManyBytes: return TooManyBytes();
      case Stop::kBodyTooLarge:
        return {ErrorKind::kInvalidInput,
                url_ + " sent a body over the limit of " + std::to_string(options_.max_body_bytes) + " bytes"};
      case Stop::kCompressed:
        return {ErrorKind::kInvalidInput, url_ + " sent a compressed body, which was not asked for"};
    }
    if (meter_.certificate_error != X509_V_OK) return BadCertificate();
    if (SteadyClock::now() >= meter_.deadline || error == httplib::Error::ConnectionTimeout) return TimedOut();
    if (error == httplib::Error::Connection)
      return {ErrorKind::kUnavailable, "cannot connect to " + url_ + "; is the server running?"};
    if (error == httplib::Error::SSLConnection)
      return {ErrorKind::kUnavailable, "the TLS handshake with " + url_ + " failed; wanted is TLS 1.2 or 1.3"};
    return {ErrorKind::kUnavailable, url_ + " broke off or did not answer in HTTP"};
  }

  [[nodiscard]] Error TimedOut() const {
    return {ErrorKind::kTimeout,
            "no complete reply from " + url_ + " within " + std::to_string(options_.timeout.count()) + " ms"};
  }

  [[nodiscard]] Error TooManyBytes() const {
    if (meter_.phase == Phase::kHead) {
      return {ErrorKind::kInvalidInput,
              url_ + " sent a reply head over the limit of " + std::to_string(kMaxHeadBytes) + " bytes"};
    }
    const std::string part = meter_.phase == Phase::kHandshake ? "TLS handshake" : "body framing";
    return {ErrorKind::kInvalidInput, url_ + " sent more " + part + " than any server needs"};
  }

  [[nodiscard]] Error BadCertificate() const {
    return {ErrorKind::kPermission,
            "the certificate of " + url_ + " is refused: " + X509_verify_cert_error_string(meter_.certificate_error) +
                "; wanted is one for '" + host_ + "' among its subject alternative names, signed by a CA of " +
                Quoted(options_.ca_file)};
  }

  const std::string url_;
  const std::string host_;
  const ClientOptions options_;
  Meter meter_;
  std::unique_ptr<httplib::SSLClient> client_;  // its callbacks use meter_: declared behind it, gone before it
};

}  // namespace

Result<std::unique_ptr<HttpsClient>> HttpsClient::Connect(const std::string& url, const ClientOptions& options) {
  const std::optional<Address> address = ParseUrl(url);
  if (!address) {
    return Error{ErrorKind::kInvalidInput, Quoted(url) +
                                               " is not a server; wanted is https://HOST:PORT, without a path, such as "
                                               "https://127.0.0.1:9443"};
  }
  if (options.timeout <= std::chrono::milliseconds::zero())
    return Error{ErrorKind::kInvalidInput, "the timeout of a request must be over 0 ms"};
  auto client = std::make_unique<HttplibClient>(*address, url, options);
  if (const Status secured = client->Secure(*address); !secured) return secured.error();
  return std::unique_ptr<HttpsClient>(std::move(client));
}

}  // namespace podium
