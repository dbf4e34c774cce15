#include "kube/transport.h"

#include <fcntl.h>
#include <httplib.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <functional>
#include <utility>

#include "core/mutex.h"
#include "core/text.h"
#include "kube/address.h"
#include "kube/tls.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

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

// --- the socket -----------------------------------------------------------------------------------------------------

// A peer that vanished without a word is noticed after a minute, by whichever of the two applies.
void WatchPeer(int socket) {
  const auto set = [socket](int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

// A second descriptor of the client's socket. cpp-httplib's stop() waits for whoever connects, and closes the number
// that another thread may get at once; a shutdown of our own descriptor does neither.
class SocketHandle {
 public:
  SocketHandle() = default;
  ~SocketHandle() { Replace(-1); }
  SocketHandle(const SocketHandle&) = delete;
  SocketHandle& operator=(const SocketHandle&) = delete;

  void Take(int socket) { Replace(fcntl(socket, F_DUPFD_CLOEXEC, 0)); }
  // Between two requests: the peer has closed, or sends what nobody asked for.
  bool HasInput() {
    const MutexLock lock(mutex_);
    pollfd socket{copy_, POLLIN, 0};
    return copy_ >= 0 && poll(&socket, 1, 0) > 0;
  }
  void Shutdown() {
    const MutexLock lock(mutex_);
    if (copy_ >= 0) shutdown(copy_, SHUT_RDWR);
  }

 private:
  void Replace(int copy) {
    const MutexLock lock(mutex_);
    if (copy_ >= 0) close(copy_);
    copy_ = copy;
  }

  Mutex mutex_;
  int copy_ PODIUM_GUARDED_BY(mutex_) = -1;
};

// --- requests -------------------------------------------------------------------------------------------------------

bool IsVisibleAscii(char c) { return c > ' ' && c <= '~'; }

bool IsHeaderValue(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || IsVisibleAscii(c); });
}

bool IsPath(std::string_view path) {
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), IsVisibleAscii);
}

bool IsSuccess(int status) { return status >= 200 && status <= 299; }

