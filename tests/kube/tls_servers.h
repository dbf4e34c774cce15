// Servers to try a client on: a well-behaved one, and one whose every byte the test decides.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "kube/certificates.h"

namespace podium::testing_tls {

// cpp-httplib's server on a free port of 127.0.0.1, until it goes out of scope. `add_routes` runs before it listens.
class HttpServer {
 public:
  HttpServer(const Identity& identity, const std::function<void(httplib::Server&)>& add_routes);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  httplib::SSLServer server_;
  int port_ = 0;
  std::thread thread_;
};

// Speaks TLS and leaves HTTP to `session`, which is called for one connection after another.
class RawServer {
 public:
  using Session = std::function<void(SSL*)>;
  RawServer(const Identity& identity, Session session, int max_version = TLS1_3_VERSION);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  void Serve();
  void Talk(int socket);

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  Session session_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

// Reads up to the end of a request head.
std::string ReadHead(SSL* ssl);
// Returns as soon as the client has closed its side.
void WaitForClose(SSL* ssl);
// Sends `text`; false when the client is gone.
bool Send(SSL* ssl, const std::string& text);

}  // namespace podium::testing_tls
