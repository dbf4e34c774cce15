#include "kube/plain_http.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace podium {
namespace {

using std::chrono::milliseconds;

// Answers one connection with these bytes, whatever it is asked, and closes it; without bytes it stays silent.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = {"127.0.0.1", std::to_string(ntohs(address.sin_port))};
    thread_ = std::thread([this, bytes = std::move(bytes)] { Answer(bytes); });
  }
  ~OneAnswer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  [[nodiscard]] const PlainUrl& url() const { return url_; }
  [[nodiscard]] const std::string& asked() const { return asked_; }  // after the answer has come

 private:
  void Answer(const std::string& bytes) {
    const int peer = ::accept(listener_, nullptr, nullptr);
    if (peer < 0) return;
    char part[4096];
    const ssize_t got = ::recv(peer, part, sizeof part, 0);
    if (got > 0) asked_.assign(part, static_cast<std::size_t>(got));
    if (!bytes.empty()) ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (bytes.empty()) ::recv(peer, part, sizeof part, 0);  // until the client goes
    ::close(peer);
  }

  int listener_;
  PlainUrl url_;
  std::string asked_;
  std::thread thread_;
};

std::string Answered(const std::string& head, const std::string& body) { return head + "\r\n\r\n" + body; }

Result<std::string> Ask(const std::string& bytes, const PlainLimits& limits = {}) {
  const OneAnswer server(bytes);
  return GetPlain(server.url(), "/metrics", limits);
}

TEST(GetPlain, GivesTheBody) {
  const OneAnswer server(Answered("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close", "a 1\n\n"));
  const Result<std::string> body = GetPlain(server.url(), "/metrics");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(*body, "a 1\n\n");
  EXPECT_EQ(server.asked(),
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:" + server.url().port + "\r\nConnection: close\r\n\r\n");
}

TEST(GetPlain, SaysWhatIsWrong) {
  struct Row {
    std::string bytes;
    std::string message;
  };
  const Row rows[] = {
      {Answered("HTTP/1.1 404 Not Found\r\nContent-Length: 0", ""), "the server answered HTTP 404 Not Found"},
      {Answered("HTTP/1.1 200 OK\r\nContent-Length: 9", "a 1"), "the answer broke off"},
      {Answered("HTTP/1.1 200 OK", "a 1"), "the answer broke off"},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the answer is not HTTP/1.1"},
      {"HTTP/1.1 200 OK\r\n", "the answer is not HTTP/1.1"},
  };
  for (const Row& row : rows) {
    const Result<std::string> body = Ask(row.bytes);
    ASSERT_FALSE(body) << row.bytes;
    EXPECT_EQ(body.error().message, row.message);
    EXPECT_EQ(body.error().kind, ErrorKind::kUnavailable);
  }
}

TEST(GetPlain, IsBounded) {
  const Result<std::string> silent = Ask("", {.overall = milliseconds(50)});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().kind, ErrorKind::kTimeout);
  const Result<std::string> large =
      Ask(Answered("HTTP/1.1 200 OK\r\nContent-Length: 2000", std::string(2000, 'x')), {.max_bytes = 1000});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "the answer has more than 1000 bytes");
}

TEST(GetPlain, NobodyThere) {
  PlainUrl url;
  {
    const OneAnswer gone("x");
    url = gone.url();
  }
  const Result<std::string> body = GetPlain(url, "/metrics");
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().message, "Connection refused");
}

TEST(ParsePlainUrl, SchemeHostAndPortOnly) {
  const std::pair<std::string, PlainUrl> good[] = {{"http://127.0.0.1:8080", {"127.0.0.1", "8080"}},
                                                   {"http://podium.example:80/", {"podium.example", "80"}},
                                                   {"http://[::1]:8080", {"::1", "8080"}}};
  for (const auto& [text, want] : good) {
    const Result<PlainUrl> url = ParsePlainUrl(text);
    ASSERT_TRUE(url) << text;
    EXPECT_EQ(*url, want);
  }
  for (const std::string text : {"", "127.0.0.1:8080", "https://127.0.0.1:8080", "http://127.0.0.1", "http://:80",
                                 "http://a:80/metrics", "http://u@a:80", "http://a:x", "http://a:", "http://::1:80",
                                 "http://[::1", "http://a b:80", "http://a:123456", "http://a\n:80"}) {
    const Result<PlainUrl> url = ParsePlainUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find("wanted http://HOST:PORT of an operations listener"), std::string::npos);
  }
}

}  // namespace
}  // namespace podium
