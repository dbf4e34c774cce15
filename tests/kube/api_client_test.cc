#include "kube/api_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "fakes/api_server.h"
#include "fakes/temp_dir.h"
#include "kube/tls_servers.h"

namespace podium {

void PrintTo(const ApiReply& reply, std::ostream* out) { *out << reply.status << ' ' << reply.body.substr(0, 200); }

namespace {

using namespace testing_tls;
using On = FakeApiServer::On;
using std::chrono::milliseconds;

// Keeps what comes; refuses after `limit` bytes.
class Collector final : public ByteReceiver {
 public:
  explicit Collector(std::size_t limit = static_cast<std::size_t>(-1)) : limit_(limit) {}
  void Opened() override { opened_ = true; }
  Status Take(std::string_view bytes) override {
    text_ += bytes;
    ++parts_;
    if (text_.size() > limit_) return Error{ErrorKind::kCorrupt, "enough"};
    return {};
  }
  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int parts() const { return parts_; }

 private:
  const std::size_t limit_;
  bool opened_ = false;
  std::string text_;
  int parts_ = 0;
};

class ApiClientTest : public testing::Test {
 protected:
  ApiClientTest() {
    access_.server = Url();
    access_.ca.file = folder_.Write("ca.crt", ToPem(authority_));
    access_.origin = "a test";
  }
  std::string Url() { return "https://127.0.0.1:" + std::to_string(server_.port()); }
  void Connect() {
    Result<std::unique_ptr<ApiClient>> client = ConnectApi(access_, options_);
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
  }
  Result<ApiReply> Stream(ByteReceiver& receiver, const StreamLimits& limits = {}, const std::stop_token& stop = {}) {
    return client_->Stream("/api/v1/pods", {}, limits, receiver, stop);
  }
  std::vector<std::string> Tokens() {
    std::vector<std::string> tokens;
    for (const FakeRequest& request : server_.Requests())
      tokens.push_back(request.headers.contains("authorization") ? request.headers.at("authorization") : "");
    return tokens;
  }

