#include "feasibility/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace podium {

// How a failed expectation prints: "nvidia.com/gpu=2 (device)".
void PrintTo(const GpuRequest& request, std::ostream* out) {
  *out << request.resource << '=' << request.count << " (" << ToString(request.unit) << ')';
}
void PrintTo(Quantity quantity, std::ostream* out) { *out << FormatQuantity(quantity); }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kGpu[] = "nvidia.com/gpu";

ResourceList Amounts(const std::vector<std::pair<std::string, std::string>>& texts) {
  ResourceList list;
  for (const auto& [name, text] : texts) list[name] = *ParseQuantity(text);
  return list;
}

Container Asking(const std::string& gpus) { return {"c", Amounts({{kGpu, gpus}}), {}, false}; }

Container Sidecar(const std::string& gpus) { return {"s", Amounts({{kGpu, gpus}}), {}, true}; }

struct GpuRow {
  std::string name;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::string gpus;
};

class GpuArithmetic : public testing::TestWithParam<GpuRow> {};

TEST_P(GpuArithmetic, IsTheSchedulers) {
  PodSpec spec;
  spec.containers = GetParam().containers;
  spec.init_containers = GetParam().init_containers;
  EXPECT_EQ(EffectiveRequest(spec), Amounts({{kGpu, GetParam().gpus}}));
}

const GpuRow kGpuRows[] = {
    {"one_container", {Asking("1")}, {}, "1"},
    {"two_containers_are_added", {Asking("1"), Asking("1")}, {}, "2"},
    {"init_container_is_not_added", {Asking("1")}, {Asking("1")}, "1"},
    {"init_containers_run_one_after_the_other", {Asking("1")}, {Asking("1"), Asking("1")}, "1"},
    {"larger_init_container_is_the_peak", {Asking("1")}, {Asking("4")}, "4"},
    {"sidecar_is_added", {Asking("1")}, {Sidecar("1")}, "2"},
    {"sidecar_before_raises_the_init_container", {Asking("1")}, {Sidecar("1"), Asking("2")}, "3"},
    {"sidecar_behind_does_not", {Asking("1")}, {Asking("2"), Sidecar("1")}, "2"},
    {"sidecars_on_both_sides", {Asking("1")}, {Sidecar("1"), Asking("3"), Sidecar("2")}, "4"},
    {"sidecars_alone", {}, {Sidecar("1"), Sidecar("1")}, "2"},
    {"fractions_are_added_exactly", {Asking("500m"), Asking("500m")}, {}, "1"},
    {"zero_is_kept", {Asking("0")}, {}, "0"},
};

INSTANTIATE_TEST_SUITE_P(Rows, GpuArithmetic, testing::ValuesIn(kGpuRows),
                         [](const testing::TestParamInfo<GpuRow>& row) { return row.param.name; });

TEST(EffectiveRequest, EmptyPodAsksForNothing) { EXPECT_THAT(EffectiveRequest({}), IsEmpty()); }

TEST(EffectiveRequest, LimitsFillMissingRequestsPerContainerAndResource) {
  PodSpec spec;
  spec.containers = {
      {"limit-only", {}, Amounts({{kGpu, "1"}, {"cpu", "2"}}), false},
      {"explicit-zero", Amounts({{kGpu, "0"}}), Amounts({{kGpu, "4"}}), false},
      {"one-of-two", Amounts({{"cpu", "1"}}), Amounts({{"cpu", "8"}, {"memory", "1Gi"}}), false},
  };
  EXPECT_EQ(EffectiveRequest(spec), Amounts({{kGpu, "1"}, {"cpu", "3"}, {"memory", "1Gi"}}));
}

TEST(EffectiveRequest, LimitsOfInitContainersAndSidecarsCountToo) {
  PodSpec spec;
  spec.containers = {Asking("1")};
  spec.init_containers = {{"sidecar", {}, Amounts({{kGpu, "1"}}), true}, {"init", {}, Amounts({{kGpu, "3"}}), false}};
  EXPECT_EQ(EffectiveRequest(spec), Amounts({{kGpu, "4"}}));
}

