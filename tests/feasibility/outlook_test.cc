#include "feasibility/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/evaluations.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// The small clusters start their pods some minutes after the epoch.
const TimePoint kNow = TimePoint(hours(1));

const std::vector<GpuResource> kGpus = {{"nvidia.com/gpu", GpuUnit::kDevice},
                                        {"nvidia.com/gpu.shared", GpuUnit::kShared},
                                        {"nvidia.com/mig-*", GpuUnit::kSlice}};

OutlookOptions Options() { return {.now = kNow, .gpus = kGpus}; }

Outlook Look(const ClusterSnapshot& snapshot, const Pod& pod, const OutlookOptions& options = Options()) {
  return LookAhead(Prepare(snapshot, RulesOf(options.evaluate.version)), snapshot, pod, options);
}

Pod Chat(std::int64_t gpus) { return MakePod("chat", {.gpus = gpus, .priority = 1000}); }

ResourceList Units(const std::string& resource, std::int64_t count) { return {{resource, Quantity::FromUnits(count)}}; }

// "low: 1 nvidia.com/gpu, grace 30, ran 3540, loading, breaks"
std::string VictimText(const VictimCost& victim) {
  std::string text = victim.pod->name + ':';
  for (const GpuRequest& gpu : victim.gpus) text += ' ' + std::to_string(gpu.count) + ' ' + gpu.resource + ',';
  text += " grace " + std::to_string(victim.grace.count());
  if (victim.ran_for) text += ", ran " + std::to_string(victim.ran_for->count());
  return text + (victim.loading ? ", loading" : "") + (victim.breaks_budget ? ", breaks" : "");
}

std::vector<std::string> VictimTexts(const PreemptionPlan& plan) {
  std::vector<std::string> texts;
  for (const VictimCost& victim : plan.victims) texts.push_back(VictimText(victim));
  return texts;
}

// --- what a plan costs ----------------------------------------------------------------------------------------------

TEST(Plan, PricesEachVictimAndTheSum) {
  ClusterBuilder cluster;
  Pod loading = MakePod("loading", {.gpus = 2, .start_minute = 50, .scheduling = {.grace_period_seconds = 300}});
  loading.phase = PodPhase::kRunning;
  Pod ready = MakePod("ready", {.gpus = 1, .priority = 10, .start_minute = 30});
  ready.phase = PodPhase::kRunning;
  ready.ready = true;
  cluster.WithNode("a", {.gpus = 4})
      .WithPod(std::move(loading))
      .WithPod(std::move(ready))
      .WithPod("fresh", {.start_minute = 0, .requests = Units("nvidia.com/gpu", 1)});
  const Outlook outlook = Look(cluster.Build(), Chat(4));
  ASSERT_TRUE(outlook.plan);
  EXPECT_EQ(outlook.report.NodeName(outlook.plan->node), "a");
  EXPECT_THAT(VictimTexts(*outlook.plan), ElementsAre("ready: 1 nvidia.com/gpu, grace 30, ran 1800",
                                                      "loading: 2 nvidia.com/gpu, grace 300, ran 600, loading",
                                                      "fresh: 1 nvidia.com/gpu, grace 30"));
  EXPECT_THAT(outlook.plan->freed, ElementsAre(GpuRequest{"nvidia.com/gpu", GpuUnit::kDevice, 4}));
  EXPECT_EQ(outlook.plan->wait_at_most, seconds(300));
  EXPECT_EQ(outlook.plan->lost_gpu_seconds, 1 * 1800 + 2 * 600);
  EXPECT_EQ(outlook.plan->loading_victims, 1u);
  EXPECT_EQ(outlook.plan->budget_violations, 0);
}

TEST(Plan, NoneWithoutEvictions) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_FALSE(Look(snapshot, Chat(1)).plan);
  EXPECT_FALSE(Look(snapshot, Chat(2)).plan);
}

struct GraceCase {
  std::string name;
  std::optional<std::int64_t> wish;
  std::optional<TimePoint> deletion_time;
  seconds grace;
};

