#include "pdb/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fakes/budget_cluster.h"
#include "fakes/manual_clock.h"
#include "pdb/plans.h"

namespace podium {
namespace {

using builders::Scales;
using builders::UserBudget;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class SwitchedLeadership final : public Leadership {
 public:
  [[nodiscard]] bool IsLeader() const override {
    if (checks_left == 0) return false;
    --checks_left;
    return true;
  }
  mutable int checks_left = 1'000'000;  // so many answers are yes
};

// A cluster and one controller whose looks are taken by hand.
struct Desk {
  explicit Desk(const std::vector<Workload>& workloads, BudgetControllerOptions options = {})
      : cluster(ClusterWith(workloads)) {
    options.say = [this](std::string_view line) { said.emplace_back(line); };
    controller = std::make_unique<BudgetController>(
        BudgetPorts{cluster, [this] { return policy; }, cluster, leadership, clock}, std::move(options));
  }
  BudgetTurn TurnAfter(seconds wait) {
    clock.Advance(wait);
    return controller->Turn();
  }
  // The budgets there are, with their limits.
  [[nodiscard]] std::vector<std::string> Budgets() {
    std::vector<std::string> out;
    for (const auto& row : cluster.state().budgets)
      out.push_back(row.value.name + " " + row.value.max_unavailable.value_or("-"));
    return out;
  }

  BudgetCluster cluster;
  ManualClock clock;
  SwitchedLeadership leadership;
  std::shared_ptr<const Policy> policy = std::make_shared<const Policy>(OneDown());
  std::vector<std::string> said;
  std::unique_ptr<BudgetController> controller;
};

Workload Named(const std::string& name) { return Deployed(name).Type("interactive").Build(); }

TEST(BudgetController, FollowsAWorkloadThroughItsLife) {
  Desk desk({Named("web")});
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-web 1"));

  desk.policy = std::make_shared<const Policy>(WithBudget(AtMostDown("2")));
  EXPECT_EQ(desk.TurnAfter(seconds(1)), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-web 2"));

  desk.cluster.Put(Deployed("web").Type("interactive").Replicas(0).Build());
  EXPECT_EQ(desk.TurnAfter(seconds(5)), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), IsEmpty());
  EXPECT_THAT(
      desk.cluster.events(),
      testing::UnorderedElementsAre(
          "BudgetCreated: budget 'podium-deployment-web': workload type 'interactive' asks for maxUnavailable 1",
          "BudgetUpdated: budget 'podium-deployment-web': workload type 'interactive' asks for maxUnavailable 2",
          "BudgetRemoved: budget 'podium-deployment-web': it has no replicas"));
  BudgetCounters want;
  want.rounds = 3;
  want.created = want.updated = want.removed = 1;
  want.events = 3;
  want.last_round = desk.clock.Now();
  EXPECT_EQ(desk.controller->counters(), want);
}

TEST(BudgetController, WritesNothingWhenNothingChanges) {
  Desk desk({Named("web")});
  desk.controller->Turn();
  EXPECT_EQ(desk.TurnAfter(seconds(1)), BudgetTurn::kNothingNew) << "its own write is not looked at at once";
  EXPECT_EQ(desk.TurnAfter(seconds(5)), BudgetTurn::kRound);
  EXPECT_EQ(desk.TurnAfter(seconds(6)), BudgetTurn::kNothingNew);
  EXPECT_EQ(desk.TurnAfter(seconds(30)), BudgetTurn::kRound);
  EXPECT_EQ(desk.cluster.budget_writes(), 1U);
  EXPECT_THAT(desk.cluster.written(), SizeIs(2)) << "the budget and its event";
}

TEST(BudgetController, ASnapshotThatDiffersInPodsOnlyStartsNoRound) {
  Desk desk({Named("web")});
  desk.controller->Turn();
  EXPECT_EQ(desk.TurnAfter(seconds(5)), BudgetTurn::kRound) << "its own write";
  ++desk.cluster.state().generation;
  desk.cluster.state().waiting.push_back(std::make_shared<const Pod>());
  desk.cluster.Publish();
  EXPECT_EQ(desk.TurnAfter(seconds(6)), BudgetTurn::kNothingNew);
  desk.cluster.Put(Scales("Deployment", "web", 1));
  EXPECT_EQ(desk.TurnAfter(seconds(0)), BudgetTurn::kRound);
}

TEST(BudgetController, ASnapshotThatLagsIsNotAnsweredWithTheSameWrite) {
  Desk desk({Named("web")});
  desk.cluster.Lag();
  desk.controller->Turn();
  desk.policy = std::make_shared<const Policy>(*desk.policy);  // a round at once
  desk.TurnAfter(seconds(5));
  EXPECT_EQ(desk.cluster.budget_writes(), 1U);
}

TEST(BudgetController, StepsAsideAndSaysSo) {
  Desk desk({Named("web")});
  desk.controller->Turn();
  desk.cluster.Put(UserBudget("mine", {{"app", "web"}}));
  desk.TurnAfter(seconds(5));
  EXPECT_THAT(desk.Budgets(), ElementsAre("mine 1"));
  desk.TurnAfter(seconds(30));
  desk.TurnAfter(seconds(30));
  EXPECT_THAT(
      desk.cluster.events(),
      testing::UnorderedElementsAre(
          "BudgetCreated: budget 'podium-deployment-web': workload type 'interactive' asks for maxUnavailable 1",
          "BudgetRemoved: budget 'podium-deployment-web': budget 'mine' covers its pods already",
          "BudgetStepsAside: budget 'mine' covers its pods already"));
  EXPECT_EQ(desk.controller->counters().stepped_aside, 1U);
}

// --- leadership -----------------------------------------------------------------------------------------------------

TEST(BudgetController, WhoeverDoesNotLeadWritesNothing) {
  Desk desk({Named("web")});
  desk.leadership.checks_left = 0;
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kNotLeader);
  EXPECT_THAT(desk.cluster.written(), IsEmpty());
  EXPECT_EQ(desk.controller->last_plan(), nullptr);
}

// D38: stopped in the middle of a round.
TEST(BudgetController, LeadershipIsAskedBeforeEveryWrite) {
  for (int checks = 1; checks <= 6; ++checks) {
    Desk desk({Named("a"), Named("b"), Named("c")});
    desk.leadership.checks_left = checks;  // one for the round, then one for each write
    desk.controller->Turn();
    EXPECT_THAT(desk.cluster.written(), SizeIs(static_cast<std::size_t>(checks - 1)));
  }
}

TEST(BudgetController, ARoundThatWasBrokenOffIsTakenUpAgain) {
  Desk desk({Named("a"), Named("b")});
  desk.leadership.checks_left = 2;
  desk.controller->Turn();
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-a 1"));
  EXPECT_EQ(desk.controller->counters().lost_leadership, 1U);
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kNotLeader);
  desk.leadership.checks_left = 100;
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-a 1", "podium-deployment-b 1"));
}

