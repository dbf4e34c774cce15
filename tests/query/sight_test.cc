#include "query/sight.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "builders/clusters.h"
#include "fakes/access_reviewer.h"
#include "feasibility/outlook.h"
#include "wire/json.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Caller kAlice{"alice", "", {}, {}};

// --- whom a caller may see ------------------------------------------------------------------------------------------

TEST(Sight, WhoMayListAllPodsIsAskedOnce) {
  fakes::MemoryReviewer reviewer;
  reviewer.Allow("alice", "list", "");
  const auto sight = LookUpSight(reviewer, kAlice, {"a", "b"}, {32});
  ASSERT_TRUE(sight);
  EXPECT_TRUE(sight->Sees("whatever"));
  EXPECT_THAT(reviewer.Asked(), ElementsAre("alice list pods "));
}

TEST(Sight, OthersAreAskedForEachNamespace) {
  fakes::MemoryReviewer reviewer;
  reviewer.Allow("alice", "list", "b");
  const auto sight = LookUpSight(reviewer, kAlice, {"a", "b", "c"}, {32});
  ASSERT_TRUE(sight);
  EXPECT_FALSE(sight->Sees("a"));
  EXPECT_TRUE(sight->Sees("b"));
  EXPECT_FALSE(sight->Sees("c"));
  EXPECT_FALSE(sight->Sees(""));
  EXPECT_THAT(reviewer.Asked(),
              ElementsAre("alice list pods ", "alice list pods a", "alice list pods b", "alice list pods c"));
}

TEST(Sight, BeyondTheBoundNobodySeesAnything) {
  fakes::MemoryReviewer reviewer;
  for (const char* name : {"a", "b", "c"}) reviewer.Allow("alice", "list", name);
  const auto sight = LookUpSight(reviewer, kAlice, {"a", "b", "c"}, {2});
  ASSERT_TRUE(sight);
  EXPECT_TRUE(sight->Sees("b"));
  EXPECT_FALSE(sight->Sees("c"));
}

TEST(Sight, NobodyIsAskedForNothing) {
  fakes::MemoryReviewer reviewer;
  EXPECT_TRUE(LookUpSight(reviewer, kAlice, {}, {32}));
  EXPECT_THAT(reviewer.Asked(), IsEmpty());
}

TEST(Sight, WhatComesTooLateStaysUnseen) {
  fakes::MemoryReviewer reviewer;
  reviewer.Allow("alice", "list", "a");
  const auto sight = LookUpSight(reviewer, kAlice, {"a", "b"}, {12, [] { return true; }});
  ASSERT_TRUE(sight);
  EXPECT_FALSE(sight->Sees("a"));
}

TEST(Sight, AFailureIsNoSight) {
  fakes::MemoryReviewer reviewer;
  reviewer.FailWith(Error{ErrorKind::kTimeout, "slow"});
  EXPECT_EQ(LookUpSight(reviewer, kAlice, {"a"}, {32}).error(), (Error{ErrorKind::kTimeout, "slow"}));
}

// --- a report without them ------------------------------------------------------------------------------------------

Pod Victim(const std::string& name, std::int64_t priority) {
  Pod pod = MakePod(name, {.gpus = 1, .priority = priority, .labels = {{"secret-label", "x"}}});
  PodSpec spec = *pod.spec;
  spec.trio.class_name = "batch";
  pod.spec = std::move(spec);
  pod.phase = PodPhase::kRunning;
  return pod;
}

// Two full nodes of two tenants, and a pod of the tenant "mine" that evicts.
ClusterSnapshot TwoTenants() {
  ClusterBuilder cluster;
  Pod on_a = Victim("theirs/embed-1", 10);
  on_a.node_name = std::string("a");
  Pod on_b = Victim("mine/tune-1", 20);
  on_b.node_name = std::string("b");
  cluster.WithNode("a", {.gpus = 1}).WithPod(std::move(on_a));
  cluster.WithNode("b", {.gpus = 1}).WithPod(std::move(on_b));
  return cluster.Build();
}

