// Where the GPUs are that a pod asks for.
#include <algorithm>

#include "feasibility/holdings.h"
#include "feasibility/outlook.h"
#include "feasibility/request.h"
#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

// A pod that the scheduler does not try has no outcomes at all.
bool NodesWereLookedAt(const FeasibilityReport& report) { return !report.fit_nodes.empty() || !report.refused.empty(); }

}  // namespace

std::optional<Room> CountRoom(const PreparedCluster& cluster, const FeasibilityReport& report, const Pod& incoming,
                              const OutlookOptions& options) {
  const std::vector<GpuRequest> gpus = EffectiveGpuRequest(*incoming.spec, options.gpus);
  if (gpus.empty() || !NodesWereLookedAt(report)) return std::nullopt;
  Room room;
  room.resource = gpus.front().resource;
  room.unit = gpus.front().unit;
  room.wanted = gpus.front().count;
  const Holdings holdings(cluster, incoming, room.resource, options.evaluate.scheduler_name);
  const std::vector<char> usable = UsableNodes(report);
  for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
    const NodeAmounts amounts = holdings.On(node);
    if (amounts.allocatable == 0 && amounts.free == 0) continue;  // the node has none, and nobody holds any there
    room.nodes.push_back({node, amounts.allocatable, amounts.free, amounts.freeable, usable[node] != 0});
    if (usable[node] == 0) continue;
    // What is missing on an overcommitted node is not taken from another one.
    room.free = WrappingAdd(room.free, std::max<std::int64_t>(0, amounts.free));
    room.freeable = WrappingAdd(room.freeable, amounts.freeable);
    room.most_on_one_node = std::max(room.most_on_one_node, WrappingAdd(amounts.free, amounts.freeable));
  }
  return room;
}

}  // namespace podium
