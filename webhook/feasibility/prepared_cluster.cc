#include "feasibility/prepared_cluster.h"

#include <algorithm>
#include <utility>

#include "feasibility/bound_request.h"

namespace podium {
namespace {

// Source: kubernetes pkg/scheduler/framework/types.go (Resource.Add), pkg/scheduler/util (IsScalarResourceName).
bool Counts(std::string_view resource) {
  if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage") return true;
  if (resource.starts_with("hugepages-") || resource.starts_with("attachable-volumes-")) return true;
  if (resource.find("kubernetes.io/") != std::string_view::npos) return true;
  return resource.find('/') != std::string_view::npos && !resource.starts_with("requests.");
}

std::int64_t WholeAmount(std::string_view resource, Quantity amount) {
  if (resource != "cpu") return amount.CeilUnits();
  return Quantity::FromNano(amount.nano() * 1000).CeilUnits();
}

// One order for both sorts: `after` says which of two pods without a start time comes later in its list.
bool IsMoreImportant(const PreparedPod& a, const PreparedPod& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.start < b.start;
}

// Turns runs of pods that are equal and have not started. Until 1.36 such a pod counts as started "now", and each "now"
// is later than the one before, so that the sort takes them in reverse.
template <typename Iterator, typename Get>
void TurnUnstarted(Iterator begin, Iterator end, Get get) {
  while (begin != end) {
    Iterator run = begin + 1;
    while (run != end && get(*run).priority == get(*begin).priority && get(*run).start == get(*begin).start) ++run;
    if (get(*begin).start == kNotStarted) std::reverse(begin, run);
    begin = run;
  }
}

template <typename List, typename Get>
void SortList(List& list, const SchedulerRules& rules, Get get) {
  std::stable_sort(list.begin(), list.end(),
                   [&](const auto& a, const auto& b) { return IsMoreImportant(get(a), get(b)); });
  if (rules.unstarted_in_reverse) TurnUnstarted(list.begin(), list.end(), get);
}

class Preparer {
 public:
  explicit Preparer(const SchedulerRules& rules) { cluster_.rules = rules; }

  PreparedCluster Run(const ClusterSnapshot& snapshot) {
    cluster_.nodes_alive = snapshot.nodes;
    cluster_.nodes.reserve(snapshot.nodes.size());
    for (const auto& row : snapshot.nodes) {
      cluster_.node_ids.emplace(row.key, static_cast<std::uint32_t>(cluster_.nodes.size()));
      cluster_.nodes.push_back(PrepareNode(row.value));
    }
    for (const auto& pod : snapshot.waiting) AddPromise(*pod);
    for (const auto& row : snapshot.budgets)
      if (row.value.selector && *row.value.selector != LabelSelector{})
        cluster_.budgets[row.value.namespace_name].push_back(&row.value);
    for (const auto& row : snapshot.namespaces) cluster_.namespaces.emplace(row.value.name, &row.value.labels);
    return std::move(cluster_);
  }

 private:
  PreparedPod PreparePod(const Pod& pod) {
    const std::int64_t start = pod.start_time == TimePoint()
                                   ? kNotStarted
                                   : static_cast<std::int64_t>(pod.start_time.time_since_epoch().count());
    return {&pod, PriorityOf(pod), start, ShapeOf(pod)};
  }

  // Pods of one workload share their spec, so most are found by its address.
  std::uint32_t ShapeOf(const Pod& pod) {
    const auto held = [&] { return HeldRequest(*pod.spec, *pod.standing, cluster_.rules.resize); };
    if (!(*pod.standing == SchedulingStatus{})) return cluster_.requests.ShapeOf(held());
    const auto [entry, is_new] = shape_of_spec_.try_emplace(&*pod.spec, 0);
    if (is_new) entry->second = cluster_.requests.ShapeOf(held());
    return entry->second;
  }

  PreparedNode PrepareNode(const NodeState& state) {
    PreparedNode node;
    node.state = &state;
    for (const Amount& amount : cluster_.requests.AmountsOf(state.node.allocatable))
      At(node.allocatable, amount.resource) = amount.value;
    const auto limit = state.node.allocatable.find("pods");
    if (limit != state.node.allocatable.end()) node.pod_limit = limit->second.CeilUnits();
    node.pods.reserve(state.pods.size());
    for (const auto& pod : state.pods)
      if (!pod->IsOver()) node.pods.push_back(PreparePod(*pod));
    SortByImportance(node.pods, cluster_.rules);
    AddUp(node);
    return node;
  }

  void AddUp(PreparedNode& node) {
    for (std::uint32_t i = 0; i < node.pods.size(); ++i) {
      const PreparedPod& pod = node.pods[i];
      for (const Amount& amount : cluster_.requests.shapes[pod.shape])
        At(node.requested, amount.resource) += amount.value;
      if (!pod.pod->scheduling->pod_anti_affinity.empty()) node.refusing.push_back(i);
      node.holds_ports = node.holds_ports || !pod.pod->scheduling->host_ports.empty();
    }
  }

  static std::int64_t& At(std::vector<std::int64_t>& amounts, ResourceId resource) {
    if (amounts.size() <= resource) amounts.resize(resource + 1);
    return amounts[resource];
  }

  void AddPromise(const Pod& pod) {
    const std::string& name = pod.standing->nominated_node;
    if (name.empty() || !pod.node_name->empty() || pod.IsOver()) return;
    if (!cluster_.rules.promises_to_gated_count && !pod.scheduling->gates.empty()) return;
    const auto node = cluster_.node_ids.find(name);
    if (node != cluster_.node_ids.end()) cluster_.promised[node->second].push_back(PreparePod(pod));
  }

  PreparedCluster cluster_;
  std::unordered_map<const PodSpec*, std::uint32_t> shape_of_spec_;
};

}  // namespace

ResourceId RequestTable::IdOf(const std::string& resource) {
  const auto [entry, is_new] = ids.try_emplace(resource, static_cast<ResourceId>(resources.size()));
  if (is_new) resources.push_back(resource);
  return entry->second;
}

std::vector<Amount> RequestTable::AmountsOf(const ResourceList& requests) {
  std::vector<Amount> amounts;
  for (const auto& [name, amount] : requests) {
    const std::int64_t value = Counts(name) ? WholeAmount(name, amount) : 0;
    if (value != 0) amounts.push_back({IdOf(name), value});
  }
  std::sort(amounts.begin(), amounts.end());
  return amounts;
}

std::uint32_t RequestTable::ShapeOf(const ResourceList& requests) {
  std::vector<Amount> amounts = AmountsOf(requests);
  const auto [entry, is_new] = shape_ids.try_emplace(std::move(amounts), static_cast<std::uint32_t>(shapes.size()));
  if (is_new) shapes.push_back(entry->first);
  return entry->second;
}

std::int64_t PriorityOf(const Pod& pod) { return pod.spec->trio.priority.value_or(0); }

void SortByImportance(std::vector<PreparedPod>& pods, const SchedulerRules& rules) {
  SortList(pods, rules, [](const PreparedPod& pod) -> const PreparedPod& { return pod; });
}

void SortByImportance(std::vector<std::uint32_t>& positions, const std::vector<PreparedPod>& pods,
                      const SchedulerRules& rules) {
  SortList(positions, rules, [&](std::uint32_t position) -> const PreparedPod& { return pods[position]; });
}

PreparedCluster Prepare(const ClusterSnapshot& snapshot, const SchedulerRules& rules) {
  return Preparer(rules).Run(snapshot);
}

}  // namespace podium
