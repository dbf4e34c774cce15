#include "cli/live_version.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fakes/api_client.h"

namespace podium {
namespace {

ApiReply Version(const std::string& text) { return {.status = 200, .body = R"({"gitVersion":")" + text + R"("})"}; }

TEST(LiveVersion, IsReadAgainSeldomAndKeptWhileItCannotBeRead) {
  fakes::ScriptedApi api;
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  std::vector<std::string> said;
  LiveVersion version(
      api, [&](LogLevel, std::string_view line) { said.emplace_back(line); }, [&] { return now; });
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
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[1], "kube-scheduler 1.36, by the API server's version");
  EXPECT_EQ(said[2].substr(0, 40), "the rules of kube-scheduler 1.36 are use");
  EXPECT_EQ(said[3], "kube-scheduler 1.35, by the API server's version");
}

}  // namespace
}  // namespace podium
