#include "kube/cluster_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "fakes/api_server.h"
#include "fakes/manual_clock.h"

namespace podium {
namespace {

using namespace testing_tls;
using On = FakeApiServer::On;
using std::chrono::seconds;

class TakeSnapshotTest : public testing::Test {
 protected:
  TakeSnapshotTest() {
    ClusterAccess access;
    access.server = "https://127.0.0.1:" + std::to_string(server_.port());
    access.ca.text = ToPem(authority_);
    api_ = std::move(*ConnectApi(access));
  }
  auto Take() { return TakeSnapshot(*api_, clock_, WatchesOf({"pods"}), kAtMost); }

  static constexpr seconds kAtMost{60};
  Identity authority_ = MakeAuthority("cluster CA");
  FakeApiServer server_{MakeCertificate(authority_, {"kube-apiserver", "IP:127.0.0.1"})};
  ManualClock clock_;
  std::unique_ptr<ApiClient> api_;
};

// A person waits for it who has, as a rule, the wrong rights or an old token.
TEST_F(TakeSnapshotTest, TwoRefusalsAreEnough) {
  for (int i = 0; i < 2; ++i) server_.Next(On::kList, StatusReply(403, "Forbidden", "pods is forbidden"));
  const auto begin = std::chrono::steady_clock::now();
  const auto snapshot = Take();
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error(), (Error{ErrorKind::kUnavailable,
                                     "cannot list pods: listing /api/v1/pods: HTTP 403 "
                                     "Forbidden: pods is forbidden"}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtMost / 2);
  EXPECT_EQ(server_.Log().size(), 2U);
}

TEST_F(TakeSnapshotTest, OneRefusalIsNot) {
  server_.Next(On::kList, StatusReply(503, "ServiceUnavailable"));
  const auto snapshot = Take();
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_TRUE((*snapshot)->waiting.empty());
}

// A watch can wait for a definition that comes later; a look has no later, and half a picture would be a wrong one.
TEST_F(TakeSnapshotTest, ACustomResourceThatIsNotThereIsAnError) {
  const auto watches = WatchesWith(WatchesOf({"pods"}), {"rollouts.v1alpha1.argoproj.io"});
  ASSERT_TRUE(watches);
  for (int i = 0; i < 2; ++i) server_.Next(On::kOther, StatusReply(404, "NotFound"));
  const auto snapshot = TakeSnapshot(*api_, clock_, *watches, kAtMost);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().message,
            "cannot list rollouts.argoproj.io: listing /apis/argoproj.io/v1alpha1/rollouts: HTTP 404 NotFound: no");
}

}  // namespace
}  // namespace podium