// --- snapshots ------------------------------------------------------------------------------------------------------

struct TrustRow {
  const char* name;
  std::map<std::string, SourceState> sources;
  BudgetTurn want;
};

TEST(BudgetController, ActsOnlyOnWhatItCanTrust) {
  const TimePoint now = ManualClock().Now();
  const SourceState fresh{true, now - seconds(120), 1, 0};
  const SourceState old{true, now - seconds(121), 1, 0};
  const SourceState unsynced{false, now, 0, 0};
  const TrustRow rows[] = {
      {"all fresh", {{"poddisruptionbudgets.policy", fresh}, {"deployments.apps", fresh}}, BudgetTurn::kRound},
      {"budgets unwatched", {{"deployments.apps", fresh}}, BudgetTurn::kNotSynced},
      {"budgets not synced", {{"poddisruptionbudgets.policy", unsynced}}, BudgetTurn::kNotSynced},
      {"budgets stale", {{"poddisruptionbudgets.policy", old}}, BudgetTurn::kStale},
      {"workloads not synced",
       {{"poddisruptionbudgets.policy", fresh}, {"statefulsets.apps", unsynced}},
       BudgetTurn::kNotSynced},
      {"autoscalers stale",
       {{"poddisruptionbudgets.policy", fresh}, {"horizontalpodautoscalers.autoscaling", old}},
       BudgetTurn::kStale},
      {"nodes do not matter", {{"poddisruptionbudgets.policy", fresh}, {"nodes", unsynced}}, BudgetTurn::kRound},
  };
  for (const TrustRow& row : rows) {
    Desk desk({Named("web")});
    desk.cluster.state().sources = row.sources;
    desk.cluster.Publish();
    EXPECT_EQ(desk.controller->Turn(), row.want) << row.name;
    EXPECT_EQ(desk.cluster.budget_writes(), row.want == BudgetTurn::kRound ? 1U : 0U) << row.name;
  }
}

