#include "kube/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fakes/lease_server.h"
#include "fakes/manual_clock.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// One candidate and the lease it is after. Its steps are taken by hand.
struct Election {
  LeaseServer server;
  ManualMonotonic monotonic;
  ManualClock wall;
  std::vector<std::string> said;

  std::unique_ptr<LeaseKeeper> Candidate(const std::string& identity) {
    return std::make_unique<LeaseKeeper>(server, LeaseClocks{monotonic, wall}, LeaseCandidate{identity, {}},
                                         [this](std::string_view line) { said.emplace_back(line); });
  }
  void Advance(MonotonicClock::Time by) {
    monotonic.Advance(by);
    wall.Advance(std::chrono::duration_cast<std::chrono::microseconds>(by));
  }
  // Steps until there is something to wait for.
  static MonotonicClock::Time Settle(LeaseKeeper& keeper) {
    for (int i = 0; i < 10; ++i)
      if (const MonotonicClock::Time wait = keeper.Turn(); wait > MonotonicClock::Time{}) return wait;
    ADD_FAILURE() << "ten calls without a pause";
    return {};
  }
  // As the thread does it, for `length`.
  void Run(LeaseKeeper& keeper, MonotonicClock::Time length) {
    const MonotonicClock::Time end = monotonic.Now() + length;
    while (monotonic.Now() < end) Advance(std::min(Settle(keeper), end - monotonic.Now()));
  }
};

LeaseRecord HeldBy(const std::string& holder, const std::string& renew_time) {
  return {holder, 15, "2026-11-18T11:00:00.000000Z", renew_time, 3};
}

TEST(Lease, IsMadeAndRenewedEveryTwoSeconds) {
  Election election;
  const auto a = election.Candidate("a");
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(Election::Settle(*a), seconds(2));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_EQ(a->holder(), "a");
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("get", "create"));
  EXPECT_EQ(election.server.record(),
            (LeaseRecord{"a", 15, "2026-11-18T11:06:40.000000Z", "2026-11-18T11:06:40.000000Z", 0}));

  election.Advance(seconds(2));
  EXPECT_EQ(Election::Settle(*a), seconds(2));
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("update"));
  EXPECT_EQ(election.server.record(),
            (LeaseRecord{"a", 15, "2026-11-18T11:06:40.000000Z", "2026-11-18T11:06:42.000000Z", 0}));
  EXPECT_THAT(election.said, ElementsAre("lease: this replica leads"));
}

TEST(Lease, NothingIsAskedBeforeItsTime) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.TakeCalls();
  election.Advance(milliseconds(1'500));
  EXPECT_EQ(a->Turn(), milliseconds(500));
  EXPECT_THAT(election.server.TakeCalls(), IsEmpty());
}

TEST(Lease, AForeignHolderIsWaitedForFifteenSecondsWithoutAChange) {
  Election election;
  election.server.Overwrite(HeldBy("b", "2026-11-18T11:06:39.000000Z"));
  const auto a = election.Candidate("a");
  election.Run(*a, seconds(14));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->holder(), "b");
  election.Run(*a, seconds(6));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_EQ(election.server.record()->transitions, 4);
}

// An API server refuses a larger one, and nobody would lead any more.
TEST(Lease, TransitionsStayWithinTheirField) {
  Election election;
  LeaseRecord record = HeldBy("b", "2026-11-18T11:06:39.000000Z");
  record.transitions = INT32_MAX;
  election.server.Overwrite(record);
  const auto a = election.Candidate("a");
  election.Run(*a, seconds(20));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_EQ(election.server.record()->transitions, INT32_MAX);
}

TEST(Lease, AHolderThatRenewsIsNeverReplaced) {
  Election election;
  const auto a = election.Candidate("a");
  for (int i = 0; i < 60; ++i) {
    election.server.Overwrite(HeldBy("b", std::to_string(i)));
    election.Run(*a, seconds(2));
    ASSERT_FALSE(a->IsLeader()) << i;
  }
}

// The gap is the lease, whenever the candidate happened to look; and whoever held it has stopped acting by then.
TEST(Lease, ALeaderThatDiesIsReplacedWithinFifteenSecondsOfItsLastRenewal) {
  for (int phase = 0; phase < 40; ++phase) {
    Election election;
    const auto a = election.Candidate("a");
    election.server.Overwrite(HeldBy("b", "first"));
    election.Run(*a, milliseconds(50 * phase));
    for (int i = 0; i < 5; ++i) {
      election.server.Overwrite(HeldBy("b", std::to_string(i)));
      if (i < 4) election.Run(*a, seconds(2));
    }
    const MonotonicClock::Time died = election.monotonic.Now();
    while (!a->IsLeader() && election.monotonic.Now() < died + seconds(30)) election.Run(*a, milliseconds(10));
    EXPECT_LE(election.monotonic.Now() - died, seconds(15)) << phase;
    EXPECT_GE(election.monotonic.Now() - died, seconds(12)) << phase;
  }
}

