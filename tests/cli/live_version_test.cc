#include "cli/live_version.h"

#include <gtest/gtest.h>

#include "fakes/api_client.h"

namespace podium {
namespace {

ApiReply Version(const std::string& text) { return {.status = 200, .body = R"({"gitVersion":")" + text + R"("})"}; }

TEST(LiveVersion, IsReadAgainSeldomAndKeptWhileItCannotBeRead) {
  fakes::ScriptedApi api;
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  LiveVersion version(api, [&] { return now; });
  EXPECT_EQ(version.Get(), SchedulerVersion()) << "the newest known";
  api.replies = {Version("v1.36.2"), Version("nonsense"), Version("v1.35.9-gke.1")};
  now += std::chrono::seconds(9);
  EXPECT_EQ(version.Get(), SchedulerVersion());
  now += std::chrono::seconds(1);
  EXPECT_EQ(version.Get(), (SchedulerVersion{1, 36}));
  now += std::chrono::seconds(599);
  EXPECT_EQ(version.Get(), (SchedulerVersion{1, 36}));
  EXPECT_EQ(api.asked.size(), 2U);
  now += std::chrono::seconds(1);
  EXPECT_EQ(version.Get(), (SchedulerVersion{1, 36}));
  now += std::chrono::seconds(10);
  EXPECT_EQ(version.Get(), (SchedulerVersion{1, 35}));
  EXPECT_EQ(api.asked.back().path, "/version");
}

}  // namespace
}  // namespace podium
