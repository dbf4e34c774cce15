#include "accuracy/ledger.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builders/clusters.h"

namespace podium {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum Feasibility;

constexpr TimePoint kStart = TimePoint(seconds(1'796'000'000));
constexpr std::int64_t kHigh = 1'000'000;

// The scheduler of these tests is the test: it says what each picture shows.
class AccuracyLedgerTest : public testing::Test {
 protected:
  using Advisors = std::shared_ptr<const Advisor>;

  static Advisors Picture(ClusterSnapshot snapshot) {
    return std::make_shared<const Advisor>(std::make_shared<const ClusterSnapshot>(std::move(snapshot)),
                                           EvaluateOptions{.version = {1, 36}});
  }

  // Node a: `batch` GPUs of four are held by one pod each; node b has two GPUs, free unless `b_full`.
  static ClusterBuilder Cluster(int batch, bool b_full = true) {
    ClusterBuilder builder;
    builder.WithNode("a", {.gpus = 4});
    for (int i = 0; i < batch; ++i) builder.WithPod("batch-" + std::to_string(i), {.gpus = 1, .priority = 1000});
    builder.WithNode("b", {.gpus = 2});
    if (b_full) builder.WithPod("owner", {.gpus = 2, .priority = 2 * kHigh});
    return builder;
  }

  static PodWish Asking(std::int64_t gpus) { return {.gpus = gpus, .priority = kHigh, .start_minute = 0}; }

  // At /validate, on that picture.
  void Admit(const std::string& name, std::int64_t gpus, const Advisors& picture) {
    AdmissionRequest request;
    request.endpoint = Endpoint::kValidate;
    request.kind = {"", "v1", "Pod"};
    request.namespace_name = "default";
    request.object.emplace().metadata.name = name;
    request.object->uid = "uid-" + name;
    Decision decision;
    decision.templates.emplace_back().advice =
        TemplateAdvice{Mode::kWarn, picture->Ask(MakePod(name, Asking(gpus)), {}), NoAdvice::kNone};
    ledger_.Remember(request, decision, now_);
  }

  void Look(const Advisors& picture, seconds later = seconds(1)) {
    now_ += later;
    for (std::string& line : ledger_.Look(picture, now_)) disagreements_.push_back(std::move(line));
  }

  static PodWish Unschedulable(std::int64_t gpus, std::string message) {
    PodWish wish = Asking(gpus);
    wish.standing.unschedulable = std::move(message);
    return wish;
  }
  static PodWish Nominated(std::int64_t gpus, std::string node) {
    PodWish wish = Asking(gpus);
    wish.standing.nominated_node = std::move(node);
    return wish;
  }
  PodWish Marked() const {
    PodWish wish{.gpus = 1, .priority = 1000};
    wish.standing.preempted_by_scheduler = true;
    wish.standing.deletion_time = now_ + seconds(30);
    return wish;
  }

  AccuracyLedger ledger_;
  std::vector<std::string> disagreements_;
  TimePoint now_ = kStart;
};

AccuracyCount Counted(Feasibility predicted, Actual actual, Outcome outcome) { return {predicted, actual, outcome, 1}; }

TEST_F(AccuracyLedgerTest, AFitThatIsBoundWhereItFits) {
  const Advisors picture = Picture(Cluster(3).Build());
  Look(picture);
  Admit("chat", 1, picture);
  EXPECT_EQ(ledger_.waiting(), 1U);
  Look(Picture(Cluster(3).Waiting("chat", Asking(1)).Build()));
  EXPECT_THAT(ledger_.Counts(), IsEmpty()) << "it waits for its turn";
  ClusterBuilder after;
  after.WithNode("a", {.gpus = 4}).WithPod("batch-0", {.gpus = 1, .priority = 1000}).WithPod("chat", Asking(1));
  Look(Picture(after.WithNode("b", {.gpus = 2}).Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsNow, Actual::kBound, Outcome::kAgreed)));
  EXPECT_EQ(ledger_.waiting(), 0U);
  EXPECT_THAT(disagreements_, IsEmpty());
}

TEST_F(AccuracyLedgerTest, ARefusalInTheSameWords) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("huge", 8, picture);
  const std::string message = picture->Ask(MakePod("huge", Asking(8)), {})->message;
  Look(Picture(Cluster(4).Waiting("huge", Unschedulable(8, message)).Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kShapeNeverFits, Actual::kUnschedulable, Outcome::kAgreed)));
}

