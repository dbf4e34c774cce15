#include "kube/plain_http.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/text.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

Error Unavailable(std::string message) { return {ErrorKind::kUnavailable, std::move(message)}; }

std::string LastProblem() { return std::generic_category().message(errno); }

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Until the socket can be read or written. False: the time is over.
bool WaitFor(const Socket& socket, short what, SteadyClock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
    if (left.count() <= 0) return false;
    pollfd entry{socket.get(), what, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next call tells
  }
}

Error TooSlow() { return {ErrorKind::kTimeout, "no answer in time"}; }

Result<Socket> ConnectTo(const addrinfo& address, SteadyClock::time_point until) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Unavailable(LastProblem());
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Unavailable(LastProblem());
  if (!WaitFor(socket, POLLOUT, until)) return TooSlow();
  int problem = 0;
  socklen_t size = sizeof problem;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
  if (problem != 0) return Unavailable(std::generic_category().message(problem));
  return socket;
}

Result<Socket> ConnectTo(const PlainUrl& url, SteadyClock::time_point until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found); code != 0)
    return Unavailable(::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  Result<Socket> socket = Unavailable("the name has no address");
  for (const addrinfo* each = all.get(); each != nullptr && !socket; each = each->ai_next)
    socket = ConnectTo(*each, until);
  return socket;
}

Status SendAll(const Socket& socket, std::string_view bytes, SteadyClock::time_point until) {
  while (!bytes.empty()) {
    if (!WaitFor(socket, POLLOUT, until)) return TooSlow();
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return Unavailable(LastProblem());
  }
  return {};
}

// Everything until the server closes, which it was asked to.
Result<std::string> ReceiveAll(const Socket& socket, SteadyClock::time_point until, std::size_t max_bytes) {
  std::string bytes;
  std::string part(64 << 10, '\0');
  while (true) {
    if (!WaitFor(socket, POLLIN, until)) return TooSlow();
    const ssize_t got = ::recv(socket.get(), part.data(), part.size(), 0);
    if (got == 0) return bytes;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return Unavailable(LastProblem());
    if (got > 0) bytes.append(part, 0, static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes)
      return Error{ErrorKind::kInvalidInput, "the answer has more than " + std::to_string(max_bytes) + " bytes"};
  }
}

// The length is known only when it is told: a connection that breaks off looks like one that ended.
Result<std::string> BodyOf(const std::string& reply) {
  const std::size_t end = reply.find("\r\n\r\n");
  if (!reply.starts_with("HTTP/1.1 ") || end == std::string::npos) return Unavailable("the answer is not HTTP/1.1");
  std::string head = reply.substr(0, end + 2);
  if (!head.starts_with("HTTP/1.1 200 "))
    return Unavailable("the server answered HTTP " + Printable(head.substr(9, head.find("\r\n") - 9)));
  std::transform(head.begin(), head.end(), head.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const std::string body = reply.substr(end + 4);
  if (head.find("\r\ncontent-length: " + std::to_string(body.size()) + "\r\n") == std::string::npos)
    return Unavailable("the answer broke off");
  return body;
}

bool IsPort(std::string_view text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() <= 5;
}

}  // namespace

Result<PlainUrl> ParsePlainUrl(std::string_view url) {
  const Error wrong{ErrorKind::kInvalidInput,
                    "found " + Quoted(url, 100) + "; wanted http://HOST:PORT of an operations listener"};
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return wrong;
  std::string_view rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !IsPort(rest.substr(colon + 1))) return wrong;
  std::string_view host = rest.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::string_view refused = bracketed ? "/?#@[]% " : "/?#@[]%: ";
  if (host.find_first_of(refused) != std::string_view::npos || Printable(host) != host) return wrong;
  return PlainUrl{std::string(host), std::string(rest.substr(colon + 1))};
}

Result<std::string> GetPlain(const PlainUrl& url, const std::string& path, const PlainLimits& limits) {
  const auto until = SteadyClock::now() + limits.overall;
  const Result<Socket> socket = ConnectTo(url, until);
  if (!socket) return socket.error();
  const std::string host = url.host.find(':') == std::string::npos ? url.host : '[' + url.host + ']';
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: " + host + ':' + url.port + "\r\nConnection: close\r\n\r\n";
  if (Status sent = SendAll(*socket, request, until); !sent) return sent.error();
  const Result<std::string> reply = ReceiveAll(*socket, until, limits.max_bytes);
  if (!reply) return reply.error();
  return BodyOf(*reply);
}

}  // namespace podium
