#include "kube/lease_api.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "fakes/api_client.h"

namespace podium {
namespace {

std::string Recorded() {
  std::ifstream file(PODIUM_TEST_DIR "/kube/data/lease-created.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

class LeaseApiTest : public testing::Test {
 protected:
  fakes::ScriptedApi api;
  KubeLeaseApi lease{api, "podium-system", "podium-budgets"};
};

TEST_F(LeaseApiTest, ReadsWhatAnApiServerStored) {
  api.replies.push_back(ApiReply{.status = 200, .body = Recorded()});
  const Result<StoredLease> stored = lease.Get();
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(api.asked[0].path, "/apis/coordination.k8s.io/v1/namespaces/podium-system/leases/podium-budgets");
  EXPECT_EQ(stored->resource_version, "1269");
  EXPECT_EQ(stored->record, (LeaseRecord{"a", 15, "2026-11-29T12:40:00.000000Z", "2026-11-29T12:40:00.000000Z", 0}));
}

TEST_F(LeaseApiTest, WritesTheWholeRecordUnderTheVersionItSaw) {
  api.replies.push_back(ApiReply{.status = 200, .body = Recorded()});
  const LeaseRecord record{"podium-1-a", 15, "2026-11-29T12:00:00.000000Z", "2026-11-29T12:00:02.000000Z", 3};
  ASSERT_TRUE(lease.Update(record, "77"));
  EXPECT_EQ(api.asked[0].method, "PUT");
  EXPECT_EQ(api.asked[0].body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"podium-budgets",)"
            R"("namespace":"podium-system","resourceVersion":"77"},"spec":{"holderIdentity":"podium-1-a",)"
            R"("leaseDurationSeconds":15,"acquireTime":"2026-11-29T12:00:00.000000Z",)"
            R"("renewTime":"2026-11-29T12:00:02.000000Z","leaseTransitions":3}})");
}

TEST_F(LeaseApiTest, CreatesWithoutAVersion) {
  api.replies.push_back(ApiReply{.status = 201, .body = Recorded()});
  ASSERT_TRUE(lease.Create({"a", 15, "", "", 0}));
  EXPECT_EQ(api.asked[0].method, "POST");
  EXPECT_EQ(api.asked[0].path, "/apis/coordination.k8s.io/v1/namespaces/podium-system/leases");
  EXPECT_EQ(api.asked[0].body.find("resourceVersion"), std::string::npos);
  EXPECT_NE(api.asked[0].body.find(R"("acquireTime":null,"renewTime":null)"), std::string::npos);
}

TEST_F(LeaseApiTest, TellsAbsentConflictAndNonsenseApart) {
  api.replies.push_back(ApiReply{.status = 404, .body = R"({"kind":"Status","reason":"NotFound"})"});
  api.replies.push_back(ApiReply{.status = 409, .body = R"({"kind":"Status","reason":"Conflict"})"});
  api.replies.push_back(ApiReply{.status = 200, .body = "<html>"});
  api.replies.push_back(Error{ErrorKind::kTimeout, "slow"});
  EXPECT_EQ(lease.Get().error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(lease.Update({}, "1").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(lease.Get().error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(lease.Get().error().message, "reading lease podium-system/podium-budgets: slow");
}

}  // namespace
}  // namespace podium
