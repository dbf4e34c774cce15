#include "query/access_cache.h"

#include <gmock/gmock.h>

#include "fakes/access_reviewer.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Caller kAlice{"alice", "u-1", {"dev"}, {}};
const AccessQuestion kCreate{"create", "pods", "ml"};
const Error kAway{ErrorKind::kTimeout, "no complete reply"};

class AccessCacheTest : public testing::Test {
 protected:
  AccessCacheTest() {
    reviewer_.Admit("good", kAlice);
    reviewer_.Allow("alice", "create", "ml");
  }
  AccessCache Make(const AccessCacheLimits& limits = {}) {
    return AccessCache(reviewer_, limits, [this] { return now_; });
  }
  void Pass(milliseconds time) { now_ += time; }

  fakes::MemoryReviewer reviewer_;
  SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(AccessCacheTest, AYesIsRememberedForAsLongAsItMayBe) {
  AccessCache cache = Make();
  ASSERT_EQ(*cache.WhoIs("good"), kAlice);
  ASSERT_TRUE(*cache.May(kAlice, kCreate));
  reviewer_.Withdraw("good");
  reviewer_.Forbid("alice", "create", "ml");
  Pass(milliseconds(9'999));
  EXPECT_EQ(*cache.WhoIs("good"), kAlice);
  EXPECT_TRUE(*cache.May(kAlice, kCreate));
  EXPECT_THAT(reviewer_.Asked(), ElementsAre("who is good", "alice create pods ml"));
  Pass(milliseconds(1));
  EXPECT_EQ(*cache.WhoIs("good"), std::nullopt);
  EXPECT_FALSE(*cache.May(kAlice, kCreate));
}

TEST_F(AccessCacheTest, ANoIsRememberedForAShortTimeThatOfARightForLonger) {
  AccessCache cache = Make();
  ASSERT_EQ(*cache.WhoIs("new"), std::nullopt);
  ASSERT_FALSE(*cache.May(kAlice, {"list", "pods", "ml"}));
  reviewer_.Admit("new", kAlice);
  reviewer_.Allow("alice", "list", "ml");
  Pass(milliseconds(1'999));
  EXPECT_EQ(*cache.WhoIs("new"), std::nullopt);
  EXPECT_FALSE(*cache.May(kAlice, {"list", "pods", "ml"}));
  EXPECT_THAT(reviewer_.Asked(), SizeIs(2));
  Pass(milliseconds(1));
  EXPECT_EQ(*cache.WhoIs("new"), kAlice);
  EXPECT_FALSE(*cache.May(kAlice, {"list", "pods", "ml"}));
  Pass(milliseconds(8'000));
  EXPECT_TRUE(*cache.May(kAlice, {"list", "pods", "ml"}));
}

// Tokens that nobody knows leave the questions about rights alone.
TEST_F(AccessCacheTest, TokensAndRightsHaveAllowancesOfTheirOwn) {
  AccessCache cache = Make({.tokens_per_second = 1, .rights_per_second = 2});
  EXPECT_TRUE(cache.WhoIs("first").ok());
  EXPECT_FALSE(cache.WhoIs("second").ok());
  EXPECT_TRUE(cache.May(kAlice, {"list", "pods", "a"}).ok());
  EXPECT_TRUE(cache.May(kAlice, {"list", "pods", "b"}).ok());
  EXPECT_FALSE(cache.May(kAlice, {"list", "pods", "c"}).ok());
}

TEST_F(AccessCacheTest, EveryPartOfTheCallerAndOfTheQuestionCounts) {
  AccessCache cache = Make();
  const Caller callers[] = {kAlice,
                            {"alice", "u-2", {"dev"}, {}},
                            {"alice", "u-1", {}, {}},
                            {"alice", "u-1", {"d", "ev"}, {}},
                            {"alice", "u-1", {"dev"}, {{"scopes", {}}}},
                            {"alice", "u-1", {"dev"}, {{"scopes", {"a"}}}},
                            {"alice", "u-1", {"dev", "scopes"}, {{"a", {}}}}};
  for (const Caller& caller : callers) EXPECT_TRUE(*cache.May(caller, kCreate));
  EXPECT_THAT(reviewer_.Asked(), SizeIs(7));
  for (const AccessQuestion& question :
       {AccessQuestion{"list", "pods", "ml"}, AccessQuestion{"create", "pods", "other"},
        AccessQuestion{"create", "pods", ""}, AccessQuestion{"create", "podsml", ""}})
    EXPECT_FALSE(*cache.May(kAlice, question)) << question.verb << question.namespace_name;
}

TEST_F(AccessCacheTest, AFailureIsNeitherYesNorNoAndNotRemembered) {
  AccessCache cache = Make();
  reviewer_.FailWith(kAway);
  EXPECT_EQ(cache.WhoIs("good").error(), kAway);
  EXPECT_EQ(cache.May(kAlice, kCreate).error(), kAway);
  reviewer_.FailWith({});
  EXPECT_EQ(*cache.WhoIs("good"), kAlice);
  EXPECT_TRUE(*cache.May(kAlice, kCreate));
}

TEST_F(AccessCacheTest, WhatIsRememberedAnswersWhileTheApiServerIsAway) {
  AccessCache cache = Make();
  ASSERT_TRUE(cache.WhoIs("good"));
  reviewer_.FailWith(kAway);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(cache.WhoIs("other" + std::to_string(i)));
  EXPECT_EQ(*cache.WhoIs("good"), kAlice);
}

TEST_F(AccessCacheTest, AfterSomeFailuresInARowNobodyIsAskedForAMoment) {
  AccessCache cache = Make();
  reviewer_.FailWith(kAway);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(cache.WhoIs("good"));
  EXPECT_THAT(reviewer_.Asked(), SizeIs(4));
  EXPECT_EQ(cache.WhoIs("good").error(),
            (Error{ErrorKind::kUnavailable, "the API server has failed several times; it is asked again in a moment"}));
  Pass(milliseconds(1'000));
  reviewer_.FailWith({});
  EXPECT_TRUE(cache.WhoIs("good"));
  EXPECT_EQ(cache.counters().failed, 4U);
  EXPECT_EQ(cache.counters().held_back, 7U);
  EXPECT_EQ(cache.counters().asked, 1U);
}

TEST_F(AccessCacheTest, TheApiServerIsAskedSoOftenAndNoMore) {
  AccessCache cache = Make({.tokens_per_second = 5, .rights_per_second = 5});
  int answered = 0;
  for (int i = 0; i < 100; ++i) answered += cache.WhoIs("bad" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(
      cache.WhoIs("worse").error(),
      (Error{ErrorKind::kUnavailable, "more than 5 questions a second about callers are not put to the API server"}));
  Pass(milliseconds(200));
  EXPECT_TRUE(cache.WhoIs("one more"));
  EXPECT_FALSE(cache.WhoIs("and another"));
  Pass(milliseconds(60'000));
  answered = 0;
  for (int i = 0; i < 100; ++i) answered += cache.WhoIs("late" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(answered, 5) << "silence is saved up for a second only";
}

TEST_F(AccessCacheTest, StrangersDoNotPushOutCallers) {
  AccessCache cache = Make({.entries = 8, .tokens_per_second = 1'000});
  ASSERT_TRUE(cache.WhoIs("good"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*cache.WhoIs("bad" + std::to_string(i)), std::nullopt);
  EXPECT_EQ(*cache.WhoIs("good"), kAlice);
  EXPECT_EQ(cache.counters().remembered, 1U);
}

TEST(ExpiringMap, HoldsSoManyAndForgetsTheOldest) {
  ExpiringMap<int> map(2);
  const SteadyTime now{std::chrono::hours(1)};
  const SteadyTime later = now + milliseconds(10);
  map.Put("a", 1, later);
  map.Put("b", 2, later);
  map.Put("a", 3, later);
  EXPECT_EQ(map.Find("a", now), 3);
  map.Put("c", 4, later);
  EXPECT_EQ(map.Find("a", now), std::nullopt);
  EXPECT_EQ(map.Find("b", now), 2);
  EXPECT_EQ(map.Find("c", later), std::nullopt);
  EXPECT_EQ(map.size(), 2U);
}

}  // namespace
}  // namespace podium
