#include "pdb/act.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "pdb/plans.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

BudgetPlan PlanFor(const std::vector<Workload>& workloads, const std::string& max_unavailable = "1") {
  return PlanBudgets(ClusterWith(workloads), WithBudget(AtMostDown(max_unavailable)), kNow);
}

std::vector<std::string> Names(const ActRound& round) {
  std::vector<std::string> out;
  for (const BudgetAction& action : round.actions)
    out.push_back((action.verb == BudgetVerb::kDelete ? "delete " : "apply ") + action.object.name);
  return out;
}

Workload Named(const std::string& name) { return Deployed(name).Type("interactive").Build(); }

// How long after `state` the only action of `plan` is taken again, in whole seconds.
std::int64_t WaitSeconds(const BudgetPlan& plan, const ActState& state) {
  std::int64_t waited = 0;
  while (waited < 2'000 && Act(plan, state, kNow + seconds(waited)).actions.empty()) ++waited;
  return waited;
}

TEST(Act, WritesWholeObjects) {
  const BudgetPlan plan = PlanFor({Named("web")});
  EXPECT_EQ(Act(plan, {}, kNow), (ActRound{{{BudgetVerb::kApply,
                                             {"policy/v1", "poddisruptionbudgets", "chat", "podium-deployment-web"},
                                             RenderBudget(*plan.rows[0].desired),
                                             "",
                                             0}},
                                           false}));
}

TEST(Act, RemovesThenUpdatesThenCreatesAndNotTooMuchAtOnce) {
  ClusterSnapshot snapshot =
      ClusterWith({Named("a"), Named("b"), Deployed("c").Type("interactive").Replicas(0).Build()});
  Pdb stale = OursFor(Named("b"), OneDown());
  stale.max_unavailable = "2";
  Put(snapshot, stale);
  const Pdb unwanted = OursFor(Named("c"), OneDown());
  Put(snapshot, unwanted);
  const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);

  const ActRound all = Act(plan, {}, kNow);
  EXPECT_THAT(Names(all),
              ElementsAre("delete podium-deployment-c", "apply podium-deployment-b", "apply podium-deployment-a"));
  EXPECT_EQ(all.actions[0].uid, unwanted.uid);
  EXPECT_FALSE(all.more);

  ActLimits limits;
  limits.writes = 2;
  const ActRound some = Act(plan, {}, kNow, limits);
  EXPECT_THAT(Names(some), ElementsAre("delete podium-deployment-c", "apply podium-deployment-b"));
  EXPECT_TRUE(some.more);
}

TEST(Act, OnlyAnUpdateMayForceAndItNamesTheUid) {
  EXPECT_EQ(Act(PlanFor({Named("web")}), {}, kNow).actions.at(0).ownership, Ownership::kNew);
  ClusterSnapshot snapshot = ClusterWith({Named("web")});
  Pdb ours = OursFor(Named("web"), OneDown());
  ours.max_unavailable = "2";
  Put(snapshot, ours);
  const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
  EXPECT_EQ(plan.rows.at(0).desired->uid, ours.uid);
  EXPECT_EQ(Act(plan, {}, kNow).actions.at(0).ownership, Ownership::kOurs);
}

TEST(Act, WithoutAUidNothingIsWritten) {
  EXPECT_THAT(Act(PlanFor({Deployed("web").Type("interactive").Uid("").Build()}), {}, kNow).actions, IsEmpty());
}

TEST(Act, AWriteThatWentWellIsNotRepeatedUntilTheSnapshotMustShowIt) {
  const BudgetPlan plan = PlanFor({Named("web")});
  const ActState state = Settle({}, Act(plan, {}, kNow).actions.at(0), {}, kNow);
  const std::int64_t wait = WaitSeconds(plan, state);
  EXPECT_GE(wait, 15);
  EXPECT_LE(wait, 23);
  EXPECT_THAT(Names(Act(PlanFor({Named("web")}, "2"), state, kNow)), ElementsAre("apply podium-deployment-web"))
      << "something else may be written at once";
}

