// The live cluster as decisions see it: faults D20, D21 and D28 against a fake API server.
#include "kube/cluster_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "admission/decide.h"
#include "builders/policies.h"
#include "builders/requests.h"
#include "fakes/api_server.h"
#include "fakes/manual_clock.h"

namespace podium {
namespace {

using namespace testing_tls;
using namespace builders;
using On = FakeApiServer::On;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ClassJson(const std::string& name, int value) {
  return R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":")" + name +
         R"(","resourceVersion":"9"},"globalDefault":)" + (name == "cluster-default" ? "true" : "false") +
         R"(,"value":)" + std::to_string(value) + "}";
}

std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}

FakeApiServer::Answer ClassList(const std::string& items) {
  return Reply(200,
               R"({"kind":"PriorityClassList","apiVersion":"scheduling.k8s.io/v1","metadata":{"resourceVersion":"0"},)"
               R"("items":[)" +
                   items + "]}");
}

class ClusterCacheTest : public testing::Test {
 protected:
  ClusterCacheTest() {
    ClusterAccess access;
    access.server = "https://127.0.0.1:" + std::to_string(server_.port());
    access.ca.text = ToPem(authority_);
    api_ = std::move(*ConnectApi(access));
  }

  void Start() {
    cache_ = std::make_unique<ClusterCache>(*api_, clock_, WatchesOf({"priorityclasses.scheduling.k8s.io"}));
  }

  // Bounded: what the watch brings is there a moment later, a publication up to 200 ms after that.
  bool Eventually(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + seconds(10);
    while (!is_so() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(milliseconds(5));
      clock_.Advance(milliseconds(20));  // the store waits 200 ms between publications
    }
    return is_so();
  }

  [[nodiscard]] std::optional<std::int32_t> Value(const std::string& name) const {
    const auto snapshot = cache_->snapshots().Current();
    const PriorityClass* found = snapshot == nullptr ? nullptr : snapshot->classes.Find(name);
    return found == nullptr ? std::nullopt : std::optional(found->value);
  }

  [[nodiscard]] Decision DecideOnTraining(const Policy& policy) const {
    Slot pod = MakePod().Gpus("main", 1).Type("training");
    const AdmissionRequest request = CreatePod("llm-0", pod.FilledIn(ClassView(policy, nullptr)));
    return Decide(request, policy, cache_->snapshots().Current().get(), {}, clock_.Now());
  }

  Identity authority_ = MakeAuthority("cluster CA");
  FakeApiServer server_{MakeCertificate(authority_, {"kube-apiserver", "IP:127.0.0.1"})};
  ManualClock clock_;
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<ClusterCache> cache_;
};

TEST_F(ClusterCacheTest, D20HasNoViewWhileTheServerIsAwayAndGetsOneWhenItComes) {
  server_.Close();
  Start();
  EXPECT_TRUE(Eventually([&] { return cache_->figures()[0].counters.unreachable > 0; }));
  EXPECT_EQ(cache_->snapshots().Current(), nullptr);
  EXPECT_THAT(cache_->Unsynced(), ElementsAre("priorityclasses.scheduling.k8s.io"));
  server_.Next(On::kList, ClassList(ClassJson("batch", 7)));
  server_.Reopen();
  ASSERT_TRUE(cache_->WaitSynced(seconds(10)));
  EXPECT_EQ(Value("batch"), 7);
  EXPECT_THAT(cache_->Unsynced(), IsEmpty());
}

TEST_F(ClusterCacheTest, D20KeepsItsViewWhileTheServerIsAway) {
  server_.Next(On::kList, ClassList(ClassJson("batch", 7)));
  Start();
  ASSERT_TRUE(cache_->WaitSynced(seconds(10)));
  server_.Close();
  EXPECT_TRUE(Eventually([&] { return cache_->figures()[0].counters.unreachable > 0; }));
  EXPECT_EQ(Value("batch"), 7);
  server_.Reopen();
  EXPECT_TRUE(Eventually([&] { return cache_->figures()[0].counters.watches > 1; }));
  EXPECT_EQ(cache_->figures()[0].counters.lists, 1U) << "the watch goes on where it was";
}

