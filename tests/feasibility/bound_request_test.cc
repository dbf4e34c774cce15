#include "feasibility/bound_request.h"

#include <gtest/gtest.h>

#include "feasibility/prepared_cluster.h"

namespace podium {

static void PrintTo(Quantity quantity, std::ostream* out) { *out << FormatQuantity(quantity); }

namespace {

ResourceList Cpu(const std::string& amount) { return {{"cpu", *ParseQuantity(amount)}}; }

Container Main(const std::string& cpu) { return {"main", Cpu(cpu), {}, false}; }

PodSpec SpecOf(std::vector<Container> containers, std::vector<Container> init_containers = {}) {
  PodSpec spec;
  spec.containers = std::move(containers);
  spec.init_containers = std::move(init_containers);
  return spec;
}

SchedulingStatus Reports(std::optional<ResourceList> requests, std::optional<ResourceList> allocated) {
  return {.containers = {{"main", {true, std::move(requests), std::move(allocated)}}}};
}

TEST(SpecRequest, TakesTheLargerOfSumAndInitPeakAndAddsOverhead) {
  PodSpec spec = SpecOf({Main("1"), {"b", Cpu("500m"), {}, false}},
                        {{"prep", Cpu("3"), {}, false}, {"proxy", Cpu("1"), {}, true}});
  spec.overhead = Cpu("250m");
  EXPECT_EQ(SpecRequest(spec), Cpu("3250m"));  // a sidecar behind an init container does not raise its peak
}

TEST(SpecRequest, ReadsNoLimits) { EXPECT_EQ(SpecRequest(SpecOf({{"main", {}, Cpu("1"), false}})), ResourceList{}); }

TEST(SpecRequest, PodLevelFiguresReplaceEvenLargerOnes) {
  PodSpec spec = SpecOf({Main("4")});
  spec.pod_requests = Cpu("2");
  EXPECT_EQ(SpecRequest(spec), Cpu("2"));
}

struct ResizeCase {
  std::string name;
  PodSpec spec;
  SchedulingStatus status;
  std::string until136;
  std::string since137;
};

TEST(HeldRequest, CountsWhatTheKubeletReports) {
  SchedulingStatus infeasible = Reports(Cpu("2"), Cpu("2"));
  infeasible.resize_infeasible = true;
  const PodSpec two = SpecOf({Main("1"), {"b", Cpu("4"), {}, false}});
  SchedulingStatus mixed = Reports(Cpu("3"), Cpu("3"));
  mixed.containers.push_back({"b", {true, Cpu("1"), Cpu("1")}});
  const std::vector<ResizeCase> rows = {
      {"GrowingReportedLess", SpecOf({Main("4")}), Reports(Cpu("2"), Cpu("2")), "4", "4"},
      {"ShrinkingReportedMore", SpecOf({Main("1")}), Reports(Cpu("2"), Cpu("2")), "2", "2"},
      {"Infeasible", SpecOf({Main("4")}), infeasible, "2", "2"},
      {"InfeasibleNothingReported", SpecOf({Main("4")}), {.resize_infeasible = true}, "4", "0"},
      {"OneGrowsOneShrinks", two, mixed, "7", "5"},
  };
  for (const ResizeCase& row : rows) {
    const auto held = [&](ResizeRule rule) {
      ResourceList amounts = HeldRequest(row.spec, row.status, rule);
      return amounts["cpu"];
    };
    EXPECT_EQ(held(ResizeRule::kByContainerAndPodTotal), Cpu(row.until136)["cpu"]) << row.name;
    EXPECT_EQ(held(ResizeRule::kByTotals), Cpu(row.since137)["cpu"]) << row.name;
  }
}

TEST(RequestTable, RoundsOnceAndLeavesOutWhatDoesNotCount) {
  RequestTable table;
  const ResourceList requests = {{"cpu", *ParseQuantity("100u")},
                                 {"gpus", *ParseQuantity("1")},
                                 {"hugepages-2Mi", *ParseQuantity("2Mi")},
                                 {"memory", *ParseQuantity("1.5")},
                                 {"nvidia.com/gpu", *ParseQuantity("500m")},
                                 {"requests.nvidia.com/gpu", *ParseQuantity("1")}};
  EXPECT_EQ(table.AmountsOf(requests), (std::vector<Amount>{{0, 1}, {1, 2097152}, {2, 2}, {3, 1}}));
  EXPECT_EQ(table.resources, (std::vector<std::string>{"cpu", "hugepages-2Mi", "memory", "nvidia.com/gpu"}));
}

TEST(SchedulerVersions, AreReadFromWhatAnApiServerSays) {
  EXPECT_EQ(*ParseSchedulerVersion("v1.36.3"), (SchedulerVersion{1, 36}));
  EXPECT_EQ(*ParseSchedulerVersion("1.37+"), (SchedulerVersion{1, 37}));
  EXPECT_EQ(ParseSchedulerVersion("newest").error().message,
            "found 'newest'; a version of Kubernetes is written as in 1.36");
  EXPECT_EQ(RulesOf({1, 20}).version, (SchedulerVersion{1, 34}));
  EXPECT_EQ(RulesOf({2, 0}).version, (SchedulerVersion{1, 37}));
}

}  // namespace
}  // namespace podium