Outlook LookAt(const ClusterSnapshot& snapshot) {
  OutlookOptions options;
  options.now = TimePoint(std::chrono::hours(1));
  options.gpus = {{"nvidia.com/gpu", GpuUnit::kDevice}};
  const PreparedCluster prepared = Prepare(snapshot, RulesOf(options.evaluate.version));
  return LookAhead(prepared, snapshot, MakePod("mine/chat", {.gpus = 1, .priority = 1000}), options);
}

std::string NameOf(const Pod* pod) { return *pod->namespace_name + "/" + pod->name; }

TEST(Redaction, HidesNamesAndKeepsWhatItCosts) {
  const ClusterSnapshot snapshot = TwoTenants();
  const Outlook outlook = LookAt(snapshot);
  ASSERT_TRUE(outlook.plan);
  EXPECT_EQ(NamespacesIn(outlook), (std::set<std::string>{"mine", "theirs"}));
  const SeenOutlook seen = SeenBy({false, {"mine"}}, outlook);
  ASSERT_EQ(seen.outlook.plan->victims.size(), 1U);
  const VictimCost& victim = seen.outlook.plan->victims[0];
  EXPECT_EQ(NameOf(victim.pod), "(hidden)/(hidden)");
  EXPECT_EQ(victim.pod->spec->trio, outlook.plan->victims[0].pod->spec->trio);
  EXPECT_EQ(victim.gpus, outlook.plan->victims[0].gpus);
  EXPECT_EQ(victim.ran_for, outlook.plan->victims[0].ran_for);
  EXPECT_EQ(*victim.pod->labels, Labels());
  EXPECT_EQ(victim.pod->uid, "");
  std::vector<std::string> candidates;
  for (const Candidate& candidate : seen.outlook.report.candidates) candidates.push_back(NameOf(candidate.victims[0]));
  EXPECT_THAT(candidates, ElementsAre("(hidden)/(hidden)", "mine/tune-1"));
  EXPECT_EQ(seen.outlook.report.verdict, outlook.report.verdict);
  EXPECT_EQ(seen.outlook.report.chosen, outlook.report.chosen);
}

TEST(Redaction, WhoSeesEverythingSeesTheSameReport) {
  const ClusterSnapshot snapshot = TwoTenants();
  const Outlook outlook = LookAt(snapshot);
  const SeenOutlook seen = SeenBy({true, {}}, outlook);
  EXPECT_EQ(seen.outlook.report.candidates, outlook.report.candidates);
  EXPECT_THAT(seen.stand_ins, IsEmpty());
}

// Every place of a report that can name a pod, made by hand: each has another hidden pod.
struct Names {
  std::vector<std::shared_ptr<const Pod>> pods;
  const Pod* Make(const std::string& name) {
    pods.push_back(std::make_shared<const Pod>(Victim(name, 1)));
    return pods.back().get();
  }
};

TEST(Redaction, ReachesEveryPartOfAnOutlook) {
  Names names;
  Outlook outlook;
  outlook.report.candidates = {{0, {names.Make("tenant-a/cand-1"), names.Make("tenant-b/cand-2")}, 0}};
  outlook.report.message = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.";
  PreemptionPlan plan;
  plan.victims.resize(1);
  plan.victims[0].pod = names.Make("tenant-c/victim-1");
  plan.lost_promise = {names.Make("tenant-d/promised-1")};
  outlook.plan = plan;
  outlook.changes.resize(1);
  outlook.changes[0].text = "move away from a (tenant-c/victim-1, tenant-c/victim-10)";
  outlook.changes[0].named = {plan.victims[0].pod, names.Make("tenant-c/victim-10")};
  EXPECT_EQ(NamespacesIn(outlook), (std::set<std::string>{"tenant-a", "tenant-b", "tenant-c", "tenant-d"}));

  const SeenOutlook seen = SeenBy({}, outlook);
  const Outlook& now = seen.outlook;
  EXPECT_EQ(NamespacesIn(now), (std::set<std::string>{"(hidden)"}));
  EXPECT_EQ(now.report.message, outlook.report.message);
  EXPECT_EQ(NameOf(now.plan->victims[0].pod), "(hidden)/(hidden)");
  EXPECT_EQ(NameOf(now.plan->lost_promise[0]), "(hidden)/(hidden)");
  EXPECT_EQ(now.changes[0].text, "move away from a ((hidden)/(hidden), (hidden)/(hidden))");
}

