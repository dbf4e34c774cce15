#include "kube/access_api.h"

#include <gtest/gtest.h>

#include "fakes/api_client.h"
#include "fakes/api_server.h"
#include "fakes/temp_dir.h"
#include "wire/access_review.h"

namespace podium {
namespace {

using namespace testing_tls;
using On = FakeApiServer::On;

constexpr const char* kAlice =
    R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,)"
    R"("user":{"username":"alice","groups":["dev"]},"audiences":["podium"]}})";
constexpr const char* kAllowed =
    R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}})";

TEST(AccessApi, AsksForATokenWithItsAudiences) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 201, .body = kAlice});
  const auto who = KubeAccessReviewer(api, {"podium"}).WhoIs("secret");
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(*who, (Caller{"alice", "", {"dev"}, {}}));
  EXPECT_EQ(api.asked[0].method, "POST");
  EXPECT_EQ(api.asked[0].path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(api.asked[0].content_type, "application/json");
  EXPECT_EQ(api.asked[0].body, EncodeTokenReview("secret", {"podium"}));
}

TEST(AccessApi, AsksWhatTheCallerMayDo) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 201, .body = kAllowed});
  const Caller alice{"alice", "u", {"dev"}, {}};
  const auto may = KubeAccessReviewer(api, {}).May(alice, {"create", "pods", "ml"});
  ASSERT_TRUE(may) << may.error().message;
  EXPECT_TRUE(*may);
  EXPECT_EQ(api.asked[0].path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(api.asked[0].body, EncodeAccessReview(alice, {"create", "pods", "ml"}));
}

TEST(AccessApi, EverythingElseIsAnErrorAndNeverANo) {
  const struct {
    const char* name;
    Result<ApiReply> reply;
    const char* want;
  } rows[] = {
      {"Podium may not ask",
       ApiReply{.status = 403, .body = R"({"kind":"Status","reason":"Forbidden","message":"no right","code":403})"},
       "HTTP 403 Forbidden: no right"},
      {"a message that repeats the body",
       ApiReply{.status = 400,
                .body = R"({"kind":"Status","reason":"BadRequest","message":"in \"secret\"","code":400})"},
       "HTTP 400 BadRequest"},
      {"overloaded", ApiReply{.status = 429, .body = "slow down, secret"}, "HTTP 429"},
      {"broken", ApiReply{.status = 500, .body = R"({"kind":"Status","reason":"InternalError","code":500})"},
       "HTTP 500 InternalError"},
      {"a redirect", ApiReply{.status = 302, .body = kAlice}, "HTTP 302"},
      {"slow", Error{ErrorKind::kTimeout, "no complete reply"}, "no complete reply"},
  };
  for (const auto& row : rows) {
    fakes::ScriptedApi api;
    api.replies = {row.reply, row.reply};
    KubeAccessReviewer reviewer(api, {});
    const auto who = reviewer.WhoIs("secret");
    ASSERT_FALSE(who) << row.name;
    EXPECT_EQ(who.error().message, "reviewing a caller's token: " + std::string(row.want)) << row.name;
    const auto may = reviewer.May({}, {"create", "pods", "ml"});
    ASSERT_FALSE(may) << row.name;
    EXPECT_EQ(may.error().message, "reviewing a caller's rights: " + std::string(row.want)) << row.name;
    EXPECT_EQ(api.asked.size(), 2U) << row.name << ": nothing is tried again";
  }
}

// --- over TLS -------------------------------------------------------------------------------------------------------

class AccessApiOverTls : public testing::Test {
 protected:
  AccessApiOverTls() {
    ClusterAccess access;
    access.server = "https://127.0.0.1:" + std::to_string(server_.port());
    access.ca.file = folder_.Write("ca.crt", ToPem(authority_));
    access.token = {TokenSource::Kind::kLiteral, "podiums-own", {}};
    access.origin = "a test";
    auto client = ConnectApi(access, {.call_time = std::chrono::milliseconds(200)});
    EXPECT_TRUE(client) << client.error().message;
    client_ = *std::move(client);
  }

  TempDir folder_;
  Identity authority_ = MakeAuthority("cluster CA");
  FakeApiServer server_{MakeCertificate(authority_, {"kube-apiserver", "IP:127.0.0.1"})};
  std::unique_ptr<ApiClient> client_;
};

TEST_F(AccessApiOverTls, TheCallersTokenIsInTheBodyAndPodiumsOwnInTheHead) {
  server_.Next(On::kOther, Reply(201, kAlice));
  const auto who = KubeAccessReviewer(*client_, {}).WhoIs("callers");
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ((*who)->user, "alice");
  const FakeRequest request = server_.Requests().back();
  EXPECT_EQ(request.headers.at("authorization"), "Bearer podiums-own");
  EXPECT_EQ(request.body, EncodeTokenReview("callers", {}));
}

TEST_F(AccessApiOverTls, ASilentServerIsGivenUpSoon) {
  server_.Next(On::kOther, Silence());
  const auto who = KubeAccessReviewer(*client_, {}).WhoIs("callers");
  ASSERT_FALSE(who);
  EXPECT_EQ(who.error().kind, ErrorKind::kTimeout);
}

TEST_F(AccessApiOverTls, AnAnswerThatBreaksOffIsNone) {
  server_.Next(On::kOther, RawReply("HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n" + std::string(kAllowed)));
  EXPECT_FALSE(KubeAccessReviewer(*client_, {}).May({"alice", "", {}, {}}, {"create", "pods", "ml"}));
  server_.Close();
  EXPECT_EQ(KubeAccessReviewer(*client_, {}).May({}, {"create", "pods", "ml"}).error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace podium
