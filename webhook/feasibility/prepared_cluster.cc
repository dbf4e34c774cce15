#include "feasibility/prepared_cluster.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/selector.h"
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
    AddBudgets(snapshot.budgets);
    for (const auto& row : snapshot.namespaces) cluster_.namespaces.emplace(row.value.name, &row.value.labels);
    return std::move(cluster_);
  }

 private:
  PreparedPod PreparePod(const Pod& pod) {
    const std::int64_t start = pod.start_time == TimePoint()
                                   ? kNotStarted
                                   : static_cast<std::int64_t>(pod.start_time.time_since_epoch().count());
    return {&pod, PriorityOf(pod), start, ShapeOf(pod), GroupOf(pod)};
  }

  // Pods of one workload share their spec, so most are found by its address.
  std::uint32_t ShapeOf(const Pod& pod) {
    const auto held = [&] { return HeldRequest(*pod.spec, *pod.standing, cluster_.rules.resize); };
    if (!(*pod.standing == SchedulingStatus{})) return cluster_.requests.ShapeOf(held());
    const auto [entry, is_new] = shape_of_spec_.try_emplace(&*pod.spec, 0);
    if (is_new) entry->second = cluster_.requests.ShapeOf(held());
    return entry->second;
  }

  // Found by address: values that repeat are interned. Equal ones that are not only make a group more.
  std::uint32_t GroupOf(const Pod& pod) {
    const bool refuses = !pod.scheduling->pod_anti_affinity.empty();
    const GroupKey key = {&*pod.labels, &*pod.namespace_name, refuses ? &*pod.scheduling : nullptr};
    const auto next = static_cast<std::uint32_t>(cluster_.groups.size());
    const auto [entry, is_new] = group_ids_.try_emplace(key, next);
    if (is_new) cluster_.groups.push_back(&pod);
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
    for (const PreparedPod& pod : node.pods) {
      for (const Amount& amount : cluster_.requests.shapes[pod.shape]) {
        std::int64_t& sum = At(node.requested, amount.resource);
        sum = WrappingAdd(sum, amount.value);
      }
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

  void AddBudgets(const Table<Pdb>& budgets) {
    std::unordered_map<std::string_view, std::vector<const Pdb*>> by_namespace;
    for (const auto& row : budgets) by_namespace[row.value.namespace_name].push_back(&row.value);
    for (const Pod* pod : cluster_.groups) {
      std::vector<const Pdb*>& matching = cluster_.budgets.emplace_back();
      const auto own = by_namespace.find(*pod->namespace_name);
      if (own == by_namespace.end()) continue;
      for (const Pdb* budget : own->second)
        if (Protects(*budget, *pod)) matching.push_back(budget);
    }
  }

  using GroupKey = std::array<const void*, 3>;
  struct GroupHash {
    std::size_t operator()(const GroupKey& key) const {
      std::size_t hash = 0;
      for (const void* part : key) hash = hash * 31 + std::hash<const void*>{}(part);
      return hash;
    }
  };

  PreparedCluster cluster_;
  std::unordered_map<GroupKey, std::uint32_t, GroupHash> group_ids_;
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

std::int64_t PriorityOf(const Pod& pod) {
  return std::clamp<std::int64_t>(pod.spec->trio.priority.value_or(0), INT32_MIN, INT32_MAX);
}

void SortByImportance(std::vector<PreparedPod>& pods, const SchedulerRules& rules) {
  SortList(pods, rules, [](const PreparedPod& pod) -> const PreparedPod& { return pod; });
}

void SortByImportance(std::vector<std::uint32_t>& positions, const std::vector<PreparedPod>& pods,
                      const SchedulerRules& rules) {
  SortList(positions, rules, [&](std::uint32_t position) -> const PreparedPod& { return pods[position]; });
}

void InsertByImportance(std::vector<PreparedPod>& pods, const PreparedPod& newest, const SchedulerRules& rules) {
  const bool first_of_its_equals = rules.unstarted_in_reverse && newest.start == kNotStarted;
  pods.insert(first_of_its_equals ? std::lower_bound(pods.begin(), pods.end(), newest, IsMoreImportant)
                                  : std::upper_bound(pods.begin(), pods.end(), newest, IsMoreImportant),
              newest);
}

bool Protects(const Pdb& budget, const Pod& pod) {
  return budget.namespace_name == *pod.namespace_name && budget.selector && *budget.selector != LabelSelector{} &&
         !pod.labels->empty() && Matches(*budget.selector, *pod.labels);
}

PreparedCluster Prepare(const ClusterSnapshot& snapshot, const SchedulerRules& rules) {
  return Preparer(rules).Run(snapshot);
}

}  // namespace podium
