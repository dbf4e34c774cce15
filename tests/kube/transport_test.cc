#include "kube/transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kube/certificates.h"
#include "kube/tls_servers.h"

namespace podium {

void PrintTo(const ClientReply& reply, std::ostream* out) {
  *out << reply.status << ' ' << reply.content_type << ' ' << reply.body.substr(0, 200);
}

void PrintTo(const Error& error, std::ostream* out) { *out << static_cast<int>(error.kind) << ": " << error.message; }

namespace {

using namespace testing_tls;
using std::chrono::milliseconds;

// A CA, its file, and a client that trusts it.
class HttpsClientTest : public testing::Test {
 protected:
  HttpsClientTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "podium-transport-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    ca_file_ = (folder_ / "ca.crt").string();
    std::ofstream(ca_file_) << ToPem(authority_);
    options_.ca_file = ca_file_;
  }
  ~HttpsClientTest() override { std::filesystem::remove_all(folder_); }

  Identity Leaf(const std::string& alternative_names) {
    return MakeCertificate(authority_, {"podium", alternative_names});
  }

  static std::string Url(int port, const std::string& host = "127.0.0.1") {
    return "https://" + host + ":" + std::to_string(port);
  }

  Result<ClientReply> Get(int port, const std::string& host = "127.0.0.1") {
    auto client = HttpsClient::Connect(Url(port, host), options_);
    if (!client) return client.error();
    return (*client)->Get("/");
  }

  // What the client makes of a server that answers every request with `reply`, byte for byte, and then closes.
  Result<ClientReply> GetRaw(const std::string& reply) {
    RawServer server(Leaf("IP:127.0.0.1"), [&reply](SSL* ssl) {
      ReadHead(ssl);
      Send(ssl, reply);
      SSL_shutdown(ssl);
    });
    last_url_ = Url(server.port());
    return Get(server.port());
  }

  [[nodiscard]] std::string Refused(int port, const std::string& why, const std::string& host = "127.0.0.1") const {
    return "the certificate of " + Url(port, host) + " is refused: " + why + "; wanted is one for '" + host +
           "' among its subject alternative names, signed by a CA of '" + ca_file_.substr(0, 40) +
           (ca_file_.size() > 40 ? "...'" : "'");
  }

  Identity authority_ = MakeAuthority("the right CA");
  std::filesystem::path folder_;
  std::string ca_file_;
  ClientOptions options_;
  std::string last_url_;
};

void AnswerHello(httplib::Server& server) {
  server.Get("/", [](const httplib::Request&, httplib::Response& reply) { reply.set_content("hello", "text/plain"); });
}

void ExpectHello(const Result<ClientReply>& reply) {
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->content_type, "text/plain");
  EXPECT_EQ(reply->body, "hello");
}

// --- requests -------------------------------------------------------------------------------------------------------

TEST_F(HttpsClientTest, GetsAndPosts) {
  HttpServer server(Leaf("DNS:localhost,IP:127.0.0.1"), [](httplib::Server& routes) {
    AnswerHello(routes);
    routes.Post("/echo", [](const httplib::Request& request, httplib::Response& reply) {
      reply.set_content(request.get_header_value("Content-Type") + "|" + request.body, "application/json");
    });
  });
  auto client = HttpsClient::Connect(Url(server.port()), options_);
  ASSERT_TRUE(client) << client.error().message;
  ExpectHello((*client)->Get("/"));
  const std::string body = std::string("{\"a\":\"\0\"}", 9) + std::string(300'000, 'x');
  const Result<ClientReply> echo = (*client)->Post("/echo", body, "application/json");
  ASSERT_TRUE(echo) << echo.error().message;
  EXPECT_EQ(echo->status, 200);
  EXPECT_EQ(echo->content_type, "application/json");
  EXPECT_EQ(echo->body, "application/json|" + body);
}

TEST_F(HttpsClientTest, ErrorStatusIsAReplyWithItsBody) {
  HttpServer server(Leaf("IP:127.0.0.1"), [](httplib::Server& routes) {
    routes.Post("/", [](const httplib::Request&, httplib::Response& reply) {
      reply.status = 410;
      reply.set_content("{\"kind\":\"Status\"}", "application/json");
    });
  });
  auto client = HttpsClient::Connect(Url(server.port()) + "/", options_);
  ASSERT_TRUE(client) << client.error().message;
  const Result<ClientReply> reply = (*client)->Post("/", "", "application/json");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "{\"kind\":\"Status\"}");
}