// A candidate that was stopped for long cannot tell when the renewal was written: its holder may act for 10 s more.
TEST(Lease, ACandidateThatWasStoppedBetweenItsLooksLeavesTheHolderItsTime) {
  Election election;
  const auto a = election.Candidate("a");
  election.server.Overwrite(HeldBy("b", "x"));
  Election::Settle(*a);
  election.Advance(seconds(60));
  election.server.Overwrite(HeldBy("b", "y"));
  election.Run(*a, milliseconds(11'990));
  EXPECT_FALSE(a->IsLeader());
  election.Run(*a, milliseconds(20));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, TheWaitsOfACandidateAreSpreadAndBounded) {
  Election election;
  election.server.Overwrite(HeldBy("b", "x"));
  const auto a = election.Candidate("a");
  const auto c = election.Candidate("c");
  const MonotonicClock::Time first = Election::Settle(*a);
  EXPECT_NE(first, Election::Settle(*c));
  EXPECT_GE(first, seconds(2));
  EXPECT_LE(first, milliseconds(2'400));
}

// D39: what another clock wrote is not believed.
TEST(Lease, ARenewTimeFarInTheFutureIsNoReasonToWait) {
  Election election;
  election.server.Overwrite(HeldBy("b", "9999-12-31T23:59:59.000000Z"));
  const auto a = election.Candidate("a");
  election.Run(*a, seconds(20));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, AnAbsurdDurationEndsAfterTenMinutes) {
  Election election;
  LeaseRecord record = HeldBy("b", "x");
  record.duration_seconds = 1'000'000'000;
  election.server.Overwrite(record);
  const auto a = election.Candidate("a");
  election.Run(*a, seconds(599));
  EXPECT_FALSE(a->IsLeader());
  election.Run(*a, seconds(6));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, AChangeOfMetadataIsNoSignOfLife) {
  Election election;
  election.server.Overwrite(HeldBy("b", "x"));
  const auto a = election.Candidate("a");
  for (int i = 0; i < 10; ++i) {
    election.server.Touch();
    election.Run(*a, seconds(2));
  }
  EXPECT_TRUE(a->IsLeader());
}

// D38: stopped for 20 s. What the process may do is over before it looks at anything.
TEST(Lease, AProcessThatWasStoppedMayNotActAndLooksBeforeItWrites) {
  Election election;
  const auto a = election.Candidate("a");
  const auto b = election.Candidate("b");
  Election::Settle(*a);
  Election::Settle(*b);
  for (int i = 0; i < 10; ++i) {  // a is stopped, b goes on
    election.Advance(seconds(2));
    Election::Settle(*b);
  }
  EXPECT_FALSE(a->IsLeader());
  EXPECT_TRUE(b->IsLeader());
  election.server.TakeCalls();
  Election::Settle(*a);
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("get"));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->holder(), "b");
}

TEST(Lease, AProcessThatWasStoppedLooksAlsoWhenNobodyTookOver) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.Advance(seconds(20));
  EXPECT_FALSE(a->IsLeader());
  election.server.TakeCalls();
  Election::Settle(*a);
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("get", "update"));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, ARenewalThatHangsGivesNoRightToAct) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.Advance(seconds(2));
  election.server.Before([&](const std::string&) -> std::optional<Error> {
    election.Advance(seconds(11));  // the answer is good, and too late
    return {};
  });
  a->Turn();
  EXPECT_FALSE(a->IsLeader());
}

TEST(Lease, ActingEndsTenSecondsAfterTheLastRenewalWasSent) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.Before([](const std::string&) { return Error{ErrorKind::kUnavailable, "connection refused"}; });
  election.Run(*a, milliseconds(9'999));
  EXPECT_TRUE(a->IsLeader());
  election.Advance(milliseconds(1));
  EXPECT_FALSE(a->IsLeader());
  election.Run(*a, seconds(20));
  EXPECT_THAT(election.said, ElementsAre("lease: this replica leads", "lease: connection refused",
                                         "lease: this replica no longer leads"));
  election.server.Before(nullptr);
  election.Run(*a, seconds(5));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, ALeaseThatWasTakenWithoutAnAnswerIsFoundAgain) {
  Election election;
  const auto a = election.Candidate("a");
  election.server.LoseAnswers(true);
  Election::Settle(*a);
  EXPECT_FALSE(a->IsLeader());  // whoever does not know does not act
  EXPECT_EQ(election.server.record()->holder, "a");
  election.server.LoseAnswers(false);
  election.Run(*a, seconds(5));
  EXPECT_TRUE(a->IsLeader());
}

// D39: every update conflicts.
TEST(Lease, AStormOfConflictsIsAnsweredAtTheUsualPace) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.TakeCalls();
  election.server.Before([](const std::string& verb) -> std::optional<Error> {
    if (verb != "update") return {};
    return Error{ErrorKind::kConflict, "the object has been modified"};
  });
  election.Run(*a, seconds(30));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_LE(election.server.TakeCalls().size(), 32U);  // two each two seconds
}