TEST_F(AccuracyLedgerTest, ANominationIsComparedWhenItsVictimsHadTimeToBeMarked) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("chat", 4, picture);
  Look(Picture(Cluster(4).Waiting("chat", Nominated(4, "a")).Build()));
  Look(Picture(Cluster(4).Waiting("chat", Nominated(4, "a")).Build()));
  EXPECT_THAT(ledger_.Counts(), IsEmpty());
  ClusterBuilder evicted;
  evicted.WithNode("a", {.gpus = 4});
  for (int i = 0; i < 4; ++i) evicted.WithPod("batch-" + std::to_string(i), Marked());
  evicted.WithNode("b", {.gpus = 2}).WithPod("owner", {.gpus = 2, .priority = 2 * kHigh});
  Look(Picture(evicted.Waiting("chat", Nominated(4, "a")).Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsAfterPreemption, Actual::kNominated, Outcome::kAgreed)));
}

TEST_F(AccuracyLedgerTest, ANominatedPodThatIsBoundIsComparedAtOnce) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("chat", 4, picture);
  Look(Picture(Cluster(4).Waiting("chat", Nominated(4, "a")).Build()));
  ClusterBuilder bound;
  bound.WithNode("a", {.gpus = 4}).WithPod("chat", Asking(4)).WithNode("b", {.gpus = 2});
  Look(Picture(bound.Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsAfterPreemption, Actual::kNominated, Outcome::kAgreed)));
}

TEST_F(AccuracyLedgerTest, ADisagreementSaysBothSides) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("chat", 4, picture);
  Look(Picture(Cluster(4).Waiting("chat", Nominated(4, "b")).Build()));
  Look(Picture(Cluster(4).Waiting("chat", Nominated(4, "b")).Build()), AccuracyLedger::kSettle);
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsAfterPreemption, Actual::kNominated, Outcome::kDisagreed)));
  EXPECT_THAT(disagreements_, ElementsAre("default/chat: Podium said FitsAfterPreemption on a with 4 victims; the "
                                          "scheduler: Nominated on b"));
}

TEST_F(AccuracyLedgerTest, AnotherWordingIsADisagreement) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("huge", 8, picture);
  Look(Picture(Cluster(4).Waiting("huge", Unschedulable(8, "0/2 nodes are available: 2 Too many pods.")).Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kShapeNeverFits, Actual::kUnschedulable, Outcome::kDisagreed)));
  EXPECT_EQ(disagreements_.size(), 1U);
}

TEST_F(AccuracyLedgerTest, ACrowdOvertakesItself) {
  // One free GPU, and two pods that were both told of it.
  const Advisors picture = Picture(Cluster(3).Build());
  Look(picture);
  Admit("first", 1, picture);
  Admit("second", 1, picture);
  const auto with_first = [] {
    ClusterBuilder builder;
    builder.WithNode("a", {.gpus = 4});
    for (int i = 0; i < 3; ++i) builder.WithPod("batch-" + std::to_string(i), {.gpus = 1, .priority = 1000});
    builder.WithPod("first", Asking(1)).WithNode("b", {.gpus = 2}).WithPod("owner", {.gpus = 2, .priority = 2 * kHigh});
    return builder;
  };
  Look(Picture(with_first().Waiting("second", Nominated(1, "a")).Build()));
  Look(Picture(with_first().Waiting("second", Nominated(1, "a")).Build()), AccuracyLedger::kSettle);
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsNow, Actual::kBound, Outcome::kAgreed),
                                            Counted(kFitsNow, Actual::kNominated, Outcome::kOvertaken)));
  EXPECT_THAT(disagreements_, IsEmpty());
}

TEST_F(AccuracyLedgerTest, AChangeThatWasSeenBeforeTheTurnOvertakes) {
  const Advisors picture = Picture(Cluster(4).Build());
  Look(picture);
  Admit("big", 4, picture);
  Look(Picture(Cluster(0).Waiting("big", Asking(4)).Build()));  // all batch pods have ended
  ClusterBuilder bound;
  bound.WithNode("a", {.gpus = 4}).WithPod("big", Asking(4)).WithNode("b", {.gpus = 2});
  bound.WithPod("owner", {.gpus = 2, .priority = 2 * kHigh});
  // Bound where it was to go, and its planned victims are not there any more: that is what was said, in effect.
  Look(Picture(bound.Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsAfterPreemption, Actual::kBound, Outcome::kAgreed)));
  Admit("late", 2, Picture(Cluster(4).Build()));                        // told of evictions on a
  Look(Picture(Cluster(4, false).Waiting("late", Asking(2)).Build()));  // but now b is free
  ClusterBuilder on_b = Cluster(4, false);
  Look(Picture(on_b.WithPod("late", Asking(2)).Build()));
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsAfterPreemption, Actual::kBound, Outcome::kAgreed),
                                            Counted(kFitsAfterPreemption, Actual::kBound, Outcome::kOvertaken)));
}