bool IsMethod(std::string_view method) {
  constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

Status CheckRequest(const ClientRequest& request) {
  std::string problem;
  if (!IsMethod(request.method))
    problem = Quoted(request.method) + " is not a method; wanted is GET, POST, PUT, PATCH or DELETE";
  else if (!IsPath(request.path))
    problem = Quoted(request.path) + " is not a path; wanted is '/' and then visible ASCII, the rest as %XX";
  else if ((request.method != "GET" && request.method != "DELETE" && !IsHeaderValue(request.content_type)) ||
           (!request.content_type.empty() && !IsHeaderValue(request.content_type)))
    problem = Quoted(request.content_type) + " is not a content type; wanted is one line such as application/json";
  else if (!request.accept.empty() && !IsHeaderValue(request.accept))
    problem = Quoted(request.accept) + " is not a list of content types for Accept";
  else if (!std::all_of(request.bearer_token.begin(), request.bearer_token.end(), IsVisibleAscii))
    problem = "the bearer token has characters that no header may have; wanted is visible ASCII";
  if (problem.empty()) return {};
  return Error{ErrorKind::kInvalidInput, problem};
}

httplib::Request ToHttplib(const ClientRequest& from) {
  httplib::Request to;
  to.method = from.method;
  to.path = from.path;
  to.body = from.body;
  to.set_header("User-Agent", "podium");  // to some agents the API server answers with blanks for the eye
  if (!from.content_type.empty()) to.set_header("Content-Type", from.content_type);
  if (!from.accept.empty()) to.set_header("Accept", from.accept);
  if (!from.bearer_token.empty()) to.set_header("Authorization", "Bearer " + from.bearer_token);
  return to;
}

std::optional<std::chrono::seconds> ReadRetryAfter(const std::string& text) {
  constexpr int kLongest = 86'400;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kLongest));
}

// --- the client -----------------------------------------------------------------------------------------------------

class HttplibClient final : public HttpsClient {
 public:
  HttplibClient(const Address& address, std::string url, const ClientOptions& options)
      : url_(std::move(url)),
        name_(options.server_name.empty() ? address.host : options.server_name),
        options_(options),
        client_(std::make_unique<httplib::SSLClient>(address.host, address.port)) {
    client_->enable_server_certificate_verification(false);  // see SecureTls
    client_->set_connection_timeout(std::min(options.timeout, options.connect_timeout));
    client_->set_write_timeout(options.timeout);
    client_->set_keep_alive(true);
    client_->set_tcp_nodelay(true);
    client_->set_follow_location(false);
    client_->set_decompress(false);
    client_->set_url_encode(false);
    client_->set_socket_options([this](int socket) {
      fcntl(socket, F_SETFD, FD_CLOEXEC);
      WatchPeer(socket);
      socket_.Take(socket);
    });
  }

  ~HttplibClient() override {
    const SigpipeBlocked guard;
    client_.reset();
  }

  HttplibClient(const HttplibClient&) = delete;
  HttplibClient& operator=(const HttplibClient&) = delete;

  Status Secure() {
    if (!client_->is_valid()) return Error{ErrorKind::kInternal, "OpenSSL cannot create a TLS client context"};
    return SecureTls(client_->ssl_context(), {name_, 0, IsIpLiteral(name_)},
                     {options_.ca_file, options_.ca_pem, options_.client_certificate_pem, options_.client_key_pem},
                     meter_);
  }

  Result<ClientReply> Send(const ClientRequest& request) override {
    if (const Status checked = CheckRequest(request); !checked) return checked.error();
    // cpp-httplib's own look at an idle connection is fooled by a close_notify that waits to be read.
    if (client_->is_socket_open() != 0 && socket_.HasInput()) {
      const SigpipeBlocked guard;
      client_->stop();
    }
    const bool reused = client_->is_socket_open() != 0;
    Result<ClientReply> reply = SendOnce(request);
    // A server that closes the idle connection just now is noticed only when the request fails on it. A GET may simply
    // be repeated; whether a POST may, only the caller knows.
    const bool stale = reused && !reply && reply.error().kind == ErrorKind::kUnavailable && request.method == "GET";
    return stale && !meter_.cancelled ? SendOnce(request) : reply;
  }

  Result<ClientReply> Stream(const ClientRequest& request, const StreamLimits& limits,
                             ByteReceiver& receiver) override {
    if (const Status checked = CheckRequest(request); !checked) return checked.error();
    const auto on_head = [&receiver](const ClientReply& reply) {
      if (IsSuccess(reply.status)) receiver.Opened();
    };
    return Run(request, limits, on_head, [&receiver](std::string_view part, ClientReply& reply) {
      constexpr std::size_t kMaxErrorBytes = 8 << 10;
      if (IsSuccess(reply.status)) return receiver.Take(part);
      reply.body += part.substr(0, kMaxErrorBytes - reply.body.size());
      return Status();
    });
  }

  void Cancel() override {
    meter_.cancelled = true;
    socket_.Shutdown();
  }

 private:
  using Stop = TlsMeter::Stop;
  using OnHead = std::function<void(const ClientReply& reply)>;
  using OnPart = std::function<Status(std::string_view part, ClientReply& reply)>;

  Result<ClientReply> SendOnce(const ClientRequest& request) {
    return Run(
        request, {options_.timeout, options_.timeout, options_.max_body_bytes}, [](const ClientReply&) {},
        [](std::string_view part, ClientReply& reply) {
          reply.body += part;
          return Status();
        });
  }

  Result<ClientReply> Run(const ClientRequest& what, const StreamLimits& limits, const OnHead& on_head,
                          const OnPart& on_part) {
    if (meter_.cancelled) return Cancelled();
    ClientReply reply;
    std::size_t received = 0;
    Status taken;
    httplib::Request request = ToHttplib(what);
    request.response_handler = [&](const httplib::Response& head) {
      const bool accepted = AcceptHead(head, reply);
      if (accepted) on_head(reply);
      return accepted;
    };
    request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
      if (!AcceptPart(size, received)) return false;
      received += size;
      taken = on_part({data, size}, reply);
      if (!taken) meter_.stop = Stop::kReceiver;
      return taken.ok();
    };
    client_->set_read_timeout(limits.silence);
    const SigpipeBlocked guard;
    meter_.Begin(SteadyClock::now() + limits.overall, limits.max_body_bytes);
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    const bool complete = SendGuarded(request, response, error) && meter_.stop == Stop::kNone;
    if (complete && !meter_.cancelled) return reply;
    client_->stop();
    if (!taken) return taken.error();
    return Explain(error, limits);
  }

  bool SendGuarded(httplib::Request& request, httplib::Response& response, httplib::Error& error) {
    try {
      return client_->send(request, response, error);
    } catch (const std::exception&) {
      error = httplib::Error::Read;
      return false;
    }
  }

  bool AcceptHead(const httplib::Response& head, ClientReply& reply) {
    meter_.Enter(TlsMeter::Phase::kBody);
    reply.status = head.status;
    reply.content_type = head.get_header_value("Content-Type");
    reply.retry_after = ReadRetryAfter(head.get_header_value("Retry-After"));
    // Nothing was offered in Accept-Encoding; expanding what comes anyway is how 200 bytes become 300 MiB.
    if (head.has_header("Content-Encoding") && head.get_header_value("Content-Encoding") != "identity")
      meter_.stop = Stop::kCompressed;
    return meter_.stop == Stop::kNone;
  }

  bool AcceptPart(std::size_t size, std::size_t received) {
    if (size > meter_.max_body_bytes - received) meter_.stop = Stop::kBodyTooLarge;
    if (meter_.cancelled) meter_.stop = Stop::kCancelled;
    return meter_.stop == Stop::kNone;
  }

  [[nodiscard]] Error Explain(httplib::Error error, const StreamLimits& limits) const {
    if (meter_.cancelled) return Cancelled();
    if (meter_.stop == Stop::kDeadline) return TimedOut(limits);
    if (meter_.stop == Stop::kTooManyBytes) return TooManyBytes();
    if (meter_.stop == Stop::kBodyTooLarge) {
      return {ErrorKind::kInvalidInput,
              url_ + " sent a body over the limit of " + std::to_string(meter_.max_body_bytes) + " bytes"};
    }
    if (meter_.stop == Stop::kCompressed)
      return {ErrorKind::kInvalidInput, url_ + " sent a compressed body, which was not asked for"};
    if (meter_.certificate_error != 0) return BadCertificate();
    const SteadyClock::time_point now = SteadyClock::now();
    if (now >= meter_.deadline || error == httplib::Error::ConnectionTimeout) return TimedOut(limits);
    if (error == httplib::Error::Connection)
      return {ErrorKind::kUnavailable, "cannot connect to " + url_ + "; is the server running?"};
    if (error == httplib::Error::SSLConnection)
      return {ErrorKind::kUnavailable, "the TLS handshake with " + url_ + " failed; wanted is TLS 1.2 or 1.3"};
    if (now - meter_.last_byte >= limits.silence) {
      return {ErrorKind::kTimeout,
              url_ + " was silent for " + std::to_string(limits.silence.count()) + " ms in the middle of a reply"};
    }
    return {ErrorKind::kUnavailable, url_ + " broke off or did not answer in HTTP"};
  }

  [[nodiscard]] Error Cancelled() const {
    return {ErrorKind::kUnavailable, "the request to " + url_ + " was cancelled"};
  }

  [[nodiscard]] Error TimedOut(const StreamLimits& limits) const {
    return {ErrorKind::kTimeout,
            "no complete reply from " + url_ + " within " + std::to_string(limits.overall.count()) + " ms"};
  }

  [[nodiscard]] Error TooManyBytes() const {
    if (meter_.phase == TlsMeter::Phase::kHead) {
      return {ErrorKind::kInvalidInput,
              url_ + " sent a reply head over the limit of " + std::to_string(kMaxHeadBytes) + " bytes"};
    }
    const std::string part = meter_.phase == TlsMeter::Phase::kHandshake ? "TLS handshake" : "body framing";
    return {ErrorKind::kInvalidInput, url_ + " sent more " + part + " than any server needs"};
  }

  [[nodiscard]] Error BadCertificate() const {
    return {ErrorKind::kPermission,
            "the certificate of " + url_ + " is refused: " + CertificateErrorText(meter_.certificate_error) +
                "; wanted is one for '" + name_ + "' among its subject alternative names, signed by a CA of " +
                Quoted(options_.ca_file)};
  }

  const std::string url_;
  const std::string name_;  // what the certificate must be for
  const ClientOptions options_;
  TlsMeter meter_;
  SocketHandle socket_;
  std::unique_ptr<httplib::SSLClient> client_;  // its callbacks use meter_: declared behind it, gone before it
};

}  // namespace

Result<ClientReply> HttpsClient::Post(const std::string& path, std::string_view body, const std::string& content_type) {
  ClientRequest request;
  request.method = "POST";
  request.path = path;
  request.content_type = content_type;
  request.body = body;
  return Send(request);
}

Result<ClientReply> HttpsClient::Get(const std::string& path) {
  ClientRequest request;
  request.method = "GET";
  request.path = path;
  return Send(request);
}

Result<std::unique_ptr<HttpsClient>> HttpsClient::Connect(const std::string& url, const ClientOptions& options) {
  const std::optional<Address> address = ParseAddress(url);
  if (!address) {
    return Error{ErrorKind::kInvalidInput, Quoted(url) +
                                               " is not a server; wanted is https://HOST:PORT, without a path, such as "
                                               "https://127.0.0.1:9443"};
  }
  if (options.timeout <= milliseconds::zero())
    return Error{ErrorKind::kInvalidInput, "the timeout of a request must be over 0 ms"};
  auto client = std::make_unique<HttplibClient>(*address, url, options);
  if (const Status secured = client->Secure(); !secured) return secured.error();
  return std::unique_ptr<HttpsClient>(std::move(client));
}

}  // namespace podium