TEST(Plan, WaitsForWhatIsLeftOfTheGracePeriod) {
  const std::vector<GraceCase> cases = {
      {"Default", std::nullopt, std::nullopt, seconds(30)},
      {"Own", 120, std::nullopt, seconds(120)},
      {"None", 0, std::nullopt, seconds(0)},
      {"NegativeIsOne", -5, std::nullopt, seconds(1)},
      {"DeletionTimeIsTheEndOfIt", 600, kNow + seconds(7), seconds(7)},
      {"Overdue", 600, kNow - minutes(5), seconds(0)},
      {"OverdueByCenturies", 600, TimePoint::min() + hours(1), seconds(0)},
  };
  for (const GraceCase& row : cases) {
    SCOPED_TRACE(row.name);
    Pod pod = MakePod("low", {.gpus = 1, .scheduling = {.grace_period_seconds = row.wish}});
    pod.standing = SchedulingStatus{.deletion_time = row.deletion_time};
    pod.deleting = row.deletion_time.has_value();
    ClusterBuilder cluster;
    cluster.WithNode("a", {.gpus = 1}).WithPod(std::move(pod));
    const Outlook outlook = Look(cluster.Build(), Chat(1));
    ASSERT_TRUE(outlook.plan);
    EXPECT_EQ(outlook.plan->victims[0].grace, row.grace);
    EXPECT_EQ(outlook.plan->wait_at_most, row.grace);
  }
}

TEST(Plan, NamesTheVictimThatBreaksABudget) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2})
      .WithPod("kept-old", {.gpus = 1, .start_minute = 1, .labels = {{"app", "kept"}}})
      .WithPod("kept-young", {.gpus = 1, .start_minute = 2, .labels = {{"app", "kept"}}});
  cluster.WithBudget("kept", {{"app", "kept"}}, 1);
  const Outlook outlook = Look(cluster.Build(), Chat(2));
  ASSERT_TRUE(outlook.plan);
  EXPECT_THAT(VictimTexts(*outlook.plan), ElementsAre("kept-old: 1 nvidia.com/gpu, grace 30, ran 3540",
                                                      "kept-young: 1 nvidia.com/gpu, grace 30, ran 3480, breaks"));
  EXPECT_EQ(outlook.plan->budget_violations, 1);
}

TEST(Plan, AddsNoSlicesToDevices) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1, .cpus = 4})
      .WithAllocatable("nvidia.com/mig-1g.10gb", 3)
      .WithPod("both", {.gpus = 1, .requests = Units("nvidia.com/mig-1g.10gb", 3)})
      .WithPod("cpu", {.requests = Units("cpu", 4)});
  const Outlook outlook = Look(cluster.Build(), MakePod("chat", {.gpus = 1, .priority = 1000}));
  ASSERT_TRUE(outlook.plan);
  EXPECT_THAT(outlook.plan->freed, ElementsAre(GpuRequest{"nvidia.com/gpu", GpuUnit::kDevice, 1},
                                               GpuRequest{"nvidia.com/mig-1g.10gb", GpuUnit::kSlice, 3}));
  EXPECT_EQ(outlook.plan->lost_gpu_seconds, 3540);
}

TEST(Plan, AbsurdFiguresDoNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = kMost}).WithPod("low", {.gpus = kMost});
  const Outlook outlook = Look(cluster.Build(), Chat(1));
  ASSERT_TRUE(outlook.plan);
  EXPECT_EQ(outlook.plan->lost_gpu_seconds, kMost);
}

TEST(Plan, TellsWhoseNominationIsLost) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  const SchedulingStatus nominated = {.nominated_node = "a"};
  cluster.Waiting("lower", {.gpus = 1, .priority = 500, .standing = nominated});
  cluster.Waiting("elsewhere", {.gpus = 1, .priority = 500, .standing = {.nominated_node = "b"}});
  cluster.Waiting("not-ours", {.priority = 500, .scheduling = {.scheduler_name = "other"}, .standing = nominated});
  const ClusterSnapshot snapshot = cluster.Build();
  const Outlook outlook = Look(snapshot, Chat(1));
  ASSERT_TRUE(outlook.plan);
  ASSERT_EQ(outlook.plan->lost_promise.size(), 1u);
  EXPECT_EQ(outlook.plan->lost_promise[0]->name, "lower");
}

// --- room -----------------------------------------------------------------------------------------------------------

// "a: 2 allocatable, 0 free, 1 freeable"
std::vector<std::string> RoomTexts(const Outlook& outlook) {
  std::vector<std::string> texts;
  for (const NodeRoom& node : outlook.room->nodes)
    texts.push_back(outlook.report.NodeName(node.node) + ": " + std::to_string(node.allocatable) + " allocatable, " +
                    std::to_string(node.free) + " free, " + std::to_string(node.freeable) + " freeable" +
                    (node.usable ? "" : ", unusable"));
  return texts;
}