TEST(Act, SomebodyWhoUndoesItIsNotFought) {
  const BudgetPlan plan = PlanFor({Named("web")});
  const BudgetAction action = Act(plan, {}, kNow).actions.at(0);
  ActState state;
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    state = Settle(std::move(state), action, {}, kNow);
    waits.push_back(WaitSeconds(plan, state));
  }
  EXPECT_GE(waits[1], 30);
  EXPECT_GE(waits[5], 480);
  EXPECT_GE(waits[8], 600);
  EXPECT_LE(waits[8], 900);
}

struct WaitRow {
  ErrorKind kind;
  std::int64_t first;
  std::int64_t longest;
};

TEST(Act, FailuresAreTriedAgainLaterAndLater) {
  const WaitRow rows[] = {{ErrorKind::kConflict, 2, 300},    {ErrorKind::kNotFound, 2, 300},
                          {ErrorKind::kTimeout, 2, 300},     {ErrorKind::kUnavailable, 2, 300},
                          {ErrorKind::kPermission, 60, 600}, {ErrorKind::kInvalidInput, 60, 600}};
  const BudgetPlan plan = PlanFor({Named("web")});
  const BudgetAction action = Act(plan, {}, kNow).actions.at(0);
  for (const WaitRow& row : rows) {
    const Error error{row.kind, "no"};
    ActState state = Settle({}, action, error, kNow);
    const std::int64_t first = WaitSeconds(plan, state);
    EXPECT_GE(first, row.first) << error.message;
    EXPECT_LE(first, row.first * 3 / 2) << error.message;
    for (int i = 0; i < 12; ++i) state = Settle(std::move(state), action, error, kNow);
    const std::int64_t last = WaitSeconds(plan, state);
    EXPECT_GE(last, row.longest) << error.message;
    EXPECT_LE(last, row.longest * 3 / 2) << error.message;
    state = Settle(std::move(state), action, {}, kNow);
    EXPECT_LE(WaitSeconds(plan, state), 23) << "a success ends the row";
  }
}

TEST(Act, AnObjectThatWasRefusedMayBeTriedWithOtherContent) {
  const BudgetPlan plan = PlanFor({Named("web")});
  const BudgetPlan other = PlanFor({Named("web")}, "2");
  const BudgetAction action = Act(plan, {}, kNow).actions.at(0);
  const ActState invalid = Settle({}, action, Error{ErrorKind::kInvalidInput, "no"}, kNow);
  EXPECT_EQ(Act(plan, invalid, kNow).actions.size(), 0U);
  EXPECT_EQ(Act(other, invalid, kNow).actions.size(), 1U);
  const ActState forbidden = Settle({}, action, Error{ErrorKind::kPermission, "no"}, kNow);
  EXPECT_EQ(Act(other, forbidden, kNow).actions.size(), 0U);
}

TEST(IsWaitOver, OnceForEachWait) {
  ActState state;
  state.budgets["chat/a"].not_before = kNow + seconds(2);
  state.budgets["chat/b"].not_before = kNow + seconds(9);
  EXPECT_FALSE(IsWaitOver(state, kNow, kNow + seconds(1)));
  EXPECT_TRUE(IsWaitOver(state, kNow, kNow + seconds(2)));
  EXPECT_FALSE(IsWaitOver(state, kNow + seconds(2), kNow + seconds(8))) << "that round has tried it";
  EXPECT_TRUE(IsWaitOver(state, kNow + seconds(2), kNow + seconds(9)));
}

TEST(Act, AClockThatWasSetBackDoesNotWaitForHours) {
  const BudgetPlan plan = PlanFor({Named("web")});
  const ActState state = Settle({}, Act(plan, {}, kNow).actions.at(0), Error{ErrorKind::kTimeout, "no"}, kNow);
  EXPECT_EQ(Act(plan, state, kNow - hours(5)).actions.size(), 1U);
}

TEST(Act, WhatIsLongOverIsForgotten) {
  const BudgetPlan plan = PlanFor({Named("web")});
  ActState state = Settle({}, Act(plan, {}, kNow).actions.at(0), {}, kNow);
  state.events = Tell({}, {plan.rows[0].workload, EventType::kNormal, "BudgetCreated", "x"}, kNow);
  EXPECT_EQ(Forget(state, kNow + minutes(20)), state);
  const ActState later = Forget(state, kNow + hours(7));
  EXPECT_THAT(later.budgets, IsEmpty());
  EXPECT_THAT(later.events.said, IsEmpty());
}

