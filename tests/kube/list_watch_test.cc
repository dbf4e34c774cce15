#include "kube/list_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace podium {

void PrintTo(const ListWatchState& state, std::ostream* out) {
  *out << (state.phase == ListWatchState::Phase::kList ? "list" : "watch") << " mode " << static_cast<int>(state.mode)
       << " at '" << state.resource_version << "' page '" << state.continue_token << "' failures " << state.failures
       << " healthy " << state.healthy.count();
}

void PrintTo(const ListRequest& request, std::ostream* out) {
  *out << "rv '" << request.resource_version << "' limit " << request.limit << " page '" << request.continue_token
       << "'";
}

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

ListWatchState Watching(const std::string& resource_version) {
  return {.phase = ListWatchState::Phase::kWatch, .resource_version = resource_version};
}

Outcome Listed(const std::string& resource_version, const std::string& next_page = "") {
  return {.kind = OutcomeKind::kListed, .resource_version = resource_version, .continue_token = next_page};
}

Outcome Refused(int code) { return {.kind = OutcomeKind::kRefused, .code = code, .lasted = seconds(5)}; }

Outcome Watched(OutcomeKind kind, milliseconds lasted, std::uint64_t events = 0, const std::string& last = "") {
  return {.kind = kind, .resource_version = last, .events = events, .lasted = lasted};
}

constexpr milliseconds kFirstWait{800};

// --- lists ----------------------------------------------------------------------------------------------------------

TEST(ListWatch, FirstListComesFromTheCacheInOnePiece) {
  EXPECT_EQ(ListOf(FirstState()), (ListRequest{"0", 0, ""}));
  const ListWatchStep step = Step(FirstState(), Listed("100"));
  EXPECT_EQ(step.state, Watching("100"));
  EXPECT_EQ(step.wait, milliseconds(0));
}

TEST(ListWatch, ExpiredWatchListsAtTheLastVersionThenInPages) {
  const ListWatchStep relist = Step(Watching("100"), Refused(410));
  EXPECT_EQ(ListOf(relist.state), (ListRequest{"100", 0, ""}));
  EXPECT_EQ(relist.wait, kFirstWait);
  const ListWatchStep pages = Step(relist.state, Refused(410));
  EXPECT_EQ(ListOf(pages.state), (ListRequest{"", 500, ""}));
  EXPECT_EQ(pages.wait, milliseconds(0));
  const ListWatchStep second = Step(pages.state, Listed("200", "t2"));
  EXPECT_EQ(ListOf(second.state), (ListRequest{"", 500, "t2"}));
  EXPECT_EQ(second.wait, milliseconds(0));
  const ListWatchStep watch = Step(second.state, Listed("200"));
  EXPECT_EQ(watch.state.phase, ListWatchState::Phase::kWatch);
  EXPECT_EQ(watch.state.resource_version, "200");
}

TEST(ListWatch, TooLargeVersionListsInPages) {
  Outcome outcome = Refused(504);
  outcome.resource_version_too_large = true;
  const ListWatchStep step = Step(FirstState(), outcome);
  EXPECT_EQ(ListOf(step.state), (ListRequest{"", 500, ""}));
  EXPECT_EQ(step.wait, milliseconds(0));
}

TEST(ListWatch, ExpiredPageListsInOnePieceAndOnlyOnceAtOnce) {
  ListWatchState state{.mode = ListMode::kPages, .continue_token = "t3"};
  const ListWatchStep whole = Step(state, Refused(410));
  EXPECT_EQ(ListOf(whole.state), (ListRequest{"", 0, ""}));
  EXPECT_EQ(whole.wait, milliseconds(0));
  const ListWatchStep again = Step(whole.state, Refused(410));
  EXPECT_EQ(ListOf(again.state), (ListRequest{"", 500, ""}));
  EXPECT_EQ(again.wait, kFirstWait);
}

TEST(ListWatch, FailedListStartsOverFromItsFirstPage) {
  const std::vector<Outcome> outcomes = {Refused(500), Refused(403), Refused(429),
                                         Watched(OutcomeKind::kBroken, seconds(1)),
                                         Watched(OutcomeKind::kUnreachable, seconds(1))};
  for (const Outcome& outcome : outcomes) {
    const ListWatchStep page = Step({.mode = ListMode::kPages, .continue_token = "t7"}, outcome);
    EXPECT_EQ(ListOf(page.state), (ListRequest{"", 500, ""}));
    EXPECT_EQ(page.wait, kFirstWait);
    const ListWatchStep first = Step(FirstState(), outcome);
    EXPECT_EQ(ListOf(first.state), (ListRequest{"0", 0, ""}));
    EXPECT_EQ(first.state.failures, 1);
    const ListWatchStep whole = Step({.mode = ListMode::kWhole}, outcome);
    EXPECT_EQ(ListOf(whole.state), (ListRequest{"", 500, ""}));
  }
}

// --- watches --------------------------------------------------------------------------------------------------------

TEST(ListWatch, WatchThatEndsInOrderGoesOnFromItsLastVersion) {
  const ListWatchStep step = Step(Watching("100"), Watched(OutcomeKind::kClosed, minutes(5), 3, "130"));
  EXPECT_EQ(step.state.phase, ListWatchState::Phase::kWatch);
  EXPECT_EQ(step.state.resource_version, "130");
  EXPECT_EQ(step.wait, milliseconds(0));
}