std::string RoomSums(const Room& room) {
  return std::to_string(room.wanted) + ' ' + room.resource + " wanted, " + std::to_string(room.free) + " free, " +
         std::to_string(room.freeable) + " freeable, " + std::to_string(room.most_on_one_node) + " on one node";
}

TEST(Room, IsCountedNodeByNode) {
  ClusterBuilder cluster;
  for (const char* name : {"a", "b"}) cluster.WithNode(name, {.gpus = 1}).WithPod(name, {.gpus = 1});
  cluster.WithNode("c", {.gpus = 2, .taints = {{"reserved", "", "NoSchedule"}}});
  cluster.WithNode("d", {});
  cluster.WithNode("e", {.gpus = 1}).WithPod("one", {.gpus = 1}).WithPod("too-many", {.gpus = 1, .priority = 2000});
  const Outlook outlook = Look(cluster.Build(), Chat(2));
  EXPECT_EQ(outlook.report.verdict, Feasibility::kPreemptionCannotHelp);
  ASSERT_TRUE(outlook.room);
  EXPECT_THAT(RoomTexts(outlook),
              ElementsAre("a: 1 allocatable, 0 free, 1 freeable", "b: 1 allocatable, 0 free, 1 freeable",
                          "c: 2 allocatable, 2 free, 0 freeable, unusable", "e: 1 allocatable, -1 free, 1 freeable"));
  EXPECT_EQ(RoomSums(*outlook.room), "2 nvidia.com/gpu wanted, 0 free, 3 freeable, 1 on one node");
}

TEST(Room, WhatIsPromisedIsNotFree) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2});
  cluster.Waiting("same", {.gpus = 1, .priority = 1000, .standing = {.nominated_node = "a"}});
  cluster.Waiting("lower", {.gpus = 1, .priority = 10, .standing = {.nominated_node = "a"}});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_THAT(RoomTexts(Look(snapshot, Chat(2))), ElementsAre("a: 2 allocatable, 1 free, 0 freeable"));
}

// The missing neighbour shows only once evictions were tried.
TEST(Room, NodesThatEvictionsDoNotOpenAreUnusable) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("low", {.gpus = 1});
  Pod chat = Chat(1);
  SchedulingSpec scheduling;
  scheduling.pod_affinity.push_back({LabelSelector{{{"app", "gone"}}, {}}, {}, std::nullopt, "kubernetes.io/hostname"});
  chat.scheduling = std::move(scheduling);
  const Outlook outlook = Look(cluster.Build(), chat);
  EXPECT_THAT(RoomTexts(outlook), ElementsAre("a: 1 allocatable, 0 free, 1 freeable, unusable"));
  EXPECT_EQ(RoomSums(*outlook.room), "1 nvidia.com/gpu wanted, 0 free, 0 freeable, 0 on one node");
}

TEST(Room, SlicesAreAResourceOfTheirOwn) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1}).WithPod("slice", {.requests = Units("nvidia.com/mig-1g.10gb", 1)});
  const Outlook outlook = Look(cluster.Build(), Chat(1));
  EXPECT_EQ(RoomSums(*outlook.room), "1 nvidia.com/gpu wanted, 1 free, 0 freeable, 1 on one node");
}

TEST(Room, OfAnUnknownResourceIsEmpty) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const Outlook outlook = Look(cluster.Build(), MakePod("chat", {.requests = Units("nvidia.com/mig-7g.80gb", 1)}));
  EXPECT_EQ(RoomSums(*outlook.room), "1 nvidia.com/mig-7g.80gb wanted, 0 free, 0 freeable, 0 on one node");
  EXPECT_EQ(outlook.room->unit, GpuUnit::kSlice);
  EXPECT_THAT(outlook.room->nodes, IsEmpty());
}

TEST(Room, AbsentWithoutGpusAndWhereNoNodeWasLookedAt) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  EXPECT_FALSE(Look(snapshot, MakePod("web", {})).room);
  EXPECT_FALSE(Look(snapshot, MakePod("gated", {.gpus = 1, .scheduling = {.gates = {"wait"}}})).room);
}

// --- shares ---------------------------------------------------------------------------------------------------------