TEST_F(ClusterCacheTest, D28GivesNoClassThatIsGoneAndTheNewValueOfOneThatIsBack) {
  const Policy policy = ThreeTiers();
  server_.Next(On::kList, ClassList(ClassJson("cluster-default", 100)));
  Start();
  ASSERT_TRUE(cache_->WaitSynced(seconds(10)));
  const Decision absent = DecideOnTraining(policy);
  EXPECT_THAT(absent.edits, IsEmpty());
  EXPECT_EQ(absent.verdict, Verdict::kAllow) << absent.message;

  ASSERT_TRUE(server_.WaitForRequests(2));  // the watch is there
  server_.EmitLine(Event("ADDED", ClassJson("training-queue-jumper", 500'000)));
  ASSERT_TRUE(Eventually([&] { return Value("training-queue-jumper") == 500'000; }));
  EXPECT_EQ(DecideOnTraining(policy).templates.at(0).after.class_name, "training-queue-jumper");

  server_.EmitLine(Event("DELETED", ClassJson("training-queue-jumper", 500'000)));
  ASSERT_TRUE(Eventually([&] { return !Value("training-queue-jumper"); }));
  EXPECT_THAT(DecideOnTraining(policy).edits, IsEmpty());

  server_.EmitLine(Event("ADDED", ClassJson("training-queue-jumper", 610'000)));
  ASSERT_TRUE(Eventually([&] { return Value("training-queue-jumper") == 610'000; }));
  EXPECT_EQ(DecideOnTraining(policy).templates.at(0).after.priority, 610'000);
}

TEST_F(ClusterCacheTest, D21AStaleViewIsTreatedAsThePolicySaysUntilTheServerIsHeardOf) {
  Policy policy = ThreeTiers();
  policy.on_stale_cluster = StaleCluster::kRefuse;
  server_.Next(On::kList,
               ClassList(ClassJson("training-queue-jumper", 500'000) + "," + ClassJson("cluster-default", 100)));
  Start();
  ASSERT_TRUE(cache_->WaitSynced(seconds(10)));
  EXPECT_EQ(DecideOnTraining(policy).verdict, Verdict::kAllow);

  clock_.Advance(seconds(301));  // not a word
  const Decision stale = DecideOnTraining(policy);
  EXPECT_EQ(stale.verdict, Verdict::kRefuse);
  EXPECT_THAT(stale.message, HasSubstr("last heard of 301 s ago"));
  policy.on_stale_cluster = StaleCluster::kUse;
  EXPECT_EQ(DecideOnTraining(policy).templates.at(0).after.class_name, "training-queue-jumper");

  policy.on_stale_cluster = StaleCluster::kRefuse;
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.EmitLine(R"({"type":"BOOKMARK","object":{"kind":"PriorityClass","metadata":{"resourceVersion":"10"}}})");
  EXPECT_TRUE(Eventually([&] { return DecideOnTraining(policy).verdict == Verdict::kAllow; }))
      << "a bookmark is a sign of life";
}

TEST(WatchesWith, TakesEachResourceOnce) {
  const Result<std::vector<WatchRow>> rows =
      WatchesWith(WatchesOf({"deployments.apps"}),
                  {"rollouts.v1alpha1.argoproj.io", "rollouts.v1.argoproj.io", "deployments.v1.apps"});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].need, Need::kRequired) << "a built-in kind stays what it is";
  EXPECT_EQ((*rows)[1].path, "/apis/argoproj.io/v1alpha1/rollouts");
  EXPECT_THAT(WatchesWith({}, {"rollouts"}).error().message, HasSubstr("--custom-workload: found 'rollouts'; wanted"));
}

TEST(CustomWatch, IsNamedAsKubectlDoes) {
  const Result<WatchRow> row = CustomWatch("rollouts.v1alpha1.argoproj.io");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->resource, "rollouts.argoproj.io");
  EXPECT_EQ(row->path, "/apis/argoproj.io/v1alpha1/rollouts");
  EXPECT_EQ(row->need, Need::kOptional);
  for (const char* bad :
       {"", "rollouts", "rollouts.v1", "rollouts.argoproj.io", "a..b", "rollouts.v1.", "A.v1.b", "a/.v1.b"})
    EXPECT_THAT(CustomWatch(bad).error().message, HasSubstr("wanted the plural, the version and the group")) << bad;
}

}  // namespace
}  // namespace podium