TEST(BudgetController, WithoutAPolicyItWaits) {
  Desk desk({Named("web")});
  desk.policy = nullptr;
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kNotSynced);
  EXPECT_THAT(desk.said,
              ElementsAre("the cluster's picture for budgets: no budget is written: there is no policy yet"));
}

TEST(BudgetController, ALeaderThatHasToWaitSaysSoOnce) {
  Desk desk({Named("web")});
  const TimePoint start = desk.clock.Now();
  const auto see = [&desk](bool synced) {
    desk.cluster.state().sources["poddisruptionbudgets.policy"] = {true, desk.clock.Now(), 1, 0};
    desk.cluster.state().sources["deployments.apps"] = {synced, desk.clock.Now(), 1, 0};
    desk.cluster.Publish();
  };
  see(false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kNotSynced);
  EXPECT_EQ(desk.controller->counters().last_round, TimePoint{});
  see(true);
  desk.controller->Turn();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(desk.TurnAfter(seconds(130)), BudgetTurn::kStale);
  EXPECT_EQ(desk.controller->counters().last_round, start) << "its age shows that nothing happens";
  see(true);
  desk.controller->Turn();
  EXPECT_THAT(
      desk.said,
      ElementsAre("the cluster's picture for budgets: no budget is written: deployments.apps is not synced yet",
                  "the cluster's picture for budgets: well again",
                  "the cluster's picture for budgets: no budget is written: poddisruptionbudgets.policy had neither "
                  "list, event nor bookmark for 130 s (at most 120 s are trusted)",
                  "the cluster's picture for budgets: well again"));
}

TEST(BudgetController, WhoeverDoesNotLeadDoesNotComplain) {
  Desk desk({Named("web")});
  desk.policy = nullptr;
  desk.controller->Turn();
  desk.leadership.checks_left = 0;
  EXPECT_EQ(desk.TurnAfter(seconds(1)), BudgetTurn::kNotLeader);
  EXPECT_THAT(desk.said, SizeIs(1));
  desk.leadership.checks_left = 1;
  desk.TurnAfter(seconds(1));
  EXPECT_THAT(desk.said, SizeIs(2)) << "a new term, said anew";
}

// --- failures -------------------------------------------------------------------------------------------------------

TEST(BudgetController, AFailureIsSaidOnceAndThatItIsOver) {
  Desk desk({Named("web")});
  desk.cluster.FailWith([](const WrittenObject& written) -> std::optional<Error> {
    if (written.verb == "create") return {};
    return Error{ErrorKind::kPermission, "user podium cannot patch poddisruptionbudgets"};
  });
  for (int i = 0; i < 20; ++i) desk.TurnAfter(seconds(30));
  EXPECT_THAT(desk.said,
              ElementsAre("budget chat/podium-deployment-web: user podium cannot patch poddisruptionbudgets"));
  EXPECT_EQ(desk.controller->counters().failed, desk.cluster.budget_writes());
  EXPECT_LE(desk.cluster.budget_writes(), 5U);
  EXPECT_THAT(desk.cluster.events(), SizeIs(1));
  desk.cluster.FailWith(nullptr);
  for (int i = 0; i < 40; ++i) desk.TurnAfter(seconds(30));
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-web 1"));
  EXPECT_EQ(desk.said.back(), "budget chat/podium-deployment-web: well again");
}

TEST(BudgetController, OneBudgetThatFailsDoesNotHoldUpTheOthers) {
  Desk desk({Named("a"), Named("b")});
  desk.cluster.FailWith([](const WrittenObject& written) -> std::optional<Error> {
    if (written.object.name != "podium-deployment-a") return {};
    return Error{ErrorKind::kConflict, "no"};
  });
  desk.controller->Turn();
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-b 1"));
}

TEST(BudgetController, AServerThatIsAwayEndsTheRound) {
  Desk desk({Named("a"), Named("b"), Named("c")});
  desk.cluster.FailWith([](const WrittenObject&) { return Error{ErrorKind::kTimeout, "no answer"}; });
  desk.controller->Turn();
  EXPECT_THAT(desk.cluster.written(), SizeIs(1));
}