// What the search for changes really writes: it names pods of any priority that stand on a node.
TEST(Redaction, ReachesThePodsThatAChangeWouldMove) {
  ClusterBuilder cluster;
  Pod high = Victim("theirs/serve-1", 5'000);
  high.node_name = std::string("a");
  cluster.WithNode("a", {.gpus = 1}).WithPod(std::move(high));
  cluster.WithNode("b", {.gpus = 0});
  const ClusterSnapshot snapshot = cluster.Build();
  const Outlook outlook = LookAt(snapshot);
  const auto drain = std::find_if(outlook.changes.begin(), outlook.changes.end(),
                                  [](const Change& change) { return change.kind == ChangeKind::kDrainNode; });
  ASSERT_NE(drain, outlook.changes.end());
  ASSERT_THAT(drain->text, HasSubstr("theirs/serve-1"));
  EXPECT_EQ(NamespacesIn(outlook), (std::set<std::string>{"theirs"}));
  for (const Change& change : SeenBy({false, {"mine"}}, outlook).outlook.changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("serve-1")));
    EXPECT_THAT(change.text, Not(HasSubstr("theirs")));
  }
  EXPECT_EQ(SeenBy({false, {"theirs"}}, outlook).outlook.changes.size(), outlook.changes.size());
}

// The pods of a change may stand on another node than the one where the pod then fits.
TEST(Redaction, ReachesThePodsOfAnotherNode) {
  Names names;
  Outlook outlook;
  outlook.changes.resize(1);
  outlook.changes[0].node = "a";
  outlook.changes[0].text = "move 1 pod away from b (theirs/takeover-0): it fits elsewhere";
  outlook.changes[0].named = {names.Make("theirs/takeover-0")};
  EXPECT_EQ(SeenBy({false, {"mine"}}, outlook).outlook.changes[0].text,
            "move 1 pod away from b ((hidden)/(hidden)): it fits elsewhere");
}

// Holes in fixed wording, or in what the caller wrote, would tell the names.
TEST(Redaction, LeavesOtherWordsAlone) {
  Names names;
  Outlook outlook;
  outlook.report.candidates = {{0, {names.Make("4/nodes")}, 0}};
  outlook.report.message = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.";
  outlook.changes.resize(1);
  outlook.changes[0].text = "drop the node selector guess=nodes";
  EXPECT_EQ(SeenBy({}, outlook).outlook.report.message, outlook.report.message);
  EXPECT_EQ(SeenBy({}, outlook).outlook.changes[0].text, outlook.changes[0].text);
}

TEST(Redaction, ReachesEveryPartOfAWorkload) {
  Names names;
  WorkloadReport report;
  report.steps = {{Feasibility::kFitsAfterPreemption, 0, {names.Make("tenant-a/step-1")}}};
  Displaced displaced;
  displaced.pod = names.Make("tenant-b/away-1");
  report.displaced = {displaced};
  report.stopped_by = FeasibilityReport();
  report.stopped_by->candidates = {{0, {names.Make("tenant-c/stop-1")}, 0}};
  EXPECT_EQ(NamespacesIn(report), (std::set<std::string>{"tenant-a", "tenant-b", "tenant-c"}));

  const SeenWorkload seen = SeenBy({false, {"tenant-b"}}, report);
  EXPECT_EQ(NamespacesIn(seen.report), (std::set<std::string>{"(hidden)", "tenant-b"}));
  EXPECT_EQ(NameOf(seen.report.steps[0].victims[0]), "(hidden)/(hidden)");
  EXPECT_EQ(NameOf(seen.report.displaced[0].pod), "tenant-b/away-1");
  EXPECT_EQ(NameOf(seen.report.stopped_by->candidates[0].victims[0]), "(hidden)/(hidden)");
}

}  // namespace
}  // namespace podium