TEST_F(AccuracyLedgerTest, WhatIsNotSeenCountsAsUnknown) {
  const Advisors picture = Picture(Cluster(3).Build());
  Look(picture);
  Admit("never", 1, picture);
  Admit("deleted", 8, picture);
  Look(Picture(Cluster(3).Waiting("deleted", Asking(8)).Build()));
  Look(picture);
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kShapeNeverFits, Actual::kNothing, Outcome::kUnknown)));
  Look(picture, AccuracyLedger::kPatience);
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsNow, Actual::kNothing, Outcome::kUnknown),
                                            Counted(kShapeNeverFits, Actual::kNothing, Outcome::kUnknown)));
  EXPECT_EQ(ledger_.waiting(), 0U);
}

TEST_F(AccuracyLedgerTest, AnotherPodOfTheSameNameIsAnotherPod) {
  const Advisors picture = Picture(Cluster(3).Build());
  Look(picture);
  Admit("chat", 1, picture);
  ClusterSnapshot other = Cluster(3).Build();
  Pod pod = MakePod("chat", Unschedulable(1, "no"));
  pod.uid = "an older one";
  other.waiting.push_back(std::make_shared<const Pod>(pod));
  Look(Picture(std::move(other)));
  EXPECT_THAT(ledger_.Counts(), IsEmpty());
  EXPECT_EQ(ledger_.waiting(), 1U);
}

TEST_F(AccuracyLedgerTest, IsBoundedAndTheOldestGoes) {
  const Advisors picture = Picture(Cluster(3).Build());
  Look(picture);
  for (std::size_t i = 0; i < AccuracyLedger::kMostPods; ++i) Admit("pod-" + std::to_string(i), 1, picture);
  Look(picture);
  EXPECT_EQ(ledger_.waiting(), AccuracyLedger::kMostPods);
  Admit("one-more", 1, picture);
  Look(picture);
  EXPECT_EQ(ledger_.waiting(), AccuracyLedger::kMostPods);
  EXPECT_THAT(ledger_.Counts(), ElementsAre(Counted(kFitsNow, Actual::kNothing, Outcome::kUnknown)));
}

TEST_F(AccuracyLedgerTest, OnlyWhatWillBeStoredAndClaimsSomething) {
  const Advisors picture = Picture(Cluster(3).Build());
  AdmissionRequest pod;
  pod.endpoint = Endpoint::kValidate;
  pod.kind = {"", "v1", "Pod"};
  pod.object.emplace().uid = "u-1";
  Decision advised;
  advised.templates.emplace_back().advice =
      TemplateAdvice{Mode::kWarn, picture->Ask(MakePod("p", Asking(1)), {}), NoAdvice::kNone};
  const auto with = [](auto value, auto change) {
    change(value);
    return value;
  };
  auto unknown = std::make_shared<Advice>();
  const std::pair<AdmissionRequest, Decision> rows[] = {
      {with(pod, [](auto& it) { it.endpoint = Endpoint::kMutate; }), advised},
      {with(pod, [](auto& it) { it.dry_run = true; }), advised},
      {with(pod, [](auto& it) { it.operation = Operation::kUpdate; }), advised},
      {with(pod,
            [](auto& it) {
              it.kind = {"apps", "v1", "Deployment"};
            }),
       advised},
      {with(pod, [](auto& it) { it.object->uid.clear(); }), advised},
      {pod, with(advised, [](auto& it) { it.verdict = Verdict::kRefuse; })},
      {pod, with(advised, [](auto& it) { it.templates[0].advice.reset(); })},
      {pod, with(advised, [](auto& it) { it.templates[0].advice->given = nullptr; })},
      {pod, with(advised, [&](auto& it) { it.templates[0].advice->given = unknown; })},
  };
  for (const auto& [request, decision] : rows) ledger_.Remember(request, decision, now_);
  EXPECT_EQ(ledger_.waiting(), 0U);
  ledger_.Remember(pod, advised, now_);
  EXPECT_EQ(ledger_.waiting(), 1U);
}

}  // namespace
}  // namespace podium
