#include "wire/feasibility_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "builders/clusters.h"

namespace podium {
namespace {

using Json = nlohmann::json;

// Two nodes; on the second stands what would be evicted.
ClusterSnapshot Cluster() {
  ClusterBuilder builder;
  builder.WithNode("gpu-a", {.gpus = 1}).WithNode("gpu-b", {.gpus = 2});
  builder.WithPod("nlp/embed-1", {.gpus = 2, .priority = 1000});
  return builder.Build();
}

const Pod* Victim(const ClusterSnapshot& cluster) { return cluster.nodes.rows()[1]->value.pods[0].get(); }

// Whatever a report can hold, once.
Outlook FullOutlook(const ClusterSnapshot& cluster) {
  Outlook outlook;
  FeasibilityReport& report = outlook.report;
  report.verdict = Feasibility::kFitsAfterPreemption;
  report.rules = "1.36";
  report.nodes = cluster.nodes;
  report.statuses = {{StatusCode::kUnresolvable, "NodeAffinity", {"node(s) didn't match"}},
                     {StatusCode::kUnschedulable, "NodeResourcesFit", {"Insufficient nvidia.com/gpu"}}};
  report.refused = {{0, 0}, {1, 1}};
  report.dry_run = {{0, 1}};
  report.candidates = {{1, {Victim(cluster)}, 1}};
  report.chosen = {0};
  report.message = "0/2 nodes are available";
  report.caveats = {{CaveatKind::kSampling, "a part"}};
  PreemptionPlan plan;
  plan.node = 1;
  plan.victims = {{.pod = Victim(cluster),
                   .gpus = {{"nvidia.com/gpu", GpuUnit::kDevice, 2}},
                   .grace = std::chrono::seconds(30),
                   .ran_for = std::chrono::seconds(90),
                   .loading = true,
                   .breaks_budget = true}};
  plan.budget_violations = 1;
  plan.freed = {{"nvidia.com/gpu", GpuUnit::kDevice, 2}};
  plan.wait_at_most = std::chrono::seconds(30);
  plan.lost_gpu_seconds = 180;
  plan.loading_victims = 1;
  plan.lost_promise = {Victim(cluster)};
  outlook.plan = plan;
  outlook.room = Room{"nvidia.com/gpu", GpuUnit::kDevice, 2, {{1, 2, 0, 2, true}}, 0, 2, 2};
  outlook.changes = {{ChangeKind::kFewerGpus, "ask for 1", Feasibility::kFitsNow, "gpu-a", 0}};
  outlook.warnings = {"a share"};
  return outlook;
}

TEST(WriteOutlook, WritesEverythingThereIs) {
  const ClusterSnapshot cluster = Cluster();
  const Json victim_name = {{"namespace", "nlp"}, {"name", "embed-1"}};
  const Json gpus = Json::array({{{"resource", "nvidia.com/gpu"}, {"unit", "device"}, {"count", 2}}});
  Json victim = victim_name;
  victim.update({{"priority", 1000},
                 {"priorityClassName", ""},
                 {"gpus", gpus},
                 {"graceSeconds", 30},
                 {"ranSeconds", 90},
                 {"loading", true},
                 {"breaksBudget", true}});
  const Json affinity = {{"node", "gpu-a"},
                         {"code", "UnschedulableAndUnresolvable"},
                         {"plugin", "NodeAffinity"},
                         {"reasons", Json::array({"node(s) didn't match"})}};
  const auto insufficient = [](const char* node) {
    return Json{{"node", node},
                {"code", "Unschedulable"},
                {"plugin", "NodeResourcesFit"},
                {"reasons", Json::array({"Insufficient nvidia.com/gpu"})}};
  };
  const Json nodes = {{"fit", Json::array()},
                      {"refused", Json::array({affinity, insufficient("gpu-b")})},
                      {"dryRun", Json::array({insufficient("gpu-a")})}};
  const Json plan = {{"node", "gpu-b"},         {"victims", Json::array({victim})},
                     {"budgetViolations", 1},   {"freed", gpus},
                     {"waitAtMostSeconds", 30}, {"lostGpuSeconds", 180},
                     {"loadingVictims", 1},     {"lostPromise", Json::array({victim_name})}};
  const Json room_node = {{"node", "gpu-b"}, {"allocatable", 2}, {"free", 0}, {"freeable", 2}, {"usable", true}};
  const Json room = {{"resource", "nvidia.com/gpu"},
                     {"unit", "device"},
                     {"wanted", 2},
                     {"free", 0},
                     {"freeable", 2},
                     {"mostOnOneNode", 2},
                     {"nodes", Json::array({room_node})}};
  const Json want = {
      {"apiVersion", "podium.gpu/v1"},
      {"kind", "FeasibilityReport"},
      {"pod", {{"namespace", "chat"}, {"name", "web"}}},
      {"verdict", "FitsAfterPreemption"},
      {"schedulerVersion", "1.36"},
      {"message", "0/2 nodes are available"},
      {"nodes", nodes},
      {"plan", plan},
      {"candidates",
       Json::array({{{"node", "gpu-b"}, {"victims", Json::array({victim_name})}, {"budgetViolations", 1}}})},
      {"chosen", Json::array({"gpu-b"})},
      {"room", room},
      {"changes", Json::array({{{"kind", "FewerGpus"},
                                {"text", "ask for 1"},
                                {"leadsTo", "FitsNow"},
                                {"node", "gpu-a"},
                                {"victims", 0}}})},
      {"caveats", Json::array({{{"kind", "Sampling"}, {"text", "a part"}}})},
      {"warnings", Json::array({"a share"})}};
  EXPECT_EQ(Json::parse(OutlookJson(FullOutlook(cluster), MakePod("chat/web", {}))), want);
}

TEST(WriteOutlook, LeavesOutWhatThereIsNot) {
  Outlook outlook;
  outlook.report.ineligible = Ineligible::kGated;
  outlook.report.nodes = Cluster().nodes;
  outlook.report.fit_nodes = {0};
  outlook.report.bind_node = 0;
  const Json json = Json::parse(OutlookJson(outlook, MakePod("web", {})));
  EXPECT_EQ(json["verdict"], "Unknown");
  EXPECT_EQ(json["ineligible"], "Gated");
  EXPECT_EQ(json["nodes"],
            (Json{{"fit", {"gpu-a"}}, {"bindNode", "gpu-a"}, {"refused", Json::array()}, {"dryRun", Json::array()}}));
  EXPECT_FALSE(json.contains("plan"));
  EXPECT_FALSE(json.contains("room"));
}

TEST(WriteWorkload, WritesStepsAndWhatBecomesOfTheVictims) {
  const ClusterSnapshot cluster = Cluster();
  WorkloadReport report;
  report.placing = Placing::kAllOrNothing;
  report.wanted = 3;
  report.fit_now = 1;
  report.fit_after = 1;
  report.exactness = Exactness::kBounded;
  report.exactness_reason = "scores decide";
  report.steps = {{Feasibility::kFitsNow, 0, {}}, {Feasibility::kFitsAfterPreemption, 1, {Victim(cluster)}}};
  report.stopped_by = FeasibilityReport{};
  report.stopped_by->verdict = Feasibility::kShapeNeverFits;
  report.stopped_by->message = "no";
  report.displaced = {{Victim(cluster), Feasibility::kFitsNow, 0, 0}, {Victim(cluster), Feasibility::kUnknown, {}, 2}};
  report.homeless = 1;
  std::string text;
  JsonWriter writer(text);
  WriteWorkload(writer, report, cluster.nodes);
  const Json victim = {{"namespace", "nlp"}, {"name", "embed-1"}};
  const Json first = {{"verdict", "FitsNow"}, {"node", "gpu-a"}, {"victims", Json::array()}};
  const Json second = {{"verdict", "FitsAfterPreemption"}, {"node", "gpu-b"}, {"victims", Json::array({victim})}};
  Json moved = victim;
  moved.update({{"verdict", "FitsNow"}, {"node", "gpu-a"}, {"victims", 0}});
  Json homeless = victim;
  homeless.update({{"verdict", "Unknown"}, {"victims", 2}});
  const Json json = Json::parse(text);
  EXPECT_EQ(json["stoppedBy"]["verdict"], "ShapeNeverFits");
  EXPECT_EQ(json["stoppedBy"]["message"], "no");
  Json rest = json;
  rest.erase("stoppedBy");
  EXPECT_EQ(rest, (Json{{"placing", "AllOrNothing"},
                        {"wanted", 3},
                        {"fitNow", 1},
                        {"fitAfter", 1},
                        {"feasible", false},
                        {"exactness", "Bounded"},
                        {"exactnessReason", "scores decide"},
                        {"steps", Json::array({first, second})},
                        {"displaced", Json::array({moved, homeless})},
                        {"homeless", 1}}));
}

TEST(WriteGpuStock, WritesEachPool) {
  GpuStock stock;
  stock.pool = "h100";
  stock.resource = "nvidia.com/gpu";
  stock.nodes = 3;
  stock.capacity = 6;
  stock.free = 2;
  stock.on_unusable_nodes = 1;
  stock.held = {{"", 1}, {"batch", 3}};
  stock.preemptible = {{"interactive", 4}};
  stock.free_per_node = {{0, 1}, {1, 2}};
  stock.largest_free = 1;
  std::string text;
  JsonWriter writer(text);
  WriteGpuStock(writer, {stock});
  const Json want = {{"pool", "h100"},
                     {"resource", "nvidia.com/gpu"},
                     {"unit", "device"},
                     {"nodes", 3},
                     {"capacity", 6},
                     {"free", 2},
                     {"onUnusableNodes", 1},
                     {"held", {{"", 1}, {"batch", 3}}},
                     {"preemptible", {{"interactive", 4}}},
                     {"freePerNode", {{{"free", 0}, {"nodes", 1}}, {{"free", 1}, {"nodes", 2}}}},
                     {"largestFree", 1}};
  EXPECT_EQ(Json::parse(text), Json::array({want}));
}

}  // namespace
}  // namespace podium
