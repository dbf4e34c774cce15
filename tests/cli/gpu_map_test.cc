#include "cli/gpu_map.h"

#include <gtest/gtest.h>

#include "builders/clusters.h"
#include "cli/outlook_text.h"

namespace podium {
namespace {

Pod OfClass(const std::string& name, const std::string& class_name, std::int64_t priority, std::int64_t gpus) {
  Pod pod = MakePod(name, {.gpus = gpus, .priority = priority});
  PodSpec spec = *pod.spec;
  if (!class_name.empty()) spec.trio.class_name = class_name;
  pod.spec = spec;
  return pod;
}

// `rooms` stands for what the evaluator counted.
Outlook Drawn(const ClusterSnapshot& cluster, std::int64_t wanted, std::vector<NodeRoom> rooms) {
  Outlook outlook;
  outlook.report.nodes = cluster.nodes;
  outlook.room = Room{"nvidia.com/gpu", GpuUnit::kDevice, wanted, std::move(rooms), 0, 0, 0};
  return outlook;
}

PreemptionPlan Evicting(const Pod* victim, std::uint32_t node) {
  PreemptionPlan plan;
  plan.node = node;
  plan.victims.emplace_back().pod = victim;
  return plan;
}

const Pod* PodOn(const ClusterSnapshot& cluster, std::size_t node, std::size_t pod) {
  return cluster.nodes.rows()[node]->value.pods[pod].get();
}

TEST(GpuMap, DrawsVictimsFirstAndGivesEachClassALetter) {
  ClusterBuilder builder;
  builder.WithNode("gpu-a", {.gpus = 4}).WithNode("gpu-b", {.gpus = 8});
  builder.WithPod(OfClass("serving/a", "interactive", 1000, 1));
  builder.WithPod(OfClass("nlp/b", "inference-batch", 10, 2));
  builder.WithPod(OfClass("nlp/c", "inference-batch", 10, 1));
  builder.WithPod(OfClass("nlp/d", "", 0, 1));
  const ClusterSnapshot cluster = builder.Build();
  Outlook outlook = Drawn(cluster, 3, {{0, 4, 4, 0, true}, {1, 8, 3, 4, true}});
  outlook.report.candidates = {{1, {PodOn(cluster, 1, 1)}, 0}};
  outlook.report.chosen = {0};
  outlook.plan = Evicting(PodOn(cluster, 1, 1), 1);
  EXPECT_EQ(GpuMap(outlook, {.style = {.width = 80}}),
            "> gpu-b  I*I*N I - . . .  8 allocatable, 3 free, 4 freeable\n"
            "  gpu-a  . . . .          4 allocatable, 4 free, 0 freeable\n"
            "  (I inference-batch, N interactive, - no class, . free, * to be evicted, >\n"
            "  where it may go)\n");
}

TEST(GpuMap, CountsWhatIsTooMuchToDraw) {
  ClusterBuilder builder;
  builder.WithNode("gpu-a", {.gpus = 40});
  builder.WithPod(OfClass("nlp/b", "batch", 10, 12)).WithPod(OfClass("nlp/c", "batch", 10, 8));
  const ClusterSnapshot cluster = builder.Build();
  Outlook outlook = Drawn(cluster, 24, {{0, 40, 20, 20, true}});
  outlook.plan = Evicting(PodOn(cluster, 0, 0), 0);
  EXPECT_EQ(GpuMap(outlook, {.style = {.width = 80}}),
            "> gpu-a  12B*8B 20.   40 allocatable, 20 free, 20 freeable\n"
            "  (B batch, . free, * to be evicted, > where it may go)\n");
}

TEST(GpuMap, ShowsTheNodesThatMatterAndCountsTheRest) {
  ClusterBuilder builder;
  std::vector<NodeRoom> rooms;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    builder.WithNode("n" + std::to_string(10'000 + i), {.gpus = 1});
    rooms.push_back({i, 1, i == 4000 ? 1 : 0, 0, i != 0});
  }
  const ClusterSnapshot cluster = builder.Build();
  Outlook outlook = Drawn(cluster, 2, rooms);
  outlook.report.statuses = {{StatusCode::kUnresolvable, "NodeUnschedulable", {"node(s) were unschedulable"}}};
  outlook.report.refused = {{0, 0}};
  EXPECT_EQ(GpuMap(outlook, {.style = {.width = 80}, .most_nodes = 2}),
            "  n14000  .   1 allocatable, 1 free, 0 freeable: 2 wanted\n"
            "  n10001      1 allocatable, 0 free, 0 freeable: 2 wanted\n"
            "  ... and 4,998 more nodes\n"
            "  (. free)\n");
  outlook.room->nodes = {{0, 1, 1, 0, false}};
  EXPECT_EQ(GpuMap(outlook, {.style = {.width = 80}}),
            "  n10000  .   1 allocatable, 1 free; no use: node(s) were unschedulable\n"
            "  (. free)\n");
}

TEST(GpuMap, LongNamesGetALineOfTheirOwn) {
  ClusterBuilder builder;
  builder.WithNode("gke-cluster-research-a2-highgpu-pool-1f4b9c22-x9z8", {.gpus = 2});
  const ClusterSnapshot cluster = builder.Build();
  EXPECT_EQ(GpuMap(Drawn(cluster, 4, {{0, 2, 2, 0, true}}), {.style = {.width = 80}}),
            "  gke-cluster-research-a2-highgpu-pool-1f4b9c22-x9z8  . .\n"
            "      2 allocatable, 2 free, 0 freeable: 4 wanted\n"
            "  (. free)\n");
}

TEST(GpuMap, ColoursAreOnlyAdded) {
  ClusterBuilder builder;
  builder.WithNode("gpu-a", {.gpus = 1});
  builder.WithPod(OfClass("nlp/b", "batch", 10, 1));
  const ClusterSnapshot cluster = builder.Build();
  const Outlook outlook = Drawn(cluster, 1, {{0, 1, 0, 1, true}});
  EXPECT_EQ(GpuMap(outlook, {.style = {.color = true, .width = 80}}),
            "  gpu-a  \x1b[36mB \x1b[0m  1 allocatable, 0 free, 1 freeable\n"
            "  (B batch, . free)\n");
  EXPECT_EQ(GpuMap(Outlook{}, {}), "");
}

TEST(DurationText, HasAtMostTwoUnits) {
  const struct {
    std::int64_t seconds;
    const char* text;
  } rows[] = {{-5, "0s"},         {0, "0s"},        {59, "59s"},        {60, "1m"},
              {312, "5m12s"},     {3600, "1h"},     {11'520, "3h12m"},  {86'400, "1d"},
              {1'000'000, "11d13h"}};
  for (const auto& row : rows) EXPECT_EQ(DurationText(std::chrono::seconds(row.seconds)), row.text);
}

TEST(Counted, PutsCommasIntoLongNumbers) {
  EXPECT_EQ(Counted(1, "node"), "1 node");
  EXPECT_EQ(Counted(999, "node"), "999 nodes");
  EXPECT_EQ(Counted(4980, "node"), "4,980 nodes");
  EXPECT_EQ(Counted(1'234'567, "node"), "1,234,567 nodes");
}

}  // namespace
}  // namespace podium
