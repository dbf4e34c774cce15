// A client that says exactly what the test wants, byte by byte, plain or TLS. Blocking, with a deadline on every read.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace podium {

struct Reply {
  int status = 0;  // 0: the connection ended before a whole answer
  std::string head;
  std::string body;

  [[nodiscard]] bool Has(std::string_view field) const { return head.find(field) != std::string::npos; }
};

struct TlsClientOptions {
  int max_version = TLS1_3_VERSION;
  int security_level = 1;
  std::string alpn{};  // wire form: "\x02h2"
};

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) { Connect(port); }
  // Borrows nothing: `socket` is owned from now on. For tests that need their descriptors early.
  Client(int socket, std::uint16_t port) : socket_(socket) { Connect(port); }
  ~Client() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    if (socket_ >= 0) ::close(socket_);
  }
  Client(Client&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        context_(std::exchange(other.context_, nullptr)),
        ssl_(std::exchange(other.ssl_, nullptr)),
        connected_(other.connected_),
        input_(std::move(other.input_)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  static Client Tls(std::uint16_t port, const TlsClientOptions& options = {}) {
    Client client(port);
    client.Handshake(options);
    return client;
  }

  bool Handshake(const TlsClientOptions& options) {
    context_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context_, options.security_level);
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_, options.max_version);
    SSL_CTX_set_options(context_, SSL_OP_IGNORE_UNEXPECTED_EOF);
    ssl_ = SSL_new(context_);
    const auto* alpn = reinterpret_cast<const unsigned char*>(options.alpn.data());
    if (!options.alpn.empty()) SSL_set_alpn_protos(ssl_, alpn, static_cast<unsigned>(options.alpn.size()));
    SSL_set_fd(ssl_, socket_);
    ERR_clear_error();
    connected_ = connected_ && SSL_connect(ssl_) == 1;
    return connected_;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] SSL* ssl() const { return ssl_; }
  [[nodiscard]] std::string PeerCommonName() const {
    const std::unique_ptr<X509, decltype(&X509_free)> peer(SSL_get1_peer_certificate(ssl_), X509_free);
    char name[64] = "";
    if (peer) X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name, sizeof name);
    return name;
  }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                          : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  // Waits for bytes (or the end) for at most `limit`; true when there is something to read.
  [[nodiscard]] bool Readable(std::chrono::milliseconds limit) const {
    pollfd wait{socket_, POLLIN, 0};
    return (ssl_ != nullptr && SSL_pending(ssl_) > 0) || ::poll(&wait, 1, static_cast<int>(limit.count())) > 0;
  }

  // All bytes until the server closes. The 10 s are a test's failure, not an expectation.
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return std::exchange(input_, {});
  }

  Reply Read() {
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos)
      if (!ReadMore()) return {};
    Reply reply;
    reply.head = input_.substr(0, end + 4);
    const std::size_t length = LengthIn(reply.head);
    while (input_.size() < end + 4 + length)
      if (!ReadMore()) return {};
    reply.status = std::atoi(input_.c_str() + sizeof("HTTP/1.1"));
    reply.body = input_.substr(end + 4, length);
    input_.erase(0, end + 4 + length);
    return reply;
  }

  Reply Exchange(std::string_view request) { return Send(request) ? Read() : Reply{}; }

 private:
  void Connect(std::uint16_t port) {
    const timeval limit{10, 0};
    const int on = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool ReadMore() {
    char buffer[16 << 10];
    const ssize_t got =
        ssl_ != nullptr ? SSL_read(ssl_, buffer, sizeof buffer) : ::recv(socket_, buffer, sizeof buffer, 0);
    EXPECT_FALSE(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && ssl_ == nullptr) << "no answer in 10 s";
    if (got <= 0) return false;
    input_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  static std::size_t LengthIn(const std::string& head) {
    const std::size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 16, nullptr, 10);
  }

  int socket_;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
  std::string input_;
};

// A well-formed POST with the API server's headers; `more` are further header lines, each with its CRLF.
inline std::string Post(std::string_view target, std::string_view body, std::string_view more = "") {
  std::string text = "POST " + std::string(target) + " HTTP/1.1\r\nHost: podium.podium-system.svc\r\n";
  text += "User-Agent: kube-apiserver-admission\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  text += "Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n";
  return text.append(more).append("\r\n").append(body);
}

}  // namespace podium