TEST(EffectiveRequest, PodLevelAmountsReplaceWhereKubernetesKnowsThem) {
  PodSpec spec;
  spec.containers = {
      {"c", Amounts({{"cpu", "4"}, {"memory", "8Gi"}, {"hugepages-2Mi", "4Mi"}, {kGpu, "1"}}), {}, false}};
  spec.pod_requests = Amounts({{"cpu", "1"}, {"memory", "16Gi"}, {"hugepages-2Mi", "2Mi"}, {kGpu, "8"}, {"pods", "3"}});
  EXPECT_EQ(EffectiveRequest(spec), Amounts({{"cpu", "1"}, {"memory", "16Gi"}, {"hugepages-2Mi", "2Mi"}, {kGpu, "1"}}));
}

TEST(EffectiveRequest, OverheadIsAddedLast) {
  PodSpec spec;
  spec.containers = {{"c", Amounts({{"cpu", "4"}, {kGpu, "1"}}), {}, false}};
  spec.pod_requests = Amounts({{"cpu", "1"}});
  spec.overhead = Amounts({{"cpu", "250m"}, {"memory", "120Mi"}, {kGpu, "1"}});
  EXPECT_EQ(EffectiveRequest(spec), Amounts({{"cpu", "1250m"}, {"memory", "120Mi"}, {kGpu, "2"}}));
}

// --- against an oracle ----------------------------------------------------------------------------------------------

// What the pod needs of one resource at each moment of its life, read off the definition: first each init container
// beside the sidecars that run already, then all containers and all sidecars.
Quantity PeakOverTime(const PodSpec& spec, const std::string& name) {
  const auto wants = [&name](const Container& container) {
    if (container.requests.contains(name)) return container.requests.at(name);
    return container.limits.contains(name) ? container.limits.at(name) : Quantity();
  };
  std::vector<Quantity> moments;
  for (std::size_t running = 0; running < spec.init_containers.size(); ++running) {
    Quantity now = wants(spec.init_containers[running]);
    for (std::size_t before = 0; before < running; ++before)
      if (spec.init_containers[before].restart_always) now += wants(spec.init_containers[before]);
    moments.push_back(now);
  }
  Quantity last;
  for (const Container& container : spec.containers) last += wants(container);
  for (const Container& container : spec.init_containers)
    if (container.restart_always) last += wants(container);
  moments.push_back(last);
  return *std::max_element(moments.begin(), moments.end());
}

Quantity Oracle(const PodSpec& spec, const std::string& name) {
  const bool pod_level = (name == "cpu" || name == "memory") && spec.pod_requests.contains(name);
  Quantity amount = pod_level ? spec.pod_requests.at(name) : PeakOverTime(spec, name);
  if (spec.overhead.contains(name)) amount += spec.overhead.at(name);
  return amount;
}

const std::vector<std::string> kNames = {"cpu", "memory", kGpu, "nvidia.com/mig-1g.10gb"};

ResourceList AnyAmounts() {
  ResourceList list;
  for (const std::string& name : kNames)
    if (*rc::gen::inRange(0, 2) == 1)
      list[name] = Quantity::FromNano(*rc::gen::inRange<std::int64_t>(0, 5) * 500'000'000);
  return list;
}

std::vector<Container> AnyContainers(int at_most) {
  std::vector<Container> containers(static_cast<std::size_t>(*rc::gen::inRange(0, at_most + 1)));
  for (Container& container : containers) container = {"c", AnyAmounts(), AnyAmounts(), *rc::gen::arbitrary<bool>()};
  return containers;
}

TEST(EffectiveRequest, AgreesWithThePodsLifeMomentByMoment) {
  EXPECT_TRUE(rc::check("same amounts", [] {
    PodSpec spec;
    spec.containers = AnyContainers(3);
    spec.init_containers = AnyContainers(5);
    spec.pod_requests = AnyAmounts();
    spec.overhead = AnyAmounts();
    ResourceList request = EffectiveRequest(spec);
    for (const std::string& name : kNames) RC_ASSERT(request[name] == Oracle(spec, name));
  }));
}

