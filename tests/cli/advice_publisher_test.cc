#include "cli/advice_publisher.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "builders/clusters.h"
#include "builders/policies.h"
#include "cli/clock.h"
#include "fakes/api_client.h"

namespace podium {
namespace {

// Pictures, one after the other. Who asks for the next one is done with the last.
class Pictures {
 public:
  std::shared_ptr<const ClusterSnapshot> Next(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }

  void Give(std::shared_ptr<const ClusterSnapshot> picture) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(std::move(picture));
    ++given_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return asked_ > given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<const ClusterSnapshot>> waiting_;
  std::size_t given_ = 0;
  std::size_t asked_ = 0;
};

class AdvicePublisherTest : public testing::Test {
 protected:
  AdviceInput Input(std::optional<SchedulerVersion> version = std::nullopt) {
    return {api_,    [this](std::uint64_t, const std::stop_token& stop) { return pictures_.Next(stop); },
            policy_, SystemClock::Instance(),
            version, [this](LogLevel, std::string_view line) { said_.emplace_back(line); }};
  }

  static std::shared_ptr<const ClusterSnapshot> Picture(std::uint64_t generation) {
    ClusterSnapshot snapshot = ClusterBuilder().WithNode("gpu-1", {.gpus = 1}).Build();
    snapshot.generation = generation;
    return std::make_shared<const ClusterSnapshot>(std::move(snapshot));
  }

  static Result<ApiReply> Version(const std::string& text) {
    return ApiReply{200, R"({"major":"1","minor":"36","gitVersion":")" + text + "\"}"};
  }

  fakes::ScriptedApi api_;
  Pictures pictures_;
  Cell<Policy> policy_{std::make_shared<const Policy>(builders::ThreeTiers())};
  std::vector<std::string> said_;  // by the publisher's thread, read between pictures
};

TEST_F(AdvicePublisherTest, PreparesEachPictureByTheApiServersVersion) {
  api_.replies = {Version("v1.36.3")};
  AdvicePublisher publisher(Input());
  EXPECT_EQ(publisher.advisors().Load(), nullptr);
  pictures_.Give(Picture(1));
  const auto first = publisher.advisors().Load();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->snapshot()->generation, 1U);
  EXPECT_EQ(first->options().version, (SchedulerVersion{1, 36}));
  pictures_.Give(Picture(2));
  EXPECT_EQ(publisher.advisors().Load()->snapshot()->generation, 2U);
  EXPECT_EQ(api_.asked.size(), 1U) << "the version is not asked for with each picture";
  EXPECT_EQ(said_, std::vector<std::string>{"kube-scheduler 1.36, by the API server's version"});
  publisher.Stop();
  EXPECT_EQ(publisher.advisors().Load()->snapshot()->generation, 2U);
}

TEST_F(AdvicePublisherTest, WithoutAVersionTheNewestRulesCountAndTheLogSaysSo) {
  AdvicePublisher publisher(Input());
  pictures_.Give(Picture(1));
  pictures_.Give(Picture(2));
  EXPECT_EQ(publisher.advisors().Load()->options().version, SchedulerVersion{});
  EXPECT_EQ(said_, std::vector<std::string>{"the rules of kube-scheduler 1.37 are used: GET /version: nothing is "
                                            "scripted"});
}

TEST_F(AdvicePublisherTest, AVersionThatIsGivenIsNotAskedFor) {
  AdvicePublisher publisher(Input(SchedulerVersion{1, 35}));
  pictures_.Give(Picture(1));
  EXPECT_EQ(publisher.advisors().Load()->options().version, (SchedulerVersion{1, 35}));
  EXPECT_TRUE(api_.asked.empty());
}

TEST_F(AdvicePublisherTest, NothingIsPreparedForAPolicyThatAsksForNone) {
  AdvicePublisher publisher(Input(SchedulerVersion{1, 36}));
  pictures_.Give(Picture(1));
  EXPECT_NE(publisher.advisors().Load(), nullptr);
  Policy silent = builders::ThreeTiers();
  silent.advice = Mode::kOff;
  for (WorkloadType& type : silent.workload_types) type.advice = Mode::kOff;
  policy_.Store(std::make_shared<const Policy>(silent));
  pictures_.Give(Picture(2));
  EXPECT_EQ(publisher.advisors().Load(), nullptr);
}

TEST_F(AdvicePublisherTest, DisagreementsAreToldButNotAllOfThem) {
  AdvicePublisher publisher(Input(SchedulerVersion{1, 36}));
  pictures_.Give(Picture(1));
  ClusterSnapshot after = *Picture(2);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "huge-" + std::string(1, static_cast<char>('a' + i));
    AdmissionRequest request;
    request.endpoint = Endpoint::kValidate;
    request.kind = {"", "v1", "Pod"};
    request.namespace_name = "default";
    request.object.emplace().metadata.name = name;
    request.object->uid = "uid-" + name;
    Decision decision;
    decision.templates.emplace_back().advice =
        TemplateAdvice{Mode::kWarn, publisher.advisors().Load()->Ask(MakePod(name, {.gpus = 8}), {}), NoAdvice::kNone};
    publisher.ledger().Remember(request, decision, SystemClock::Instance().Now());
    PodWish refused{.gpus = 8, .start_minute = 0};
    refused.standing.unschedulable = "no";
    after.waiting.push_back(std::make_shared<const Pod>(MakePod(name, refused)));
  }
  pictures_.Give(std::make_shared<const ClusterSnapshot>(std::move(after)));
  ASSERT_EQ(said_.size(), 10U);
  EXPECT_EQ(said_[0],
            "disagreement: default/huge-a: Podium said ShapeNeverFits: 0/1 nodes are available: 1 Insufficient "
            "nvidia.com/gpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not "
            "helpful for scheduling.; the scheduler: Unschedulable: no");
  EXPECT_EQ(
      publisher.ledger().Counts(),
      (std::vector<AccuracyCount>{{Feasibility::kShapeNeverFits, Actual::kUnschedulable, Outcome::kDisagreed, 12}}));
}

}  // namespace
}  // namespace podium
