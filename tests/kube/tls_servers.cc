#include "kube/tls_servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace podium::testing_tls {

HttpServer::HttpServer(const Identity& identity, const std::function<void(httplib::Server&)>& add_routes)
    : server_(identity.certificate.get(), identity.key.get()) {
  add_routes(server_);
  server_.set_tcp_nodelay(true);
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::yield();  // stop() before the loop runs would be lost
}

HttpServer::~HttpServer() {
  server_.stop();
  thread_.join();
}

RawServer::RawServer(const Identity& identity, Session session, int max_version)
    : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free), session_(std::move(session)) {
  SSL_CTX_set_security_level(context_.get(), 0);  // the old versions that the client is to refuse
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context_.get(), max_version);
  SSL_CTX_use_certificate(context_.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(context_.get(), identity.key.get());
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 16);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

RawServer::~RawServer() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void RawServer::Serve() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);  // a client that hangs up is no event here
  for (;;) {
    const int socket = accept(listener_, nullptr, nullptr);
    if (socket < 0) return;
    Talk(socket);
    close(socket);
  }
}

void RawServer::Talk(int socket) {
  SSL* ssl = SSL_new(context_.get());
  SSL_set_fd(ssl, socket);
  if (SSL_accept(ssl) == 1) session_(ssl);
  SSL_free(ssl);
}

std::string ReadHead(SSL* ssl) {
  std::string head;
  char c = 0;
  while (!head.ends_with("\r\n\r\n") && SSL_read(ssl, &c, 1) == 1) head += c;
  return head;
}

void WaitForClose(SSL* ssl) {
  char buffer[1024];
  while (SSL_read(ssl, buffer, sizeof buffer) > 0) {
  }
}

bool Send(SSL* ssl, const std::string& text) { return SSL_write(ssl, text.data(), static_cast<int>(text.size())) > 0; }

}  // namespace podium::testing_tls
