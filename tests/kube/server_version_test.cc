#include "kube/server_version.h"

#include <gtest/gtest.h>

#include "fakes/api_client.h"

namespace podium {
namespace {

TEST(ReadServerVersion, IsTheGitVersion) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 200, .body = R"({"major":"1","minor":"36+","gitVersion":"v1.36.2-gke.1"})"});
  EXPECT_EQ(*ReadServerVersion(api), "v1.36.2-gke.1");
  EXPECT_EQ(api.asked[0].path, "/version");
}

TEST(ReadServerVersion, SaysWhyThereIsNone) {
  fakes::ScriptedApi api;
  api.replies.push_back(Error{ErrorKind::kTimeout, "slow"});
  api.replies.push_back(ApiReply{.status = 403, .body = "{}"});
  api.replies.push_back(ApiReply{.status = 200, .body = "<html>"});
  api.replies.push_back(ApiReply{.status = 200, .body = R"({"gitVersion":36})"});
  EXPECT_EQ(ReadServerVersion(api).error(), (Error{ErrorKind::kTimeout, "GET /version: slow"}));
  EXPECT_EQ(ReadServerVersion(api).error().message, "GET /version: HTTP 403");
  EXPECT_EQ(ReadServerVersion(api).error().message, "GET /version: the answer has no gitVersion");
  EXPECT_EQ(ReadServerVersion(api).error().message, "GET /version: the answer has no gitVersion");
}

}  // namespace
}  // namespace podium
