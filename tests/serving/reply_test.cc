#include "serving/reply.h"

#include <gmock/gmock.h>

#include <chrono>

#include "serving/log_limit.h"

namespace podium {
namespace {

TEST(Reply, IsOneStringWithTheDateOfNow) {
  HttpResponse response;
  response.status = 503;
  response.body = "{}";
  response.headers = {{"Retry-After", "1"}};
  const std::string text = SerializeReply(response, {.connection = ReplyOptions::Connection::kClose});
  EXPECT_THAT(text, testing::MatchesRegex("HTTP/1.1 503 Service Unavailable\r\n"
                                          "Date: [A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] 20[0-9][0-9] "
                                          "[0-9][0-9]:[0-9][0-9]:[0-9][0-9] GMT\r\n"
                                          "Content-Type: application/json\r\nContent-Length: 2\r\n"
                                          "Connection: close\r\nRetry-After: 1\r\n\r\n\\{\\}"));
}

TEST(Reply, WithoutABodyHasNoType) {
  const std::string text = SerializeReply({}, {});
  EXPECT_THAT(text, testing::HasSubstr("\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Content-Type")));
}

TEST(Reply, KnowsEveryStatusThatIsSent) {
  for (const int status : {200, 400, 404, 405, 408, 411, 413, 414, 415, 417, 431, 500, 503, 505})
    EXPECT_NE(ReasonPhrase(status), "Unknown") << status;
  EXPECT_EQ(ReasonPhrase(299), "Unknown");
}

TEST(LogLimit, LetsOneLineThroughInTenSeconds) {
  const std::chrono::steady_clock::time_point start{std::chrono::hours(1)};
  LogLimit limit;
  EXPECT_TRUE(limit.Due(start));
  EXPECT_FALSE(limit.Due(start));
  EXPECT_FALSE(limit.Due(start + std::chrono::milliseconds(9'999)));
  EXPECT_TRUE(limit.Due(start + std::chrono::seconds(10)));
  EXPECT_FALSE(limit.Due(start + std::chrono::seconds(10)));
}

}  // namespace
}  // namespace podium