TEST_F(HttpsClientTest, ManyRequestsShareOneConnection) {
  std::atomic<int> connections = 0;
  RawServer server(Leaf("IP:127.0.0.1"), [&connections](SSL* ssl) {
    ++connections;
    while (!ReadHead(ssl).empty()) Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  auto client = HttpsClient::Connect(Url(server.port()), options_);
  ASSERT_TRUE(client);
  for (int i = 0; i < 20; ++i) EXPECT_EQ((*client)->Get("/")->body, "ok");
  EXPECT_EQ(connections, 1);
}

TEST_F(HttpsClientTest, AsksForNoCompression) {
  std::string head;
  RawServer server(Leaf("IP:127.0.0.1"), [&head](SSL* ssl) {
    head = ReadHead(ssl);
    Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  ASSERT_TRUE(Get(server.port()));
  EXPECT_TRUE(head.starts_with("GET / HTTP/1.1\r\n")) << head;
  EXPECT_EQ(head.find("Accept-Encoding"), std::string::npos) << head;
}

// The server closes each connection after one reply without saying so, as idle time-outs do.
TEST_F(HttpsClientTest, GetSurvivesAClosedIdleConnection) {
  RawServer server(Leaf("IP:127.0.0.1"), [](SSL* ssl) {
    if (ReadHead(ssl).empty()) return;
    Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    SSL_shutdown(ssl);
  });
  auto client = HttpsClient::Connect(Url(server.port()), options_);
  ASSERT_TRUE(client);
  for (int i = 0; i < 5; ++i) {
    const Result<ClientReply> reply = (*client)->Get("/");
    ASSERT_TRUE(reply) << i << ": " << reply.error().message;
    EXPECT_EQ(reply->body, "ok");
  }
}

// --- whom to trust --------------------------------------------------------------------------------------------------

TEST_F(HttpsClientTest, AcceptsANameOrAnAddressOfTheCertificate) {
  HttpServer named(Leaf("DNS:localhost"), AnswerHello);
  ExpectHello(Get(named.port(), "localhost"));
  HttpServer numbered(Leaf("IP:127.0.0.1"), AnswerHello);
  ExpectHello(Get(numbered.port()));
}

TEST_F(HttpsClientTest, RefusesAMatchingCommonNameBesideOtherNames) {
  HttpServer server(MakeCertificate(authority_, {"127.0.0.1", "DNS:other"}), AnswerHello);
  EXPECT_EQ(Get(server.port()).error(), (Error{ErrorKind::kPermission, Refused(server.port(), "IP address mismatch")}));
  HttpServer named(MakeCertificate(authority_, {"localhost", "DNS:other"}), AnswerHello);
  EXPECT_EQ(Get(named.port(), "localhost").error(),
            (Error{ErrorKind::kPermission, Refused(named.port(), "hostname mismatch", "localhost")}));
}

TEST_F(HttpsClientTest, RefusesACertificateWithACommonNameOnly) {
  HttpServer server(MakeCertificate(authority_, {"localhost", ""}), AnswerHello);
  EXPECT_EQ(Get(server.port(), "localhost").error(),
            (Error{ErrorKind::kPermission, Refused(server.port(), "hostname mismatch", "localhost")}));
}

// A name that spells the address is not the address; nor is an address that begins with the same bytes.
TEST_F(HttpsClientTest, RefusesNamesThatOnlyLookLikeTheAddress) {
  for (const std::string names : {"DNS:127.0.0.1", "IP:127.0.0.2", "IP:7f00:1::", "DNS:*"}) {
    HttpServer server(Leaf(names), AnswerHello);
    EXPECT_EQ(Get(server.port()).error(),
              (Error{ErrorKind::kPermission, Refused(server.port(), "IP address mismatch")}))
        << names;
  }
}

TEST_F(HttpsClientTest, RefusesAnotherCa) {
  const Identity other = MakeAuthority("another CA");
  HttpServer server(MakeCertificate(other, {"podium", "IP:127.0.0.1"}), AnswerHello);
  EXPECT_EQ(Get(server.port()).error(),
            (Error{ErrorKind::kPermission, Refused(server.port(), "unable to get local issuer certificate")}));
}

TEST_F(HttpsClientTest, RefusesAnotherCaOfTheSameName) {
  const Identity impostor = MakeAuthority("the right CA");
  HttpServer server(MakeCertificate(impostor, {"podium", "IP:127.0.0.1"}), AnswerHello);
  EXPECT_EQ(Get(server.port()).error(),
            (Error{ErrorKind::kPermission, Refused(server.port(), "certificate signature failure")}));
}

TEST_F(HttpsClientTest, RefusesAnExpiredCertificate) {
  HttpServer server(MakeCertificate(authority_, {"podium", "IP:127.0.0.1", "serverAuth", -60}), AnswerHello);
  EXPECT_EQ(Get(server.port()).error(),
            (Error{ErrorKind::kPermission, Refused(server.port(), "certificate has expired")}));
}

TEST_F(HttpsClientTest, RefusesAClientsCertificate) {
  HttpServer server(MakeCertificate(authority_, {"podium", "IP:127.0.0.1", "clientAuth"}), AnswerHello);
  EXPECT_EQ(Get(server.port()).error(),
            (Error{ErrorKind::kPermission, Refused(server.port(), "unsuitable certificate purpose")}));
}

TEST_F(HttpsClientTest, SendsNothingToAServerThatItDoesNotTrust) {
  std::string received = "no session";
  {
    RawServer server(Leaf("DNS:other"), [&received](SSL* ssl) { received = ReadHead(ssl); });
    EXPECT_EQ(Get(server.port()).error().kind, ErrorKind::kPermission);
  }
  EXPECT_EQ(received, "no session");
}

TEST_F(HttpsClientTest, SpeaksTls12And13Only) {
  const auto answer = [](SSL* ssl) {
    ReadHead(ssl);
    Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  };
  RawServer modern(Leaf("IP:127.0.0.1"), answer, TLS1_2_VERSION);
  ASSERT_TRUE(Get(modern.port()));
  RawServer old(Leaf("IP:127.0.0.1"), answer, TLS1_1_VERSION);
  EXPECT_EQ(Get(old.port()).error(), (Error{ErrorKind::kUnavailable, "the TLS handshake with " + Url(old.port()) +
                                                                         " failed; wanted is TLS 1.2 or 1.3"}));
}

// --- servers that misbehave -----------------------------------------------------------------------------------------

TEST_F(HttpsClientTest, BodyUpToTheLimitIsTakenOneByteMoreIsNot) {
  options_.max_body_bytes = 1000;
  const auto chunked = [](int bytes) {
    std::string body = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < bytes; i += 1) body += "1\r\nx\r\n";
    return body + "0\r\n\r\n";
  };
  const auto sized = [](int bytes) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(static_cast<std::size_t>(bytes), 'x');
  };
  const auto unsized = [](int bytes) {
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(static_cast<std::size_t>(bytes), 'x');
  };
  for (const auto& reply : {std::function<std::string(int)>(chunked), {sized}, {unsized}}) {
    const Result<ClientReply> whole = GetRaw(reply(1000));
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->body, std::string(1000, 'x'));
    const Result<ClientReply> over = GetRaw(reply(1001));
    EXPECT_EQ(over.error(), (Error{ErrorKind::kInvalidInput, last_url_ + " sent a body over the limit of 1000 bytes"}));
  }
}

TEST_F(HttpsClientTest, EndlessBodyIsCutOff) {
  options_.max_body_bytes = 100'000;
  RawServer server(Leaf("IP:127.0.0.1"), [](SSL* ssl) {
    ReadHead(ssl);
    Send(ssl, "HTTP/1.1 200 OK\r\n\r\n");
    while (Send(ssl, std::string(16'000, 'x'))) {
    }
  });
  EXPECT_EQ(Get(server.port()).error().message, Url(server.port()) + " sent a body over the limit of 100000 bytes");
}

TEST_F(HttpsClientTest, EndlessHeadsAreCutOff) {
  const std::string beginnings[] = {"", "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX: "};
  for (const std::string& beginning : beginnings) {
    RawServer server(Leaf("IP:127.0.0.1"), [&beginning](SSL* ssl) {
      ReadHead(ssl);
      if (!beginning.empty()) Send(ssl, beginning);
      while (Send(ssl, std::string(1000, 'x'))) {
      }
    });
    EXPECT_EQ(
        Get(server.port()).error(),
        (Error{ErrorKind::kInvalidInput, Url(server.port()) + " sent a reply head over the limit of 16384 bytes"}))
        << beginning;
  }
}

TEST_F(HttpsClientTest, EndlessHeaderLinesAreCutOff) {
  RawServer server(Leaf("IP:127.0.0.1"), [](SSL* ssl) {
    ReadHead(ssl);
    Send(ssl, "HTTP/1.1 200 OK\r\n");
    while (Send(ssl, "X-Again: and again\r\n")) {
    }
  });
  EXPECT_EQ(Get(server.port()).error().message,
            Url(server.port()) + " sent a reply head over the limit of 16384 bytes");
}

// The largest status line that still gets through to cpp-httplib's recursive regular expression.
TEST_F(HttpsClientTest, LongStatusLineDoesNotExhaustTheStack) {
  const Result<ClientReply> reply =
      GetRaw("HTTP/1.1 200 " + std::string(16'000, 'x') + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "ok");
}

TEST_F(HttpsClientTest, EndlessChunkHeadIsCutOff) {
  options_.max_body_bytes = 1000;
  RawServer server(Leaf("IP:127.0.0.1"), [](SSL* ssl) {
    ReadHead(ssl);
    Send(ssl, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (Send(ssl, std::string(1000, '0'))) {
    }
  });
  EXPECT_EQ(Get(server.port()).error().message, Url(server.port()) + " sent more body framing than any server needs");
}

TEST_F(HttpsClientTest, CompressedBodyIsRefused) {
  for (const std::string coding : {"gzip", "br"}) {
    const Result<ClientReply> reply =
        GetRaw("HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(reply.error(),
              (Error{ErrorKind::kInvalidInput, last_url_ + " sent a compressed body, which was not asked for"}));
  }
}

TEST_F(HttpsClientTest, RedirectsAreNotFollowed) {
  const Result<ClientReply> reply =
      GetRaw("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 302);
}

TEST_F(HttpsClientTest, CutOrUnreadableRepliesAreErrors) {
  for (const std::string reply : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "SSH-2.0-x\r\n\r\n",
                                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"}) {
    const Result<ClientReply> got = GetRaw(reply);
    EXPECT_EQ(got.error(), (Error{ErrorKind::kUnavailable, last_url_ + " broke off or did not answer in HTTP"}))
        << reply;
  }
}

TEST_F(HttpsClientTest, SilentServerIsATimeout) {
  options_.timeout = milliseconds(30);
  RawServer server(Leaf("IP:127.0.0.1"), WaitForClose);
  EXPECT_EQ(Get(server.port()).error(),
            (Error{ErrorKind::kTimeout, "no complete reply from " + Url(server.port()) + " within 30 ms"}));
}

// One byte every few milliseconds would restart a read timeout for ever.
TEST_F(HttpsClientTest, DrippingServerIsATimeout) {
  options_.timeout = milliseconds(40);
  for (const std::string beginning : {"HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"}) {
    RawServer server(Leaf("IP:127.0.0.1"), [&beginning](SSL* ssl) {
      ReadHead(ssl);
      pollfd closed{SSL_get_fd(ssl), POLLIN, 0};
      for (bool here = Send(ssl, beginning); here; here = Send(ssl, "x") && poll(&closed, 1, 2) == 0) {
      }
    });
    EXPECT_EQ(Get(server.port()).error(),
              (Error{ErrorKind::kTimeout, "no complete reply from " + Url(server.port()) + " within 40 ms"}));
  }
}

// A listening socket that nobody accepts from: connected, and then not a byte of a handshake.
class DeafListener {
 public:
  DeafListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_, 4);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~DeafListener() { Close(); }
  DeafListener(const DeafListener&) = delete;
  DeafListener& operator=(const DeafListener&) = delete;
  [[nodiscard]] int port() const { return port_; }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

 private:
  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  int port_ = 0;
};

TEST_F(HttpsClientTest, SilentHandshakeIsATimeout) {
  options_.timeout = milliseconds(30);
  const DeafListener listener;
  EXPECT_EQ(Get(listener.port()).error(),
            (Error{ErrorKind::kTimeout, "no complete reply from " + Url(listener.port()) + " within 30 ms"}));
}

TEST_F(HttpsClientTest, ServerThatIsAwayIsNamed) {
  DeafListener listener;
  listener.Close();
  EXPECT_EQ(Get(listener.port()).error(),
            (Error{ErrorKind::kUnavailable, "cannot connect to " + Url(listener.port()) + "; is the server running?"}));
}

TEST_F(HttpsClientTest, PeerThatResetsWhileWeSendDoesNotEndTheProcess) {
  RawServer server(Leaf("IP:127.0.0.1"), [](SSL* ssl) {
    ReadHead(ssl);
    // First the end of the server's side, then a reset: the write that follows raises SIGPIPE.
    shutdown(SSL_get_fd(ssl), SHUT_WR);
    const linger at_once{1, 0};
    setsockopt(SSL_get_fd(ssl), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  });
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  auto client = HttpsClient::Connect(Url(server.port()), options_);
  ASSERT_TRUE(client);
  const Result<ClientReply> reply = (*client)->Post("/", std::string(4 << 20, 'x'), "application/json");
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  std::signal(SIGPIPE, before);
}

// --- what is refused before anything is sent ------------------------------------------------------------------------

TEST_F(HttpsClientTest, OnlyPlainHttpsAddressesAreTaken) {
  for (const std::string url : {"",
                                "https://",
                                "https:///",
                                "http://127.0.0.1:9443",
                                "127.0.0.1:9443",
                                "HTTPS://a",
                                "https://a:0",
                                "https://a:65536",
                                "https://a:",
                                "https://a:+1",
                                "https://a:1x",
                                "https://a:1/path",
                                "https://a?b",
                                "https://user@a",
                                "https://a b",
                                "https://a\r\nX: y",
                                "https://[::1",
                                "https://[127.0.0.1]",
                                "https://[zz::]",
                                "https://[::1]1"}) {
    const auto client = HttpsClient::Connect(url, options_);
    ASSERT_FALSE(client) << url;
    EXPECT_EQ(client.error().kind, ErrorKind::kInvalidInput);
    EXPECT_TRUE(client.error().message.ends_with(
        " is not a server; wanted is https://HOST:PORT, without a path, such as https://127.0.0.1:9443"))
        << client.error().message;
  }
  for (const std::string url : {"https://a", "https://a/", "https://a.b-c:1", "https://[::1]", "https://[::1]:9443/"})
    EXPECT_TRUE(HttpsClient::Connect(url, options_)) << url;
}

TEST_F(HttpsClientTest, WithoutACaThereIsNoClient) {
  const std::string not_pem = (folder_ / "empty").string();
  std::ofstream(not_pem) << "no certificate\n";
  for (const std::string& file : {std::string(), std::string("/nowhere/ca.crt"), not_pem}) {
    options_.ca_file = file;
    const auto client = HttpsClient::Connect("https://127.0.0.1:9443", options_);
    ASSERT_FALSE(client) << file;
    EXPECT_EQ(client.error().kind, ErrorKind::kInvalidInput);
    EXPECT_TRUE(client.error().message.starts_with("cannot read CA certificates from '")) << client.error().message;
  }
}

TEST_F(HttpsClientTest, PathsAndTypesCannotSmuggleLines) {
  auto client = HttpsClient::Connect("https://127.0.0.1:9443", options_);
  ASSERT_TRUE(client);
  for (const std::string path : {"", "x", "/a b", "/a\r\nX: y", "/\xC3\xA4"})
    EXPECT_EQ((*client)->Get(path).error().kind, ErrorKind::kInvalidInput) << path;
  EXPECT_EQ((*client)->Get("/a\r\nX: y").error().message,
            "'/a??X: y' is not a path; wanted is '/' and then visible ASCII, the rest as %XX");
  EXPECT_EQ((*client)->Post("/", "", "a\r\nX: y").error().message,
            "'a??X: y' is not a content type; wanted is one line such as application/json");
  EXPECT_EQ((*client)->Post("/", "", "").error().kind, ErrorKind::kInvalidInput);
}

TEST_F(HttpsClientTest, TimeoutMustBePositive) {
  options_.timeout = milliseconds(0);
  EXPECT_EQ(HttpsClient::Connect("https://127.0.0.1:9443", options_).error(),
            (Error{ErrorKind::kInvalidInput, "the timeout of a request must be over 0 ms"}));
}

}  // namespace
}  // namespace podium