  TempDir folder_;
  Identity authority_ = MakeAuthority("cluster CA");
  FakeApiServer server_{MakeCertificate(authority_, {"kube-apiserver", "DNS:kubernetes,IP:127.0.0.1"})};
  ClusterAccess access_;
  ApiClientOptions options_;
  std::unique_ptr<ApiClient> client_;
};

// --- short calls ----------------------------------------------------------------------------------------------------

TEST(EncodeQuery, EscapesAllThatIsNotPlain) {
  EXPECT_EQ(EncodeQuery({}), "");
  EXPECT_EQ(
      EncodeQuery({{"fieldSelector", "status.phase!=Failed,a=b"}, {"limit", "500"}, {"x y", "\xC3\xA4&\r\n-_.~"}}),
      "?fieldSelector=status.phase%21%3DFailed%2Ca%3Db&limit=500&x%20y=%C3%A4%26%0D%0A-_.~");
}

TEST_F(ApiClientTest, EveryMethodArrivesWithItsBody) {
  access_.server += "/k8s/clusters/x/";
  access_.token = {TokenSource::Kind::kLiteral, "secret", {}};
  Connect();
  for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    const std::string body = method == "GET" ? "" : "{\"a\":\"" + method + "\"}";
    const Result<ApiReply> reply = client_->Call({.method = method,
                                                  .path = "/apis/x",
                                                  .query = {{"fieldManager", "podium"}},
                                                  .content_type = body.empty() ? "" : "application/apply-patch+yaml",
                                                  .body = body});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    const FakeRequest request = server_.Requests().back();
    EXPECT_EQ(request.method + request.path, method + "/k8s/clusters/x/apis/x");
    EXPECT_EQ(request.query.at("fieldManager"), "podium");
    EXPECT_EQ(request.body, body);
    EXPECT_EQ(request.headers.at("authorization"), "Bearer secret");
    EXPECT_EQ(request.headers.at("user-agent"), "podium");
    EXPECT_EQ(request.headers.contains("content-type"), !body.empty());
  }
}

TEST_F(ApiClientTest, ThreadsShareThePool) {
  Connect();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 10; ++call) {
        const Result<ApiReply> reply = client_->Call({.path = "/version"});
        if (reply && reply->status == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

TEST_F(ApiClientTest, ErrorsAreRepliesWithRetryAfter) {
  Connect();
  server_.Next(On::kOther, StatusReply(429, "TooManyRequests", "slow", "Retry-After: 5\r\n"));
  const Result<ApiReply> reply = client_->Call({.path = "/x"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->retry_after, std::chrono::seconds(5));
  server_.Next(On::kOther,
               StatusReply(429, "TooManyRequests", "slow", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"));
  EXPECT_EQ(client_->Call({.path = "/x"})->retry_after, std::nullopt);
}

TEST_F(ApiClientTest, GetSurvivesAClosedConnectionAndAWriteIsNotRepeated) {
  Connect();
  ASSERT_TRUE(client_->Call({.path = "/x"}));
  server_.Next(On::kOther, RawReply(""));
  EXPECT_TRUE(client_->Call({.path = "/x"}));
  EXPECT_EQ(server_.Log().size(), 3U);
  server_.Next(On::kOther, RawReply(""));
  const Result<ApiReply> reply =
      client_->Call({.method = "PUT", .path = "/x", .content_type = "application/json", .body = "{}"});
  EXPECT_EQ(reply.error(), (Error{ErrorKind::kUnavailable, Url() + " broke off or did not answer in HTTP"}));
  EXPECT_EQ(server_.Log().size(), 4U);
}

TEST_F(ApiClientTest, WriteDoesNotGoOutOnAConnectionThatTheServerHasClosed) {
  std::promise<void> closed;
  RawServer server(MakeCertificate(authority_, {"x", "IP:127.0.0.1"}), [&closed, first = true](SSL* ssl) mutable {
    if (ReadHead(ssl).empty()) return;
    Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    SSL_shutdown(ssl);
    if (std::exchange(first, false)) closed.set_value();
  });
  access_.server = "https://127.0.0.1:" + std::to_string(server.port());
  Connect();
  ASSERT_TRUE(client_->Call({.path = "/x"}));
  closed.get_future().wait();
  const Result<ApiReply> reply = client_->Call({.method = "DELETE", .path = "/x"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "ok");
}

TEST_F(ApiClientTest, CallsHaveATimeLimitAndABodyLimit) {
  options_.call_time = milliseconds(40);
  options_.max_body_bytes = 10;
  Connect();
  server_.Next(On::kOther, Silence());
  EXPECT_EQ(client_->Call({.path = "/x"}).error(),
            (Error{ErrorKind::kTimeout, "no complete reply from " + Url() + " within 40 ms"}));
  options_.call_time = milliseconds(10'000);
  Connect();
  server_.Next(On::kOther, Reply(200, "12345678901"));
  EXPECT_EQ(client_->Call({.path = "/x"}).error(),
            (Error{ErrorKind::kInvalidInput, Url() + " sent a body over the limit of 10 bytes"}));
}

TEST_F(ApiClientTest, StrangeMethodsAndTokensAreNotSent) {
  access_.token = {TokenSource::Kind::kLiteral, "a\r\nX: y", {}};
  Connect();
  EXPECT_EQ(client_->Call({.path = "/x"}).error(),
            (Error{ErrorKind::kInvalidInput,
                   "the bearer token has characters that no header may have; wanted is visible ASCII"}));
  EXPECT_EQ(client_->Call({.method = "CONNECT", .path = "/x"}).error().message,
            "'CONNECT' is not a method; wanted is GET, POST, PUT, PATCH or DELETE");
  EXPECT_TRUE(server_.Log().empty());
}

// --- who we are -----------------------------------------------------------------------------------------------------

TEST_F(ApiClientTest, RefusedTokenIsReadAgainOnce) {
  access_.token = {TokenSource::Kind::kFile, folder_.Write("token", "old"), {}};
  Connect();
  ASSERT_TRUE(client_->Call({.path = "/x"}));
  folder_.Write("token", "new\n");
  server_.Next(On::kOther, StatusReply(401, "Unauthorized"));
  EXPECT_EQ(client_->Call({.method = "DELETE", .path = "/x"})->status, 200);
  server_.Next(On::kOther, StatusReply(401, "Unauthorized"));
  server_.Next(On::kOther, StatusReply(401, "Unauthorized"));
  EXPECT_EQ(client_->Call({.path = "/x"})->status, 401);
  EXPECT_EQ(Tokens(), (std::vector<std::string>{"Bearer old", "Bearer old", "Bearer new", "Bearer new", "Bearer new"}));
}

TEST_F(ApiClientTest, StreamReadsARefusedTokenAgainToo) {
  access_.token = {TokenSource::Kind::kFile, folder_.Write("token", "old"), {}};
  Connect();
  server_.Next(On::kList, [this](SSL* ssl, const FakeRequest& request) {
    folder_.Write("token", "new");
    StatusReply(401, "Unauthorized")(ssl, request);
  });
  Collector collector;
  EXPECT_EQ(Stream(collector)->status, 200);
  EXPECT_EQ(Tokens(), (std::vector<std::string>{"Bearer old", "Bearer new"}));
}

TEST_F(ApiClientTest, ShowsItsClientCertificate) {
  const Identity users = MakeAuthority("users CA");
  const FakeApiServer strict(MakeCertificate(authority_, {"kube-apiserver", "IP:127.0.0.1"}), &users);
  access_.server = "https://127.0.0.1:" + std::to_string(strict.port());
  const Identity me = MakeCertificate(users, {"podium", "", "clientAuth"});
  Connect();
  EXPECT_FALSE(client_->Call({.path = "/x"}));
  access_.client_certificate.file = folder_.Write("me.crt", ToPem(me));
  access_.client_key.text = KeyToPem(me);
  Connect();
  const Result<ApiReply> reply = client_->Call({.path = "/x"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
}

TEST_F(ApiClientTest, BadFilesShowAtOnce) {
  const std::string start = "reaching the cluster of a test: ";
  const Identity me = MakeCertificate(authority_, {"podium", "", "clientAuth"});
  access_.client_certificate.text = ToPem(me);
  access_.client_key.text = KeyToPem(authority_);
  EXPECT_EQ(ConnectApi(access_).error().message, start + "the client key does not belong to the client certificate");
  access_.client_key.text = "secret";
  EXPECT_EQ(ConnectApi(access_).error().message,
            start + "the client key is no PEM text with a private key that has no password");
  access_.client_certificate.text = "secret";
  EXPECT_EQ(ConnectApi(access_).error().message,
            start + "the client certificate is no PEM text with a certificate OpenSSL accepts");
  access_.ca = {"", "/nowhere"};
  EXPECT_EQ(ConnectApi(access_).error().message,
            start + "reading the CA: cannot read '/nowhere': No such file or directory");
  access_.ca = {};
  EXPECT_EQ(ConnectApi(access_).error().message,
            start +
                "cannot read CA certificates from 'a test'; it must be a readable PEM file with at least one "
                "certificate");
}

TEST_F(ApiClientTest, ChangedCaIsNoticed) {
  Connect();
  ASSERT_TRUE(client_->Call({.path = "/x"}));
  folder_.Write("other.crt", ToPem(MakeAuthority("another CA")));
  std::filesystem::rename(folder_.File("other.crt"), folder_.File("ca.crt"));
  EXPECT_EQ(client_->Call({.path = "/x"}).error().kind, ErrorKind::kPermission);
  folder_.Write("again.crt", ToPem(authority_));
  std::filesystem::rename(folder_.File("again.crt"), folder_.File("ca.crt"));
  EXPECT_TRUE(client_->Call({.path = "/x"}));
}

TEST_F(ApiClientTest, TlsServerNameIsAskedForAndChecked) {
  access_.tls_server_name = "kubernetes";
  Connect();
  EXPECT_TRUE(client_->Call({.path = "/x"}));
  access_.tls_server_name = "another";
  Connect();
  EXPECT_EQ(
      client_->Call({.path = "/x"}).error().message.substr(0, 80),
      ("the certificate of " + Url() + " is refused: hostname mismatch; wanted is one for 'another'").substr(0, 80));
  std::string asked;
  {
    RawServer server(MakeCertificate(authority_, {"x", "DNS:kubernetes"}), [&asked](SSL* ssl) {
      asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
      ReadHead(ssl);
    });
    access_.server = "https://127.0.0.1:" + std::to_string(server.port());
    access_.tls_server_name = "kubernetes";
    Connect();
    EXPECT_FALSE(client_->Call({.method = "DELETE", .path = "/x"}));
  }
  EXPECT_EQ(asked, "kubernetes");
}

// --- streams --------------------------------------------------------------------------------------------------------

TEST_F(ApiClientTest, StreamGivesTheBodyInParts) {
  Connect();
  const std::string body(100'000, 'x');
  server_.Next(On::kList, Reply(200, body));
  Collector collector;
  const Result<ApiReply> reply = Stream(collector);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "");
  EXPECT_EQ(collector.text(), body);
  EXPECT_GT(collector.parts(), 10);
  EXPECT_TRUE(collector.opened());
}

TEST_F(ApiClientTest, StreamKeepsTheBeginningOfAnError) {
  Connect();
  server_.Next(On::kList, Reply(410, "<" + std::string(100'000, 'x')));
  Collector collector;
  const Result<ApiReply> reply = Stream(collector);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "<" + std::string(8191, 'x'));
  EXPECT_EQ(collector.text(), "");
  EXPECT_FALSE(collector.opened());
}

TEST_F(ApiClientTest, ReceiverEndsTheStream) {
  Connect();
  server_.Next(On::kList, Reply(200, std::string(100'000, 'x')));
  Collector collector(5'000);
  EXPECT_EQ(Stream(collector).error(), (Error{ErrorKind::kCorrupt, "enough"}));
  EXPECT_LE(collector.text().size(), 10'000U);
}

TEST_F(ApiClientTest, StreamLimitsAreThoseOfTheCall) {
  Connect();
  Collector collector;
  server_.Next(On::kList, SilenceAfter(ChunkedHead() + Chunk("{")));
  EXPECT_EQ(Stream(collector, {.silence = milliseconds(30)}).error(),
            (Error{ErrorKind::kTimeout, Url() + " was silent for 30 ms in the middle of a reply"}));
  server_.Next(On::kList, SilenceAfter(ChunkedHead()));
  EXPECT_EQ(Stream(collector, {.silence = milliseconds(5'000), .overall = milliseconds(500)}).error(),
            (Error{ErrorKind::kTimeout, "no complete reply from " + Url() + " within 500 ms"}));
}

TEST_F(ApiClientTest, StreamBodyLimitIsThatOfTheCall) {
  Connect();
  Collector collector;
  server_.Next(On::kList, Reply(200, "123456"));
  EXPECT_EQ(Stream(collector, {.max_body_bytes = 5}).error(),
            (Error{ErrorKind::kInvalidInput, Url() + " sent a body over the limit of 5 bytes"}));
}

TEST_F(ApiClientTest, StopWakesASilentStream) {
  Connect();
  for (const std::string& beginning : {std::string(), ChunkedHead() + Chunk("{")}) {
    server_.Next(On::kList, SilenceAfter(beginning));
    std::stop_source stop;
    const std::size_t before = server_.Log().size();
    std::thread stopper([&] {
      EXPECT_TRUE(server_.WaitForRequests(before + 1));
      stop.request_stop();
    });
    Collector collector;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Stream(collector, {}, stop.get_token()).error(),
              (Error{ErrorKind::kUnavailable, "the request to " + Url() + " was cancelled"}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    stopper.join();
    EXPECT_EQ(Stream(collector, {}, stop.get_token()).error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(server_.Log().size(), before + 1);  // a stopped one asks nothing
  }
}

}  // namespace
}  // namespace podium
