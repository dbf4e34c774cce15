#include "feasibility/changed_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feasibility/evaluations.h"
#include "feasibility/toy_world.h"

namespace podium {
namespace {

// "gpu=2 cpu=3000 ports p01 chat", resources by name: their numbers differ between clusters.
std::string NodeText(const PreparedCluster& cluster, const PreparedNode& node) {
  std::map<std::string, std::int64_t> requested;
  for (std::size_t i = 0; i < node.requested.size(); ++i)
    if (node.requested[i] != 0) requested[cluster.requests.resources[i]] = node.requested[i];
  std::string text;
  for (const auto& [resource, amount] : requested) text += resource + '=' + std::to_string(amount) + ' ';
  text += node.holds_ports ? "ports" : "";
  for (const PreparedPod& pod : node.pods) text += ' ' + pod.pod->name;
  return text;
}

std::string TextOf(const PreparedCluster& cluster, const Pod& incoming, const EvaluateOptions& options) {
  std::string text;
  for (const PreparedNode& node : cluster.nodes) text += NodeText(cluster, node) + '\n';
  const FeasibilityReport report = Evaluate(cluster, incoming, options);
  text += std::string(ToString(report.verdict)) + ' ' + report.message + '\n' + CandidatesText(report) + '\n';
  for (const std::string& refused : RefusedText(report)) text += refused + '\n';
  return text;
}

// Places the incoming pod and a twin of lower priority and with labels of its own, evicts every other pod of one node:
// in the world and in the prepared cluster.
void ChangeBoth(ToyWorld& world, ChangedCluster& changed, std::uint64_t seed) {
  const auto node = static_cast<std::uint32_t>(seed % world.nodes.size());
  std::vector<std::uint32_t> victims;
  const std::vector<PreparedPod>& pods = changed.prepared().nodes[node].pods;
  for (std::uint32_t position = 0; position < pods.size(); position += 2) {
    victims.push_back(position);
    std::erase_if(world.pods, [&](const ToyPod& pod) { return pod.name == pods[position].pod->name; });
  }
  changed.Evict(node, victims, BuildPod(world, world.incoming), "default-scheduler");
  for (ToyPod& pod : world.pods)
    if (pod.node < 0 && pod.nominated == node && pod.priority < world.incoming.priority) pod.nominated = -1;

  ToyPod twin = world.incoming;
  twin.priority = 0;
  twin.app = "batch";
  for (ToyPod placed : {world.incoming, twin}) {
    placed.nominated = -1;
    placed.name = "placed-" + std::to_string(placed.priority);
    const PreparedPod announced = changed.Announce(BuildPod(world, placed));
    for (const std::uint32_t to : {node, static_cast<std::uint32_t>(world.nodes.size() - 1)}) {
      changed.Place(to, announced);
      placed.node = to;
      world.pods.push_back(placed);
    }
  }
}

TEST(ChangedCluster, IsWhatPrepareSaysOfTheChangedSnapshot) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const EvaluateOptions options = Version(seed % 2 == 0 ? 36 : 37);
    ToyWorld world = MakeToyWorld(seed, ToyScope::kBetweenPods);
    const ClusterSnapshot before = BuildSnapshot(world);
    ChangedCluster changed(Prepare(before, RulesOf(options.version)), before.budgets);
    ChangeBoth(world, changed, seed);
    const ClusterSnapshot after = BuildSnapshot(world);
    ASSERT_EQ(TextOf(changed.prepared(), BuildPod(world, world.incoming), options),
              TextOf(Prepare(after, RulesOf(options.version)), BuildPod(world, world.incoming), options))
        << "seed " << seed << '\n'
        << Describe(world);
  }
}

TEST(ChangedCluster, ACopyIsIndependent) {
  ClusterBuilder cluster;
  cluster.WithNode("a", {.gpus = 2}).WithPod("low", {.gpus = 1});
  const ClusterSnapshot snapshot = cluster.Build();
  ChangedCluster first(Prepare(snapshot, RulesOf({})), snapshot.budgets);
  const PreparedPod chat = first.Announce(MakePod("chat", {.gpus = 1}));
  ChangedCluster second = first;
  second.Place(0, chat);
  EXPECT_EQ(first.prepared().nodes[0].pods.size(), 1U);
  EXPECT_EQ(second.prepared().nodes[0].pods.size(), 2U);
  EXPECT_EQ(second.changes().size(), 1U);
}

}  // namespace
}  // namespace podium
