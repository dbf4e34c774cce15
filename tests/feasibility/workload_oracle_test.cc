// Workloads against every course that the evaluator's own steps allow, each on a cluster that was prepared afresh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "feasibility/toy_world.h"
#include "feasibility/workload.h"

namespace podium {
namespace {

// {placed without evictions, placed by evictions}
using Numbers = std::pair<std::int64_t, std::int64_t>;

class AllCourses {
 public:
  AllCourses(const EvaluateOptions& options, std::int64_t replicas) : options_(options), replicas_(replicas) {}

  std::set<Numbers> Follow(const ToyWorld& world) {
    Step(world, {0, 0});
    return ends_;
  }

 private:
  void Step(const ToyWorld& world, Numbers numbers) {
    if (!seen_.insert({Key(world), numbers}).second) return;
    const std::int64_t placed = numbers.first + numbers.second;
    if (placed == replicas_) {
      ends_.insert(numbers);
      return;
    }
    const ClusterSnapshot snapshot = BuildSnapshot(world);
    ToyPod replica = world.incoming;
    replica.nominated = -1;
    const FeasibilityReport report = Evaluate(snapshot, BuildPod(world, replica), options_);
    for (const std::uint32_t node : report.fit_nodes)
      Step(With(world, node, placed), {numbers.first + 1, numbers.second});
    for (const std::uint32_t chosen : report.chosen) {
      const Candidate& candidate = report.candidates[chosen];
      Step(With(Without(world, candidate), candidate.node, placed), {numbers.first, numbers.second + 1});
    }
    if (report.fit_nodes.empty() && report.chosen.empty()) ends_.insert(numbers);
  }

  static std::vector<std::pair<std::string, std::int64_t>> Key(const ToyWorld& world) {
    std::vector<std::pair<std::string, std::int64_t>> key;
    for (const ToyPod& pod : world.pods) key.emplace_back(pod.name.substr(0, 4), pod.node * 16 + pod.nominated);
    std::sort(key.begin(), key.end());
    return key;
  }

  static ToyWorld With(ToyWorld world, std::uint32_t node, std::int64_t number) {
    ToyPod placed = world.incoming;
    placed.name = "chat-" + std::to_string(number);
    placed.nominated = -1;
    placed.node = node;
    world.pods.push_back(placed);
    return world;
  }

  static ToyWorld Without(ToyWorld world, const Candidate& candidate) {
    for (const Pod* victim : candidate.victims)
      std::erase_if(world.pods, [&](const ToyPod& pod) { return pod.name == victim->name; });
    for (ToyPod& pod : world.pods)
      if (pod.node < 0 && pod.nominated == candidate.node && pod.priority < world.incoming.priority) pod.nominated = -1;
    return world;
  }

  const EvaluateOptions options_;
  const std::int64_t replicas_;
  std::set<std::pair<std::vector<std::pair<std::string, std::int64_t>>, Numbers>> seen_;
  std::set<Numbers> ends_;
};

struct Tally {
  int exact = 0;
  int bounded = 0;
  int gangs_found = 0;
};

void Compare(std::uint64_t seed, ToyScope scope, Tally& tally) {
  const ToyWorld world = MakeToyWorld(seed, scope);
  const std::int64_t replicas = 1 + static_cast<std::int64_t>(seed % 5);
  const EvaluateOptions options = {.version = {1, seed % 3 == 0 ? 36 : 37}};
  const std::set<Numbers> all = AllCourses(options, replicas).Follow(world);
  const ClusterSnapshot snapshot = BuildSnapshot(world);
  const Pod replica = BuildPod(world, world.incoming);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", replicas " + std::to_string(replicas) + '\n' + Describe(world));

  const WorkloadReport one_by_one = EvaluateWorkload(snapshot, replica, replicas, Placing::kOneByOne, options);
  EXPECT_TRUE(all.contains({one_by_one.fit_now, one_by_one.fit_after}));
  EXPECT_EQ(one_by_one.feasible, one_by_one.fit_now + one_by_one.fit_after == replicas);
  const bool is_exact = one_by_one.exactness == Exactness::kExact;
  EXPECT_EQ(one_by_one.exactness_reason.empty(), is_exact);
  EXPECT_TRUE(!is_exact || all.size() == 1) << one_by_one.fit_now << '+' << one_by_one.fit_after;
  ++(is_exact ? tally.exact : tally.bounded);

  const bool can_be_placed =
      std::any_of(all.begin(), all.end(), [&](auto& numbers) { return numbers.first + numbers.second == replicas; });
  const WorkloadReport gang = EvaluateWorkload(snapshot, replica, replicas, Placing::kAllOrNothing, options);
  EXPECT_EQ(gang.feasible, can_be_placed);  // clusters are so small that every course is followed
  EXPECT_TRUE(!gang.feasible || all.contains({gang.fit_now, gang.fit_after}));
  tally.gangs_found += gang.feasible && !one_by_one.feasible ? 1 : 0;
}

TEST(WorkloadOracle, AgreesOnClustersOfIndependentNodes) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 12000 && !testing::Test::HasFailure(); ++seed)
    Compare(seed, ToyScope::kNodesOnly, tally);
  EXPECT_GT(tally.exact, 10000);
  EXPECT_GT(tally.bounded, 50);
}

TEST(WorkloadOracle, AgreesOnClustersWherePodsSeeEachOther) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 20000 && !testing::Test::HasFailure(); ++seed)
    Compare(seed, ToyScope::kBetweenPods, tally);
  EXPECT_GT(tally.exact, 10000);
  EXPECT_GT(tally.bounded, 1000);
  EXPECT_GT(tally.gangs_found, 20);
}

}  // namespace
}  // namespace podium