// --- events ---------------------------------------------------------------------------------------------------------

BudgetRow RowWith(BudgetStep step, bool problem) {
  BudgetRow row;
  row.workload = {"apps/v1", "Deployment", "chat", "web", "uid-web"};
  row.step = step;
  row.problem = problem;
  row.reason = "why";
  return row;
}

std::string Line(const std::optional<BudgetEvent>& event) {
  if (!event) return "-";
  return (event->type == EventType::kWarning ? "Warning " : "Normal ") + event->reason + ": " + event->note;
}

TEST(EventOfRow, OnlyWhatIsNotWrittenAndWorthSaying) {
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kKeep, false))), "-");
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kNone, false))), "-");
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kCreate, false))), "-");
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kNone, true))), "Warning BudgetImpossible: why");
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kStepAside, false))), "Normal BudgetStepsAside: why");
  EXPECT_EQ(Line(EventOfRow(RowWith(BudgetStep::kStepAside, true))), "Warning BudgetsOverlap: why");
}

TEST(EventOfWrite, SaysWhatWasDoneOrWhyNot) {
  BudgetAction action;
  action.object.name = "b";
  const Status denied = Error{ErrorKind::kPermission, "forbidden"};
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kCreate, false), action, {})),
            "Normal BudgetCreated: budget 'b': why");
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kUpdate, false), action, {})),
            "Normal BudgetUpdated: budget 'b': why");
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kRemove, true), action, {})),
            "Warning BudgetRemoved: budget 'b': why");
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kCreate, false), action, denied)),
            "Warning BudgetNotWritten: budget 'b' could not be written: forbidden");
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kRemove, false), action, denied)),
            "Warning BudgetNotWritten: budget 'b' could not be removed: forbidden");
  EXPECT_EQ(Line(EventOfWrite(RowWith(BudgetStep::kCreate, false), action, Error{ErrorKind::kConflict, "theirs"})), "-")
      << "the next plan knows more";
  EXPECT_EQ(Line(EventOfWrite(BudgetRow{}, action, {})), "-") << "there is no workload to say it of";
}

BudgetEvent Note(const std::string& workload, const std::string& note) {
  return {{"apps/v1", "Deployment", "chat", workload, "uid"}, EventType::kNormal, "BudgetCreated", note};
}

TEST(MayTell, TheSameOnceInSixHours) {
  const EventHistory events = Tell({}, Note("web", "x"), kNow);
  EXPECT_FALSE(MayTell(events, Note("web", "x"), kNow + hours(5)));
  EXPECT_TRUE(MayTell(events, Note("web", "x"), kNow + hours(6)));
  EXPECT_TRUE(MayTell(events, Note("web", "y"), kNow));
}

TEST(MayTell, AFailedTryIsNotToldButCounts) {
  EventHistory events;
  for (int i = 0; i < 3; ++i) events = Attempt(std::move(events), Note("web", "x"), kNow);
  EXPECT_TRUE(MayTell(events, Note("web", "x"), kNow));
  events = Attempt(std::move(events), Note("web", "x"), kNow);
  EXPECT_FALSE(MayTell(events, Note("web", "x"), kNow));
  EXPECT_TRUE(MayTell(events, Note("web", "x"), kNow + minutes(10)));
}

TEST(MayTell, FourOfAWorkloadAndSixtyInAllInTenMinutes) {
  EventHistory events;
  for (int i = 0; i < 4; ++i) events = Tell(std::move(events), Note("web", std::to_string(i)), kNow);
  EXPECT_FALSE(MayTell(events, Note("web", "new"), kNow + minutes(9)));
  EXPECT_TRUE(MayTell(events, Note("api", "new"), kNow));
  EXPECT_TRUE(MayTell(events, Note("web", "new"), kNow + minutes(10)));
  for (int i = 0; i < 56; ++i) events = Tell(std::move(events), Note("w" + std::to_string(i), "x"), kNow);
  EXPECT_FALSE(MayTell(events, Note("api", "new"), kNow));
  EXPECT_TRUE(MayTell(events, Note("api", "new"), kNow + minutes(10)));
}

}  // namespace
}  // namespace podium
