// Leader election over the API's own answers: what a kube-apiserver says to GET, POST and PUT of a Lease.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fakes/lease_server.h"
#include "fakes/manual_clock.h"
#include "kube/api_client.h"
#include "kube/lease.h"
#include "kube/lease_api.h"

namespace podium {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;

// Keeps one Lease as an API server does: a version for each write, 404 where there is none, 409 for another version.
class LeaseResource final : public ApiClient {
 public:
  Result<ApiReply> Call(const ApiRequest& request) override {
    calls_.push_back(request.method);
    if (request.method == "POST") return lease_ ? Fail(409, "AlreadyExists") : Store(request, 201);
    if (!lease_) return Fail(404, "NotFound");
    if (request.method == "GET") return ApiReply{.status = 200, .body = lease_->dump()};
    if (refusals_ > 0 && refusals_-- > 0) return Fail(409, "Conflict");
    const Json sent = Json::parse(request.body);
    if (sent["metadata"]["resourceVersion"] != (*lease_)["metadata"]["resourceVersion"]) return Fail(409, "Conflict");
    return Store(request, 200);
  }
  Result<ApiReply> Stream(const std::string&, const Query&, const StreamLimits&, ByteReceiver&,
                          const std::stop_token&) override {
    return Error{ErrorKind::kInternal, "nobody watches a lease"};
  }

  // What somebody else writes.
  void Hold(const std::string& holder, const std::string& renew_time) {
    lease_ = Json{{"kind", "Lease"}, {"metadata", {{"name", "podium-budgets"}}}};
    (*lease_)["spec"] = {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", renew_time}};
    (*lease_)["metadata"]["resourceVersion"] = std::to_string(++version_);
  }
  void Remove() { lease_.reset(); }
  void RefuseNextUpdates(int count) { refusals_ = count; }
  std::vector<std::string> TakeCalls() { return std::exchange(calls_, {}); }

 private:
  ApiReply Store(const ApiRequest& request, int status) {
    lease_ = Json::parse(request.body);
    (*lease_)["metadata"]["resourceVersion"] = std::to_string(++version_);
    return {.status = status, .body = lease_->dump()};
  }
  static ApiReply Fail(int status, const std::string& reason) {
    return {.status = status, .body = Json{{"kind", "Status"}, {"reason", reason}, {"code", status}}.dump()};
  }

  std::optional<Json> lease_;
  int version_ = 0;
  int refusals_ = 0;
  std::vector<std::string> calls_;
};

class LeaseOverApi : public testing::Test {
 protected:
  std::unique_ptr<LeaseKeeper> Candidate(const std::string& identity) {
    return std::make_unique<LeaseKeeper>(lease_, LeaseClocks{monotonic_, wall_}, LeaseCandidate{identity, {}}, nullptr);
  }
  // Steps every tenth of a second.
  void Run(const std::vector<LeaseKeeper*>& keepers, seconds length) {
    for (int i = 0; i < 10 * length.count(); ++i) {
      monotonic_.Advance(std::chrono::milliseconds(100));
      for (LeaseKeeper* keeper : keepers) keeper->Turn();
    }
  }

  LeaseResource api_;
  KubeLeaseApi lease_{api_, "podium-system", "podium-budgets"};
  ManualMonotonic monotonic_;
  ManualClock wall_;
};

// D38.
TEST_F(LeaseOverApi, AResumedLeaderLooksBeforeItWrites) {
  const auto a = Candidate("a");
  const auto b = Candidate("b");
  Run({a.get(), b.get()}, seconds(3));
  ASSERT_TRUE(a->IsLeader());
  Run({b.get()}, seconds(20));  // a is stopped
  EXPECT_FALSE(a->IsLeader());
  EXPECT_TRUE(b->IsLeader());
  api_.TakeCalls();
  a->Turn();
  EXPECT_THAT(api_.TakeCalls(), ElementsAre("GET"));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->holder(), "b");
}

// D39.
TEST_F(LeaseOverApi, AStormOfConflictsEndsLeadershipInTimeAndNotTheProcess) {
  const auto a = Candidate("a");
  Run({a.get()}, seconds(3));
  ASSERT_TRUE(a->IsLeader());
  api_.RefuseNextUpdates(1'000);
  api_.TakeCalls();
  Run({a.get()}, seconds(12));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_LE(api_.TakeCalls().size(), 20U) << "at the usual pace";
  api_.RefuseNextUpdates(0);
  Run({a.get()}, seconds(6));
  EXPECT_TRUE(a->IsLeader());
}

TEST_F(LeaseOverApi, ADeletedLeaseIsMadeAgain) {
  const auto a = Candidate("a");
  Run({a.get()}, seconds(3));
  api_.Remove();
  Run({a.get()}, seconds(5));
  EXPECT_TRUE(a->IsLeader());
}

TEST_F(LeaseOverApi, AForeignHolderIsWaitedForWhateverTimeItWrote) {
  for (const char* renewed : {"2026-11-18T11:06:39.000000Z", "9999-12-31T23:59:59.000000Z", "nonsense"}) {
    const auto a = Candidate("a");
    api_.Hold("somebody", renewed);
    Run({a.get()}, seconds(14));
    EXPECT_FALSE(a->IsLeader()) << renewed;
    Run({a.get()}, seconds(2));
    EXPECT_TRUE(a->IsLeader()) << renewed;
    a->Stop();
  }
}

}  // namespace
}  // namespace podium
