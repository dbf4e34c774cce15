#include "feasibility/changed_cluster.h"

#include <algorithm>
#include <utility>

#include "feasibility/bound_request.h"
#include "feasibility/promises.h"

namespace podium {
namespace {

std::int64_t& At(std::vector<std::int64_t>& amounts, ResourceId resource) {
  if (amounts.size() <= resource) amounts.resize(resource + 1);
  return amounts[resource];
}

bool WantsPorts(const PreparedPod& pod) { return !pod.pod->scheduling->host_ports.empty(); }

// As Prepare tells groups apart: by the address of what is interned.
bool LooksLike(const Pod& a, const Pod& b) {
  const bool refuses = !a.scheduling->pod_anti_affinity.empty();
  return &*a.labels == &*b.labels && &*a.namespace_name == &*b.namespace_name &&
         refuses == !b.scheduling->pod_anti_affinity.empty() && (!refuses || &*a.scheduling == &*b.scheduling);
}

}  // namespace

PreparedPod ChangedCluster::Announce(Pod pod) {
  const auto owned = std::make_shared<const Pod>(std::move(pod));
  announced_.push_back(owned);
  const std::int64_t start =
      owned->start_time == TimePoint() ? kNotStarted : std::int64_t{owned->start_time.time_since_epoch().count()};
  const ResourceList request = HeldRequest(*owned->spec, *owned->standing, cluster_.rules.resize);
  return {owned.get(), PriorityOf(*owned), start, cluster_.requests.ShapeOf(request), GroupOf(*owned)};
}

std::uint32_t ChangedCluster::GroupOf(const Pod& pod) {
  std::vector<const Pod*>& groups = cluster_.groups;
  const auto known = std::find_if(groups.begin(), groups.end(), [&](const Pod* each) { return LooksLike(*each, pod); });
  const auto position = static_cast<std::uint32_t>(known - groups.begin());
  if (known != groups.end()) return position;
  groups.push_back(&pod);
  std::vector<const Pdb*>& matching = cluster_.budgets.emplace_back();
  for (const auto& row : *budgets_)
    if (Protects(row.value, pod)) matching.push_back(&row.value);
  return position;
}

void ChangedCluster::Place(std::uint32_t node, const PreparedPod& announced) {
  PreparedNode& changed = cluster_.nodes[node];
  for (const Amount& amount : cluster_.requests.shapes[announced.shape]) {
    std::int64_t& sum = At(changed.requested, amount.resource);
    sum = WrappingAdd(sum, amount.value);
  }
  InsertByImportance(changed.pods, announced, cluster_.rules);
  changed.holds_ports = changed.holds_ports || WantsPorts(announced);
  changes_.push_back({node, 1, announced});
}

std::vector<const Pod*> ChangedCluster::Evict(std::uint32_t node, const std::vector<std::uint32_t>& victims,
                                              const Pod& preemptor, const std::string& scheduler) {
  PreparedNode& changed = cluster_.nodes[node];
  std::vector<const Pod*> gone;
  std::vector<char> goes(changed.pods.size());
  for (const std::uint32_t position : victims) {
    goes[position] = 1;
    const PreparedPod& victim = changed.pods[position];
    gone.push_back(victim.pod);
    changes_.push_back({node, -1, victim});
    for (const Amount& amount : cluster_.requests.shapes[victim.shape]) {
      std::int64_t& sum = At(changed.requested, amount.resource);
      sum = WrappingSubtract(sum, amount.value);
    }
  }
  std::vector<PreparedPod> rest;
  for (std::size_t i = 0; i < changed.pods.size(); ++i)
    if (goes[i] == 0) rest.push_back(changed.pods[i]);
  changed.pods = std::move(rest);
  changed.holds_ports = std::any_of(changed.pods.begin(), changed.pods.end(), WantsPorts);
  const auto promised = cluster_.promised.find(node);
  if (promised != cluster_.promised.end())
    std::erase_if(promised->second, [&](const PreparedPod& pod) { return LosesPromise(pod, preemptor, scheduler); });
  return gone;
}

void ChangedCluster::DropPromise(const std::string& uid) {
  if (uid.empty()) return;
  for (auto& [node, pods] : cluster_.promised)
    std::erase_if(pods, [&](const PreparedPod& pod) { return pod.pod->uid == uid; });
}

}  // namespace podium