TEST(Lease, ALeaseThatWasTouchedIsRenewedAtOnce) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.Touch();
  election.server.TakeCalls();
  election.Advance(seconds(2));
  Election::Settle(*a);
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("update", "get", "update"));
  EXPECT_TRUE(a->IsLeader());
}

// D39: the lease is deleted.
TEST(Lease, ADeletedLeaseIsMadeAgain) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.Delete();
  election.server.TakeCalls();
  election.Advance(seconds(2));
  Election::Settle(*a);
  EXPECT_THAT(election.server.TakeCalls(), ElementsAre("update", "get", "create"));
  EXPECT_TRUE(a->IsLeader());
}

TEST(Lease, WhoeverMakesADeletedLeaseFirstLeads) {
  Election election;
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  election.server.Delete();
  election.server.Overwrite(HeldBy("b", "x"));
  election.Advance(seconds(2));
  Election::Settle(*a);
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->holder(), "b");
}

TEST(Lease, AtMostOneOfThreeActsWhateverTheyMiss) {
  Election election;
  std::vector<std::unique_ptr<LeaseKeeper>> all;
  for (const char* name : {"a", "b", "c"}) all.push_back(election.Candidate(name));
  std::uint64_t random = 42;
  int turns_led = 0;
  for (int i = 0; i < 4'000; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    election.Advance(milliseconds((random >> 33) % 400));
    const bool fails = (random >> 40) % 3 == 0;
    election.server.Before([fails](const std::string&) -> std::optional<Error> {
      if (!fails) return {};
      return Error{ErrorKind::kTimeout, "no answer"};
    });
    election.server.LoseAnswers((random >> 44) % 5 == 0);
    if (i % 400 < 300 || i % 3 != 0) all[(random >> 50) % 3]->Turn();  // long gaps, too
    int leaders = 0;
    for (const auto& each : all) leaders += each->IsLeader() ? 1 : 0;
    ASSERT_LE(leaders, 1) << i;
    turns_led += leaders;
  }
  EXPECT_GT(turns_led, 1'000);
}

TEST(Lease, IsGivenBackAtTheEnd) {
  Election election;
  const auto a = election.Candidate("a");
  const auto b = election.Candidate("b");
  Election::Settle(*a);
  Election::Settle(*b);
  election.Advance(seconds(1));
  a->Stop();
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(election.server.record(),
            (LeaseRecord{"", 1, "2026-11-18T11:06:41.000000Z", "2026-11-18T11:06:41.000000Z", 0}));
  election.Run(*b, seconds(5));
  EXPECT_TRUE(b->IsLeader());
  EXPECT_EQ(election.server.record()->transitions, 1);
}

TEST(Lease, WhatIsNotOursIsNotGivenBack) {
  Election election;
  election.server.Overwrite(HeldBy("b", "x"));
  const auto a = election.Candidate("a");
  Election::Settle(*a);
  a->Stop();
  EXPECT_EQ(election.server.record(), HeldBy("b", "x"));
}

TEST(LeaseKeeper, ItsThreadLeadsAndEnds) {
  Election election;
  std::mutex mutex;
  std::condition_variable leads;
  bool leading = false;
  LeaseKeeper keeper(election.server, {election.monotonic, election.wall}, {"a", {}}, [&](std::string_view line) {
    const std::lock_guard<std::mutex> lock(mutex);
    leading = leading || line == "lease: this replica leads";
    leads.notify_all();
  });
  keeper.Start();
  {
    std::unique_lock<std::mutex> lock(mutex);
    EXPECT_TRUE(leads.wait_for(lock, seconds(10), [&] { return leading; }));
  }
  EXPECT_TRUE(keeper.IsLeader());
  keeper.Stop();
  EXPECT_FALSE(keeper.IsLeader());
  EXPECT_EQ(election.server.record()->holder, "");
}

TEST(BootClock, GoesOn) {
  const BootClock clock;
  const MonotonicClock::Time before = clock.Now();
  EXPECT_GT(before, MonotonicClock::Time{});
  EXPECT_GE(clock.Now(), before);
}

}  // namespace
}  // namespace podium
