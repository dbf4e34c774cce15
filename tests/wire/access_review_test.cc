#include "wire/access_review.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

const Caller kAlice{"alice", "u-1", {"dev", "system:authenticated"}, {{"example.org/scopes", {"a", "b"}}}};

TEST(TokenReview, AsksForTheAudiencesOnlyWhenThereAreSome) {
  EXPECT_EQ(EncodeTokenReview("t\"1", {}),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"t\"1"}})");
  EXPECT_EQ(
      EncodeTokenReview("t", {"podium"}),
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"t","audiences":["podium"]}})");
}

std::string Token(const std::string& status) {
  return R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"t"},"status":)" +
         status + "}";
}

constexpr const char* kAliceStatus =
    R"({"authenticated":true,"user":{"username":"alice","uid":"u-1","groups":["dev","system:authenticated"],)"
    R"("extra":{"example.org/scopes":["a","b"]}},"audiences":["podium"]})";

TEST(TokenReview, TellsWhoItIs) {
  for (const std::vector<std::string>& audiences : {std::vector<std::string>{}, {"other", "podium"}}) {
    const auto read = DecodeTokenReview(Token(kAliceStatus), audiences);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, kAlice);
  }
}

TEST(TokenReview, NobodyIsNobody) {
  for (const char* status : {"{}", R"({"authenticated":false})", R"({"user":{"username":"alice"}})",
                             R"({"user":{},"error":"[invalid bearer token, expired]"})"}) {
    const auto read = DecodeTokenReview(Token(status), {});
    ASSERT_TRUE(read) << status;
    EXPECT_EQ(*read, std::nullopt) << status;
  }
}

TEST(TokenReview, WhatIsNotExactlyAnAnswerIsNone) {
  const std::string no = "the API server's answer is no finished TokenReview: ";
  const struct {
    std::string name;
    std::string text;
    std::string want;
  } rows[] = {
      {"empty", "", "it is no JSON"},
      {"a page", "<html>", "it is no JSON"},
      {"cut off", Token(kAliceStatus).substr(0, 150), "it is no JSON"},
      {"a list", "[]", "its apiVersion is not authentication.k8s.io/v1"},
      {"another version", R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v2","status":{}})",
       "its apiVersion is not authentication.k8s.io/v1"},
      {"another kind", R"({"kind":"Status","apiVersion":"authentication.k8s.io/v1","status":"Failure"})",
       "its kind is another"},
      {"no status", R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1"})", "it has no status"},
      {"null", Token("null"), "it has no status"},
      {"a text for a yes", Token(R"({"authenticated":"true","user":{"username":"alice"}})"),
       R"(/status/authenticated: found the string "true"; expected true or false)"},
      {"nobody's yes", Token(R"({"authenticated":true,"user":{"username":""}})"),
       "it is authenticated and names no user"},
      {"groups that are none", Token(R"({"authenticated":true,"user":{"username":"alice","groups":"dev"}})"),
       R"(/status/user/groups: found the string "dev"; expected an array)"},
      {"extra that is none", Token(R"({"authenticated":true,"user":{"username":"alice","extra":{"a":1}}})"),
       "/status/user/extra/a: found the number 1; expected an array"},
  };
  for (const auto& row : rows) {
    const auto read = DecodeTokenReview(row.text, {});
    ASSERT_FALSE(read) << row.name;
    EXPECT_EQ(read.error(), (Error{ErrorKind::kCorrupt, no + row.want})) << row.name;
  }
}

TEST(TokenReview, AServerThatDidNotLookAtTheAudienceIsNotBelieved) {
  for (const char* audiences :
       {R"("audiences":["https://kubernetes.default.svc"])", R"("audiences":[])", R"("error":"")"}) {
    const auto read = DecodeTokenReview(
        Token(R"({"authenticated":true,"user":{"username":"alice"},)" + std::string(audiences) + "}"), {"podium"});
    ASSERT_FALSE(read) << audiences;
    EXPECT_EQ(read.error().message,
              "the API server's answer is no finished TokenReview: it does not say that the token is for one of the "
              "audiences that were asked for");
  }
}

TEST(AccessReview, AsksForTheWholeCaller) {
  EXPECT_EQ(EncodeAccessReview(kAlice, {"create", "pods", "ml"}),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"resourceAttributes":)"
            R"({"namespace":"ml","verb":"create","version":"v1","resource":"pods"},"user":"alice","uid":"u-1",)"
            R"("groups":["dev","system:authenticated"],"extra":{"example.org/scopes":["a","b"]}}})");
  EXPECT_EQ(EncodeAccessReview({"bob", "", {}, {}}, {"list", "pods", ""}),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"resourceAttributes":)"
            R"({"verb":"list","version":"v1","resource":"pods"},"user":"bob","groups":[],"extra":{}}})");
}

std::string Access(const std::string& status) {
  return R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{},"status":)" + status + "}";
}

TEST(AccessReview, YesAndNo) {
  const struct {
    const char* status;
    bool want;
  } rows[] = {{R"({"allowed":true,"reason":"RBAC: allowed by ..."})", true},
              {R"({"allowed":false})", false},
              {R"({"allowed":false,"denied":true})", false},
              {R"({"allowed":true,"denied":true})", false},
              {R"({"allowed":true,"evaluationError":"a role is not there"})", true},
              {R"({"allowed":false,"evaluationError":"a role is not there"})", false}};
  for (const auto& row : rows) {
    const auto read = DecodeAccessReview(Access(row.status));
    ASSERT_TRUE(read) << row.status;
    EXPECT_EQ(*read, row.want) << row.status;
  }
}

TEST(AccessReview, WhatIsNotExactlyAnAnswerIsNone) {
  const std::string no = "the API server's answer is no finished SubjectAccessReview: ";
  const struct {
    std::string text;
    std::string want;
  } rows[] = {{"{", "it is no JSON"},
              {Token(R"({"allowed":true})"), "its apiVersion is not authorization.k8s.io/v1"},
              {Access("{}"), "it does not say whether it is allowed"},
              {Access(R"({"allowed":null})"), "it does not say whether it is allowed"},
              {Access(R"({"allowed":1})"), "/status/allowed: found the number 1; expected true or false"}};
  for (const auto& row : rows) {
    const auto read = DecodeAccessReview(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error(), (Error{ErrorKind::kCorrupt, no + row.want})) << row.text;
  }
}

}  // namespace
}  // namespace podium
