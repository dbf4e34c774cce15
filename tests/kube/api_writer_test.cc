#include "kube/api_writer.h"

#include <gtest/gtest.h>

#include "fakes/api_client.h"
#include "kube/address.h"

namespace podium {
namespace {

const ObjectRef kBudget{"policy/v1", "poddisruptionbudgets", "ml", "chat"};

TEST(ApiWriter, PathsNameGroupVersionAndNamespace) {
  EXPECT_EQ(ObjectPath(kBudget), "/apis/policy/v1/namespaces/ml/poddisruptionbudgets/chat");
  EXPECT_EQ(CollectionPath({"events.k8s.io/v1", "events", "ml", ""}), "/apis/events.k8s.io/v1/namespaces/ml/events");
  EXPECT_EQ(ObjectPath({"scheduling.k8s.io/v1", "priorityclasses", "", "a/../b?x"}),
            "/apis/scheduling.k8s.io/v1/priorityclasses/a%2F..%2Fb%3Fx");
  EXPECT_EQ(ObjectPath({"v1", "pods", "ml", "p"}), "/api/v1/namespaces/ml/pods/p");
}

TEST(PercentEncoded, OnlyUnreservedCharactersStayAsTheyAre) {
  EXPECT_EQ(PercentEncoded("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(PercentEncoded("a/b:c %\xC3\xA4\n"), "a%2Fb%3Ac%20%25%C3%A4%0A");
  EXPECT_EQ(PercentEncoded(""), "");
}

TEST(ApiWriter, AppliesOnTheServerAsPodium) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 201, .body = "{\"kind\":\"PodDisruptionBudget\"}"});
  EXPECT_EQ(*ApiWriter(api).Apply(kBudget, "{}", Ownership::kOurs), "{\"kind\":\"PodDisruptionBudget\"}");
  ASSERT_EQ(api.asked.size(), 1U);
  EXPECT_EQ(api.asked[0].method, "PATCH");
  EXPECT_EQ(api.asked[0].query, (Query{{"fieldManager", "podium"}, {"force", "true"}}));
  EXPECT_EQ(api.asked[0].content_type, "application/apply-patch+yaml");
  EXPECT_EQ(api.asked[0].body, "{}");
}

TEST(ApiWriter, WhatIsNotKnownToBeOursIsNotTakenOver) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 409,
                                 .body = R"({"kind":"Status","reason":"Conflict","code":409,)"
                                         R"("message":"conflict with \"kubectl\": .spec.maxUnavailable"})"});
  const auto applied = ApiWriter(api).Apply(kBudget, "{}", Ownership::kNew);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error(), (Error{ErrorKind::kConflict,
                                    "applying poddisruptionbudgets ml/chat: HTTP 409 Conflict: conflict with "
                                    "\"kubectl\": .spec.maxUnavailable"}));
  EXPECT_EQ(api.asked[0].query, (Query{{"fieldManager", "podium"}, {"force", "false"}}));
}

TEST(ApiWriter, DeletesOnlyTheObjectWithThatUid) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 200});
  EXPECT_TRUE(ApiWriter(api).Delete(kBudget, "u-1"));
  EXPECT_EQ(api.asked[0].method, "DELETE");
  EXPECT_EQ(api.asked[0].body, R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"}})");
}

TEST(ApiWriter, WhatIsGoneIsDeleted) {
  fakes::ScriptedApi api;
  api.replies.push_back(ApiReply{.status = 404});
  EXPECT_TRUE(ApiWriter(api).Delete(kBudget, "u-1"));
}

TEST(ApiWriter, SaysWhatTheServerSaid) {
  const struct {
    int status;
    ErrorKind want;
  } rows[] = {{400, ErrorKind::kInvalidInput}, {401, ErrorKind::kPermission}, {403, ErrorKind::kPermission},
              {404, ErrorKind::kNotFound},     {409, ErrorKind::kConflict},   {422, ErrorKind::kInvalidInput},
              {429, ErrorKind::kUnavailable},  {503, ErrorKind::kUnavailable}};
  for (const auto& row : rows) {
    fakes::ScriptedApi api;
    api.replies.push_back(ApiReply{.status = row.status,
                                   .body = R"({"kind":"Status","reason":"Because","message":"no room","code":)" +
                                           std::to_string(row.status) + "}"});
    const Status status = ApiWriter(api).Create(kBudget, "{}");
    ASSERT_FALSE(status) << row.status;
    EXPECT_EQ(status.error().kind, row.want) << row.status;
    EXPECT_EQ(status.error().message,
              "creating poddisruptionbudgets ml/chat: HTTP " + std::to_string(row.status) + " Because: no room");
  }
}

TEST(ApiWriter, AnUnreachableServerIsNotAskedTwice) {
  fakes::ScriptedApi api;
  api.replies.push_back(Error{ErrorKind::kTimeout, "slow"});
  const auto applied = ApiWriter(api).Apply(kBudget, "{}", Ownership::kOurs);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(api.asked.size(), 1U);
}

}  // namespace
}  // namespace podium