// What act.h promises: 2 s, with up to half as much jitter, then doubling.
TEST(BudgetController, AFailedWriteIsTriedAgainWhenItsWaitIsOver) {
  Desk desk({Named("web")});
  desk.cluster.FailWith([](const WrittenObject&) { return Error{ErrorKind::kTimeout, "no answer"}; });
  desk.controller->Turn();
  EXPECT_EQ(desk.TurnAfter(seconds(1)), BudgetTurn::kNothingNew);
  EXPECT_EQ(desk.TurnAfter(seconds(2)), BudgetTurn::kRound) << "3 s after the first";
  EXPECT_EQ(desk.cluster.budget_writes(), 2U);
  EXPECT_EQ(desk.TurnAfter(seconds(3)), BudgetTurn::kNothingNew) << "4 s at the earliest";
  desk.cluster.FailWith(nullptr);
  EXPECT_EQ(desk.TurnAfter(seconds(3)), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-web 1"));
}

TEST(BudgetController, WhatAnAbsentServerLeftUndoneIsTakenUpWithTheFailedOne) {
  Desk desk({Named("a"), Named("b")});
  bool away = true;
  desk.cluster.FailWith([&away](const WrittenObject&) -> std::optional<Error> {
    if (!away) return {};
    return Error{ErrorKind::kUnavailable, "connection refused"};
  });
  desk.controller->Turn();
  away = false;
  EXPECT_EQ(desk.TurnAfter(seconds(3)), BudgetTurn::kRound);
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-a 1", "podium-deployment-b 1"));
}

TEST(BudgetController, AnEventThatFailedIsToldInALaterRound) {
  Desk desk({Named("web")});
  desk.cluster.Put(UserBudget("mine", {{"app", "web"}}));
  desk.cluster.FailWith([](const WrittenObject&) { return Error{ErrorKind::kPermission, "may not create events"}; });
  desk.controller->Turn();
  EXPECT_THAT(desk.cluster.events(), IsEmpty());
  EXPECT_EQ(desk.controller->counters().events_failed, 1U);
  desk.cluster.FailWith(nullptr);
  desk.TurnAfter(seconds(30));
  desk.TurnAfter(seconds(30));
  EXPECT_THAT(desk.cluster.events(), ElementsAre("BudgetStepsAside: budget 'mine' covers its pods already"));
  EXPECT_THAT(desk.said, ElementsAre("events: may not create events", "events: well again"));
  EXPECT_THAT(desk.cluster.written(), SizeIs(2));
}

struct TakenRow {
  const char* name;
  std::string selects;  // the user's budget: the value of "app"
  std::vector<std::string> want;
};

TEST(BudgetController, ABudgetThatGotTheNameMeanwhileIsNotTakenOver) {
  const std::string second = SecondBudgetName({"apps/v1", "Deployment", "chat", "web", ""});
  const TakenRow rows[] = {{"covers the pods: aside", "web", {"podium-deployment-web 1"}},
                           {"another's: second name", "api", {"podium-deployment-web 1", second + " 1"}}};
  for (const TakenRow& row : rows) {
    Desk desk({Named("web")});
    const Pdb theirs = UserBudget("podium-deployment-web", {{"app", row.selects}});
    desk.cluster.Lag();
    desk.cluster.Put(theirs);
    desk.controller->Turn();
    EXPECT_EQ(*desk.cluster.state().budgets.Find("chat/podium-deployment-web"), theirs) << row.name;
    EXPECT_THAT(desk.said, ElementsAre("budget chat/podium-deployment-web: somebody else has made a budget of that "
                                       "name: Podium leaves it and looks again (conflict with \"kubectl\": "
                                       ".spec.selector)"));
    EXPECT_THAT(desk.cluster.events(), IsEmpty()) << row.name;
    desk.cluster.Publish();
    EXPECT_EQ(desk.TurnAfter(seconds(5)), BudgetTurn::kRound) << row.name;
    EXPECT_EQ(*desk.cluster.state().budgets.Find("chat/podium-deployment-web"), theirs) << row.name;
    EXPECT_EQ(desk.Budgets(), row.want) << row.name;
  }
}

TEST(BudgetController, ABudgetThatWasDeletedMeanwhileIsNotRevivedByAnUpdate) {
  Desk desk({Named("web")});
  desk.controller->Turn();
  desk.cluster.Lag();
  ASSERT_TRUE(desk.cluster.Delete({"policy/v1", "poddisruptionbudgets", "chat", "podium-deployment-web"}, "uid-pdb-1"));
  desk.policy = std::make_shared<const Policy>(WithBudget(AtMostDown("2")));
  desk.TurnAfter(seconds(5));
  EXPECT_THAT(desk.Budgets(), IsEmpty());
  desk.cluster.Publish();
  desk.TurnAfter(seconds(5));
  EXPECT_THAT(desk.Budgets(), ElementsAre("podium-deployment-web 2")) << "made anew once that is known";
}

TEST(BudgetController, ABudgetThatWasReplacedIsNotDeleted) {
  Desk desk({Named("web")});
  desk.controller->Turn();
  desk.cluster.Put(Deployed("web").Build());
  desk.cluster.Lag();
  Pdb replaced = *desk.cluster.state().budgets.Find("chat/podium-deployment-web");
  replaced.uid = "uid-another";
  desk.cluster.Put(replaced);
  desk.TurnAfter(seconds(5));
  EXPECT_THAT(desk.said, ElementsAre("budget chat/podium-deployment-web: the uid in the precondition is another"));
  EXPECT_THAT(desk.Budgets(), SizeIs(1));
}

TEST(BudgetController, ManyWorkloadsAreWrittenInSeveralRounds) {
  std::vector<Workload> workloads;
  for (int i = 10; i < 60; ++i) workloads.push_back(Named("w" + std::to_string(i)));
  Desk desk(workloads);
  desk.controller->Turn();
  EXPECT_THAT(desk.Budgets(), SizeIs(20));
  desk.controller->Turn();
  desk.controller->Turn();
  EXPECT_THAT(desk.Budgets(), SizeIs(50));
  EXPECT_EQ(desk.TurnAfter(seconds(0)), BudgetTurn::kNothingNew);
  EXPECT_EQ(desk.cluster.budget_writes(), 50U);
}

TEST(BudgetController, AnExceptionOfAPortIsCounted) {
  Desk desk({Named("web")});
  desk.cluster.FailWith([](const WrittenObject&) -> std::optional<Error> { throw std::runtime_error("broken"); });
  EXPECT_EQ(desk.controller->Turn(), BudgetTurn::kNothingNew);
  EXPECT_EQ(desk.controller->counters().internal_errors, 1U);
  EXPECT_THAT(desk.said, ElementsAre("the budget loop: broken"));
}

// --- two of them ----------------------------------------------------------------------------------------------------

TEST(BudgetController, TwoLeadersAtOnceMakeOneBudgetEachAndStop) {
  Desk first({Named("a"), Named("b")});
  SwitchedLeadership leadership;
  BudgetController second({first.cluster, [&first] { return first.policy; }, first.cluster, leadership, first.clock},
                          {});
  first.cluster.Lag();  // neither sees what the other does until it is published
  for (int i = 0; i < 10; ++i) {
    first.TurnAfter(seconds(3));
    second.Turn();
    if (i % 3 == 0) first.cluster.Publish();
  }
  EXPECT_THAT(first.Budgets(), ElementsAre("podium-deployment-a 1", "podium-deployment-b 1"));
  EXPECT_EQ(first.cluster.changes(), 2U) << "the second write of each changes nothing";
  EXPECT_THAT(first.cluster.events(), SizeIs(2));

  first.cluster.Put(Deployed("a").Type("interactive").Replicas(0).Build());
  first.cluster.Publish();
  for (int i = 0; i < 10; ++i) {
    first.TurnAfter(seconds(3));
    second.Turn();
    if (i % 3 == 2) first.cluster.Publish();
  }
  EXPECT_THAT(first.Budgets(), ElementsAre("podium-deployment-b 1"));
  EXPECT_EQ(first.cluster.changes(), 3U);
}

// --- the thread -----------------------------------------------------------------------------------------------------

TEST(BudgetController, ItsThreadActsAndEnds) {
  BudgetCluster cluster(ClusterWith({Named("web")}));
  const ManualClock clock;
  const SwitchedLeadership leadership;
  const auto policy = std::make_shared<const Policy>(OneDown());
  std::mutex mutex;
  std::condition_variable done;
  bool written = false;
  cluster.FailWith([&](const WrittenObject&) -> std::optional<Error> {
    const std::lock_guard<std::mutex> lock(mutex);
    written = true;
    done.notify_all();
    return {};
  });
  BudgetController controller({cluster, [&policy] { return policy; }, cluster, leadership, clock}, {});
  controller.Start();
  {
    std::unique_lock<std::mutex> lock(mutex);
    EXPECT_TRUE(done.wait_for(lock, seconds(10), [&] { return written; }));
  }
  controller.Stop();
  EXPECT_EQ(controller.counters().created, 1U);
}

}  // namespace
}  // namespace podium