TEST(ListWatch, ConnectionTroubleResumesTheWatchWithoutAList) {
  for (const OutcomeKind kind : {OutcomeKind::kUnreachable, OutcomeKind::kBroken, OutcomeKind::kClosed}) {
    const ListWatchStep step = Step(Watching("100"), Watched(kind, milliseconds(10)));
    EXPECT_EQ(step.state.phase, ListWatchState::Phase::kWatch);
    EXPECT_EQ(step.state.resource_version, "100");
    EXPECT_EQ(step.state.failures, 1);
    EXPECT_EQ(step.wait, kFirstWait);
  }
}

// A server that restarts every five seconds, for two minutes.
TEST(ListWatch, RestartsInARowNeverList) {
  ListWatchState state = Watching("100");
  for (int restart = 0; restart < 24; ++restart) {
    state = Step(state, Watched(OutcomeKind::kBroken, seconds(5), 1, "1" + std::to_string(restart))).state;
    for (int refused = 0; refused < 3; ++refused) {
      state = Step(state, Watched(OutcomeKind::kUnreachable, milliseconds(1))).state;
      ASSERT_EQ(state.phase, ListWatchState::Phase::kWatch);
    }
  }
  EXPECT_EQ(state.resource_version, "123");
}

TEST(ListWatch, OnlyShortWatchesWithoutEventsCountAsFailures) {
  const auto wait = [](OutcomeKind kind, milliseconds lasted, std::uint64_t events) {
    return Step(Watching("1"), Watched(kind, lasted, events)).wait;
  };
  EXPECT_EQ(wait(OutcomeKind::kClosed, milliseconds(999), 0), kFirstWait);
  EXPECT_EQ(wait(OutcomeKind::kClosed, milliseconds(999), 1), milliseconds(0));
  EXPECT_EQ(wait(OutcomeKind::kClosed, milliseconds(1000), 0), milliseconds(0));
  EXPECT_EQ(wait(OutcomeKind::kBroken, milliseconds(1000), 0), milliseconds(0));
  EXPECT_EQ(wait(OutcomeKind::kBroken, milliseconds(999), 5), kFirstWait);
}

TEST(ListWatch, BusyServerIsWaitedForAtTheSameVersion) {
  for (const int code : {429, 500, 503}) {
    Outcome outcome = Refused(code);
    outcome.resource_version = "150";
    outcome.retry_after = seconds(7);
    const ListWatchStep step = Step(Watching("100"), outcome);
    EXPECT_EQ(step.state.phase, ListWatchState::Phase::kWatch) << code;
    EXPECT_EQ(step.state.resource_version, "150") << code;
    EXPECT_EQ(step.wait, seconds(7)) << code;
    outcome.retry_after = std::nullopt;
    EXPECT_EQ(Step(Watching("100"), outcome).wait, kFirstWait) << code;
  }
}

TEST(ListWatch, OtherErrorsOfAWatchListAgainAfterAWait) {
  for (const int code : {0, 400, 401, 403, 404}) {
    const ListWatchStep step = Step(Watching("100"), Refused(code));
    EXPECT_EQ(ListOf(step.state), (ListRequest{"100", 0, ""})) << code;
    EXPECT_EQ(step.wait, kFirstWait) << code;
  }
}

// --- back-off -------------------------------------------------------------------------------------------------------

TEST(ListWatch, BackoffDoublesUpToHalfAMinuteWithJitterOnTop) {
  for (const double chance : {0.0, 0.5}) {
    std::vector<double> waits;
    ListWatchStep step{Watching("1"), milliseconds(0)};
    for (int i = 0; i < 8; ++i) {
      Outcome outcome = Watched(OutcomeKind::kUnreachable, milliseconds(1));
      outcome.chance = chance;
      step = Step(step.state, outcome);
      waits.push_back(static_cast<double>(step.wait.count()) / (1 + chance));
    }
    EXPECT_EQ(waits, (std::vector<double>{800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}));
  }
}

TEST(ListWatch, RetryAfterHasALimitAndNeverShortensTheWait) {
  Outcome outcome = Refused(429);
  outcome.retry_after = std::chrono::hours(5);
  EXPECT_EQ(Step(Watching("1"), outcome).wait, minutes(5));
  outcome.retry_after = milliseconds(1);
  EXPECT_EQ(Step(Watching("1"), outcome).wait, kFirstWait);
}

TEST(ListWatch, TwoHealthyMinutesForgiveAllFailures) {
  ListWatchState state = Watching("1");
  state.failures = 6;
  state = Step(state, Watched(OutcomeKind::kClosed, seconds(119), 1)).state;
  EXPECT_EQ(state.failures, 6);
  state = Step(state, Watched(OutcomeKind::kClosed, seconds(1), 1)).state;
  EXPECT_EQ(state.failures, 0);
}

TEST(ListWatch, WatchesLastFiveToTenMinutes) {
  EXPECT_EQ(WatchSeconds(0), 300);
  EXPECT_EQ(WatchSeconds(0.5), 450);
  EXPECT_EQ(WatchSeconds(0.999'999), 600);
}

}  // namespace
}  // namespace podium