struct ShareCase {
  std::string name;
  std::string resource;
  Labels labels;
  std::vector<std::string> warnings;
};

TEST(Shares, AnEvictionFreesLessThanADevice) {
  const std::string plain = "nvidia.com/gpu";
  const std::vector<ShareCase> cases = {
      {"Device", plain, {}, {}},
      {"NotShared", plain, {{"nvidia.com/gpu.replicas", "1"}, {"nvidia.com/gpu.sharing-strategy", "none"}}, {}},
      {"Slice",
       "nvidia.com/mig-1g.10gb",
       {},
       {"an eviction frees slices of a device (nvidia.com/mig-1g.10gb), never a whole device"}},
      {"Shared",
       "nvidia.com/gpu.shared",
       {{"nvidia.com/gpu.replicas", "4"}},
       {"an eviction frees shares of a device (nvidia.com/gpu.shared); others go on using the same device"}},
      {"Replicas",
       plain,
       {{"nvidia.com/gpu.replicas", "4"}, {"nvidia.com/gpu.sharing-strategy", "time-slicing"}},
       {"nvidia.com/gpu on a are shares of a device ('4' of each), as its labels say: an eviction frees no whole "
        "device"}},
      {"Strategy",
       plain,
       {{"nvidia.com/gpu.sharing-strategy", "mps"}},
       {"nvidia.com/gpu on a are shares of a device ('mps'), as its labels say: an eviction frees no whole device"}},
      {"SingleStrategySlices",
       plain,
       {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}},
       {"nvidia.com/gpu on a are MIG slices of a device, as its labels say: an eviction frees no whole device"}},
  };
  for (const ShareCase& row : cases) {
    SCOPED_TRACE(row.name);
    ClusterBuilder cluster;
    NodeWish wish;
    wish.labels = row.labels;
    cluster.WithNode("a", wish).WithAllocatable(row.resource, 1).WithPod("low", {.requests = Units(row.resource, 1)});
    const ClusterSnapshot snapshot = cluster.Build();
    const Outlook outlook = Look(snapshot, MakePod("chat", {.priority = 1000, .requests = Units(row.resource, 1)}));
    EXPECT_EQ(outlook.report.verdict, Feasibility::kFitsAfterPreemption);
    EXPECT_EQ(outlook.warnings, row.warnings);
  }
}

TEST(Waiting, ForVictimsThatAreStillGoing) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2});
  for (const int left : {10, 25}) {
    Pod going = MakePod("going-" + std::to_string(left), {.gpus = 1});
    going.standing = SchedulingStatus{.deletion_time = kNow + seconds(left), .preempted_by_scheduler = true};
    going.deleting = true;
    going.node_name = std::string("a");
    cluster.WithPod(std::move(going));
  }
  Pod chat = Chat(2);
  chat.standing = SchedulingStatus{.nominated_node = "a"};
  const Outlook outlook = Look(cluster.Build(), chat);
  EXPECT_EQ(outlook.report.ineligible, Ineligible::kTerminatingVictim);
  EXPECT_THAT(outlook.warnings, ElementsAre("it waits for 2 earlier victims on a, up to 25 s more"));
  EXPECT_THAT(outlook.changes, IsEmpty());
}

TEST(Names, AsDocumented) {
  EXPECT_EQ(ToString(ChangeKind::kFewerGpus), "FewerGpus");
  EXPECT_EQ(ToString(ChangeKind::kOtherLabel), "OtherLabel");
  EXPECT_EQ(ToString(ChangeKind::kToleration), "Toleration");
  EXPECT_EQ(ToString(ChangeKind::kHigherClass), "HigherClass");
  EXPECT_EQ(ToString(ChangeKind::kMayPreempt), "MayPreempt");
  EXPECT_EQ(ToString(ChangeKind::kDrainNode), "DrainNode");
  EXPECT_EQ(ToString(ChangeKind::kLessOfAnother), "LessOfAnother");
  EXPECT_EQ(ToString(ChangeKind::kNodeOfAVictim), "NodeOfAVictim");
  EXPECT_EQ(ToString(Placing::kOneByOne), "OneByOne");
  EXPECT_EQ(ToString(Placing::kAllOrNothing), "AllOrNothing");
  EXPECT_EQ(ToString(Exactness::kExact), "Exact");
  EXPECT_EQ(ToString(Exactness::kBounded), "Bounded");
}

}  // namespace
}  // namespace podium
