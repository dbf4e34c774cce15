// A snapshot as the filters want it: whole numbers, sums per node, pods in order of importance. Made once, read by any
// number of evaluations and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "feasibility/scheduler_rules.h"

namespace podium {

using ResourceId = std::uint32_t;

// CPU in milli-units, everything else in whole units, rounded up once.
struct Amount {
  ResourceId resource = 0;
  std::int64_t value = 0;
  bool operator==(const Amount&) const = default;
  auto operator<=>(const Amount&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

// Sums of absurd amounts wrap around, as they do in the scheduler.
constexpr std::int64_t WrappingAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t WrappingSubtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

constexpr std::int64_t kNotStarted = std::numeric_limits<std::int64_t>::max();  // later than every start

struct PreparedPod {
  const Pod* pod = nullptr;
  std::int64_t priority = 0;
  std::int64_t start = kNotStarted;  // ticks of the system clock
  std::uint32_t shape = 0;           // position in RequestTable::shapes
  std::uint32_t group = 0;           // position in PreparedCluster::groups
};

struct PreparedNode {
  const NodeState* state = nullptr;
  std::vector<std::int64_t> allocatable;  // by ResourceId; what is behind the end is 0
  std::vector<std::int64_t> requested;
  std::int64_t pod_limit = 0;
  std::vector<PreparedPod> pods;  // most important first; without those that are over
  bool holds_ports = false;
};

// Names of resources that count for the scheduler, and distinct requests.
struct RequestTable {
  std::vector<std::string> resources;
  std::map<std::string, ResourceId, std::less<>> ids;
  std::vector<std::vector<Amount>> shapes;  // sorted by resource, without zeros
  std::map<std::vector<Amount>, std::uint32_t> shape_ids;

  ResourceId IdOf(const std::string& resource);
  std::vector<Amount> AmountsOf(const ResourceList& requests);
  std::uint32_t ShapeOf(const ResourceList& requests);
};

// Holds pointers into the snapshot that it was made from: keep that alive.
struct PreparedCluster {
  SchedulerRules rules;
  Table<NodeState> nodes_alive;
  RequestTable requests;
  std::vector<PreparedNode> nodes;  // as in the snapshot
  // One pod of each group: pods with the same namespace, labels and anti-affinity look alike to spreading and affinity.
  std::vector<const Pod*> groups;
  std::unordered_map<std::string_view, std::uint32_t> node_ids;
  // Unbound pods to which room on a node was promised, by node; not yet by scheduler.
  std::unordered_map<std::uint32_t, std::vector<PreparedPod>> promised;
  std::vector<std::vector<const Pdb*>> budgets;  // by group: those whose selector matches, in the snapshot's order
  std::unordered_map<std::string_view, const Labels*> namespaces;
};

// Requires: `snapshot` outlives the result.
PreparedCluster Prepare(const ClusterSnapshot& snapshot, const SchedulerRules& rules);

// spec.priority, 0 when it is absent; kept to 32 bits, as in the API.
std::int64_t PriorityOf(const Pod& pod);

// More important pods first: higher priority, then earlier start. Equal ones keep their order.
// Source: kubernetes pkg/scheduler/util/utils.go (MoreImportantPod).
void SortByImportance(std::vector<PreparedPod>& pods, const SchedulerRules& rules);

// Same, of positions in `pods`.
void SortByImportance(std::vector<std::uint32_t>& positions, const std::vector<PreparedPod>& pods,
                      const SchedulerRules& rules);

// Puts `newest` where SortByImportance would have put it behind the others in the node's list. Requires: `pods` is
// sorted.
void InsertByImportance(std::vector<PreparedPod>& pods, const PreparedPod& newest, const SchedulerRules& rules);

// Whether `pod` is one that `budget` asks to keep, namespace included. Without a selector, or with an empty one, it
// protects nothing here; nor is a pod without labels protected.
bool Protects(const Pdb& budget, const Pod& pod);

FeasibilityReport Evaluate(const PreparedCluster& cluster, const Pod& incoming, const EvaluateOptions& options);

}  // namespace podium