// A pod of many containers with a resource each: quadratic merging would take minutes.
TEST(EffectiveRequest, ManyContainersAndResourcesAreCheap) {
  PodSpec spec;
  for (int i = 0; i < 10'000; ++i)
    spec.init_containers.push_back({"c", Amounts({{"example.com/r" + std::to_string(i), "1"}}), {}, i % 2 == 0});
  EXPECT_EQ(EffectiveRequest(spec).size(), 10'000U);
}

// --- GPUs -----------------------------------------------------------------------------------------------------------

const std::vector<GpuResource> kGpus = {{"nvidia.com/gpu", GpuUnit::kDevice},
                                        {"nvidia.com/mig-*", GpuUnit::kSlice},
                                        {"nvidia.com/gpu.shared", GpuUnit::kShared},
                                        {"amd.com/*", GpuUnit::kDevice},
                                        {"amd.com/gpu-share", GpuUnit::kShared}};

TEST(EffectiveGpuRequest, TakesGpusOnlySortedByResource) {
  PodSpec spec;
  spec.containers = {{"c",
                      Amounts({{"nvidia.com/mig-1g.10gb", "2"},
                               {"nvidia.com/gpu.shared", "3"},
                               {"nvidia.com/gpu", "1"},
                               {"nvidia.com/gpuless", "7"},
                               {"rdma/hca", "1"},
                               {"cpu", "4"}}),
                      {},
                      false}};
  EXPECT_THAT(EffectiveGpuRequest(spec, kGpus), ElementsAre(GpuRequest{"nvidia.com/gpu", GpuUnit::kDevice, 1},
                                                            GpuRequest{"nvidia.com/gpu.shared", GpuUnit::kShared, 3},
                                                            GpuRequest{"nvidia.com/mig-1g.10gb", GpuUnit::kSlice, 2}));
}

TEST(EffectiveGpuRequest, FirstMatchingPatternGivesTheUnit) {
  PodSpec spec;
  spec.containers = {{"c", Amounts({{"amd.com/gpu-share", "1"}}), {}, false}};
  EXPECT_THAT(EffectiveGpuRequest(spec, kGpus), ElementsAre(GpuRequest{"amd.com/gpu-share", GpuUnit::kDevice, 1}));
}

TEST(EffectiveGpuRequest, RoundsTheTotalUpAndLeavesZeroOut) {
  PodSpec spec;
  spec.containers = {{"a", Amounts({{kGpu, "500m"}, {"amd.com/gpu", "0"}}), {}, false},
                     {"b", Amounts({{kGpu, "600m"}}), {}, false}};
  EXPECT_THAT(EffectiveGpuRequest(spec, kGpus), ElementsAre(GpuRequest{kGpu, GpuUnit::kDevice, 2}));
}

TEST(EffectiveGpuRequest, AllSpellingsOfTwoAreTwo) {
  for (const std::string text :
       {"2", "2e0", "2000m", "02", "+2", "2.0", "2.", "0.002k", "1.000000001", "2E0", "1500m"}) {
    PodSpec spec;
    spec.containers = {{"w", {}, Amounts({{kGpu, text}}), false}};
    EXPECT_THAT(EffectiveGpuRequest(spec, kGpus), ElementsAre(GpuRequest{kGpu, GpuUnit::kDevice, 2})) << text;
  }
}

TEST(EffectiveGpuRequest, NothingIsAGpuWithoutPatterns) {
  PodSpec spec;
  spec.containers = {Asking("8")};
  EXPECT_THAT(EffectiveGpuRequest(spec, {}), IsEmpty());
}

TEST(TotalOf, AddsUnitsOfOneKindAndSaturates) {
  const std::vector<GpuRequest> requests = {{"nvidia.com/gpu", GpuUnit::kDevice, 2},
                                            {"amd.com/gpu", GpuUnit::kDevice, 1},
                                            {"nvidia.com/mig-1g.10gb", GpuUnit::kSlice, 4}};
  EXPECT_EQ(TotalOf(requests, GpuUnit::kDevice), 3);
  EXPECT_EQ(TotalOf(requests, GpuUnit::kSlice), 4);
  EXPECT_EQ(TotalOf(requests, GpuUnit::kShared), 0);
  EXPECT_EQ(TotalOf({{"a", GpuUnit::kDevice, INT64_MAX}, {"b", GpuUnit::kDevice, INT64_MAX}}, GpuUnit::kDevice),
            INT64_MAX);
}

}  // namespace
}  // namespace podium
