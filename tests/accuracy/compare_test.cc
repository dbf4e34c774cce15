#include "accuracy/compare.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "builders/clusters.h"

namespace podium {
namespace {

using std::chrono::seconds;
using Strings = std::vector<std::string>;

constexpr TimePoint kSince = TimePoint(seconds(1'796'000'000));

NodeSet Nodes(const Strings& names, const std::vector<std::uint32_t>& positions) {
  return {std::make_shared<const NodeNames>(names), positions};
}

Advice Said(Feasibility verdict) {
  Advice advice;
  advice.verdict = verdict;
  return advice;
}

Advice FitsOn(const std::vector<std::uint32_t>& positions) {
  Advice advice = Said(Feasibility::kFitsNow);
  advice.fit = Nodes({"a", "b", "c"}, positions);
  return advice;
}

// Nodes b (victims u-1, u-2), a (u-3), and c, of whose victims nothing is kept.
Advice Evicting() {
  Advice advice = Said(Feasibility::kFitsAfterPreemption);
  advice.chosen = {{"b", {"u-1", "u-2"}}, {"a", {"u-3"}}};
  advice.chosen_nodes = Nodes({"a", "b", "c", "d"}, {0, 1, 2});
  advice.node = "b";
  advice.victims = 2;
  return advice;
}

Advice Refusing(const std::string& message) {
  Advice advice = Said(Feasibility::kPreemptionCannotHelp);
  advice.message = message;
  return advice;
}

TEST(NodeSet, KnowsItsNodes) {
  const NodeSet set = Nodes({"a", "b", "c"}, {0, 2});
  EXPECT_TRUE(set.Contains("a"));
  EXPECT_FALSE(set.Contains("b"));
  EXPECT_TRUE(set.Contains("c"));
  EXPECT_FALSE(set.Contains("d"));
  EXPECT_EQ(set.size(), 2U);
  EXPECT_FALSE(NodeSet().Contains("a"));
  EXPECT_EQ(NodeSet().size(), 0U);
}

TEST(See, TakesTheStrongestSign) {
  PodWish wish;
  EXPECT_EQ(See(MakePod("p", wish)), Sighting{});
  wish.standing.unschedulable = "0/4";
  EXPECT_EQ(See(MakePod("p", wish)), (Sighting{Actual::kUnschedulable, "", "0/4"}));
  wish.standing.nominated_node = "a";
  EXPECT_EQ(See(MakePod("p", wish)), (Sighting{Actual::kNominated, "a", "0/4"}));
  Pod bound = MakePod("p", wish);
  bound.node_name = std::string("b");
  EXPECT_EQ(See(bound), (Sighting{Actual::kBound, "b", ""}));
}

TEST(SeeEvictions, MarkedSinceAndStillStanding) {
  const auto deleted_at = [](seconds after, seconds grace) {
    SchedulingStatus standing;
    standing.preempted_by_scheduler = true;
    standing.deletion_time = kSince + after + grace;
    return standing;
  };
  PodWish ours;
  ours.scheduling.grace_period_seconds = 600;
  ours.standing = deleted_at(seconds(1), seconds(600));
  PodWish older = ours;
  older.standing = deleted_at(seconds(-2), seconds(600));
  PodWish same_second = ours;  // the API keeps whole seconds
  same_second.standing = deleted_at(seconds(-1), seconds(600));
  PodWish marked_only;
  marked_only.standing.preempted_by_scheduler = true;
  PodWish by_default;
  by_default.standing = deleted_at(seconds(-2), seconds(30));
  const ClusterSnapshot snapshot = ClusterBuilder()
                                       .WithNode("a", {})
                                       .WithPod("ours", ours)
                                       .WithPod("older", older)
                                       .WithPod("same-second", same_second)
                                       .WithPod("marked-only", marked_only)
                                       .WithPod("by-default", by_default)
                                       .WithPod("bystander", {})
                                       .Build();
  const Evictions seen = SeeEvictions(snapshot.nodes.rows()[0]->value, kSince);
  EXPECT_EQ(seen.marked, (Strings{"uid-marked-only", "uid-ours", "uid-same-second"}));
  EXPECT_EQ(seen.standing, Strings{"uid-bystander"});
}

TEST(Agrees, WhenWhatWasSaidIsWhatHappened) {
  using enum Actual;
  const std::string text = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.";
  struct Row {
    std::string name;
    Advice advice;
    Sighting sighting;
    Evictions evictions;
    bool agrees;
  };
  const Row rows[] = {
      {"fits, on one of the nodes", FitsOn({0, 2}), {kBound, "c", ""}, {}, true},
      {"fits, on another node", FitsOn({0, 2}), {kBound, "b", ""}, {}, false},
      {"fits, but evicts", FitsOn({0, 2}), {kNominated, "a", ""}, {}, false},
      {"fits, but waits", FitsOn({0, 2}), {kUnschedulable, "", text}, {}, false},
      {"evicts as planned", Evicting(), {kNominated, "b", ""}, {{"u-1", "u-2"}, {"u-9"}}, true},
      {"evicts as planned, and they are gone", Evicting(), {kNominated, "b", ""}, {{}, {"u-9"}}, true},
      {"evicts one less", Evicting(), {kNominated, "b", ""}, {{"u-1"}, {"u-2"}}, false},
      {"evicts one more", Evicting(), {kNominated, "b", ""}, {{"u-1", "u-2", "u-9"}, {}}, false},
      {"evicts on an equal node", Evicting(), {kNominated, "a", ""}, {{"u-3"}, {}}, true},
      {"evicts others there", Evicting(), {kNominated, "a", ""}, {{"u-4"}, {"u-3"}}, false},
      {"an equal node of which no victims are kept", Evicting(), {kNominated, "c", ""}, {{"u-8"}, {}}, true},
      {"evicts elsewhere", Evicting(), {kNominated, "d", ""}, {}, false},
      {"bound before the nomination was seen", Evicting(), {kBound, "b", ""}, {{}, {}}, true},
      {"bound beside its victims", Evicting(), {kBound, "b", ""}, {{}, {"u-1", "u-2"}}, false},
      {"cannot, in the same words", Refusing(text), {kUnschedulable, "", text}, {}, true},
      {"cannot, in other words", Refusing(text), {kUnschedulable, "", text + " "}, {}, false},
      {"cannot, and is bound", Refusing(text), {kBound, "a", ""}, {}, false},
      {"cannot, and evicts", Refusing(text), {kNominated, "a", text}, {}, false},
      {"claims nothing", Said(Feasibility::kUnknown), {kBound, "a", ""}, {}, false},
  };
  for (const Row& row : rows) EXPECT_EQ(Agrees(row.advice, row.sighting, row.evictions), row.agrees) << row.name;
}

TEST(MovedBeside, LooksAtAllThatDecides) {
  const auto cluster = [] {
    ClusterBuilder builder;
    builder.WithNode("a", {.gpus = 4}).WithPod("x", {.gpus = 1}).WithPod("y", {.gpus = 1});
    return builder.WithNode("b", {.gpus = 4});
  };
  const auto nominated = [](const std::string& node) {
    PodWish wish;
    wish.standing.nominated_node = node;
    return wish;
  };
  const ClusterSnapshot before = cluster().Build();
  struct Row {
    std::string name;
    ClusterSnapshot after;
    Strings beside;
    bool moved;
  };
  const Row rows[] = {
      {"nothing", cluster().Build(), {}, false},
      {"the pod itself", cluster().WithPod("p", {}).Build(), {"uid-p"}, false},
      {"another pod", cluster().WithPod("p", {}).Build(), {"uid-q"}, true},
      {"a victim that went",
       ClusterBuilder().WithNode("a", {.gpus = 4}).WithPod("x", {.gpus = 1}).WithNode("b", {.gpus = 4}).Build(),
       {"uid-y"},
       false},
      {"a pod that went",
       ClusterBuilder().WithNode("a", {.gpus = 4}).WithPod("x", {.gpus = 1}).WithNode("b", {.gpus = 4}).Build(),
       {},
       true},
      {"a node", cluster().WithNode("c", {}).Build(), {}, true},
      {"a node's room",
       ClusterBuilder()
           .WithNode("a", {.gpus = 4})
           .WithPod("x", {.gpus = 1})
           .WithPod("y", {.gpus = 1})
           .WithNode("b", {.gpus = 3})
           .Build(),
       {},
       true},
      {"a budget", cluster().WithBudget("keep", {{"app", "x"}}, 1).Build(), {}, true},
      {"another nomination", cluster().Waiting("w", nominated("b")).Build(), {"uid-p"}, true},
      {"its own nomination", cluster().Waiting("w", nominated("b")).Build(), {"uid-w"}, false},
      {"a pod that waits", cluster().Waiting("w", {}).Build(), {}, false},
  };
  for (const Row& row : rows) EXPECT_EQ(MovedBeside(before, row.after, row.beside), row.moved) << row.name;
}

TEST(Describe, SaysBothSidesInALine) {
  EXPECT_EQ(Describe(FitsOn({0, 2})), "FitsNow on one of 2 nodes");
  EXPECT_EQ(Describe(Evicting()), "FitsAfterPreemption on b with 2 victims, or on one of 2 equal nodes");
  EXPECT_EQ(Describe(Refusing("0/4")), "PreemptionCannotHelp: 0/4");
  EXPECT_EQ(Describe(Sighting{Actual::kBound, "a", ""}), "Bound on a");
  EXPECT_EQ(Describe(Sighting{Actual::kUnschedulable, "", "0/4"}), "Unschedulable: 0/4");
  EXPECT_EQ(Describe(Sighting{}), "Nothing");
}

}  // namespace
}  // namespace podium
