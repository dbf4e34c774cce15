#include "feasibility/gpu_stock.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "feasibility/bound_request.h"
#include "feasibility/prepared_cluster.h"
#include "feasibility/request.h"

namespace podium {
namespace {

constexpr std::array<std::string_view, 6> kPoolLabels = {
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",         "nvidia.com/gpu.product",      "node.kubernetes.io/instance-type"};

const std::string* ValueOf(const Node& node, std::string_view label) {
  const auto found = node.labels.find(std::string(label));
  return found == node.labels.end() ? nullptr : &found->second;
}

std::string PoolOf(const Node& node, std::string_view label) {
  if (!label.empty()) {
    const std::string* value = ValueOf(node, label);
    return value == nullptr ? "" : *value;
  }
  for (const std::string_view known : kPoolLabels)
    if (const std::string* value = ValueOf(node, known)) return *value;
  return "";
}

// Quantities are capped at the end of int64, so a sum of absurd ones stays there too.
std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

struct Holder {
  std::string class_name;
  std::int64_t priority = 0;
  std::int64_t units = 0;
};

// One resource on one node.
struct Share {
  std::int64_t allocatable = 0;
  std::vector<Holder> holders;
};

class Counter {
 public:
  Counter(const ClusterSnapshot& snapshot, const std::vector<GpuResource>& gpus, std::string_view pool_label)
      : snapshot_(snapshot), gpus_(gpus), pool_label_(pool_label) {}

  std::vector<GpuStock> Run() {
    for (const auto& row : snapshot_.nodes) {
      const std::string pool = PoolOf(row.value.node, pool_label_);
      for (const auto& [resource, share] : SharesOf(row.value)) {
        GpuStock& stock = stocks_[{pool, resource}];
        stock.pool = pool;
        stock.resource = resource;
        stock.unit = *UnitOf(resource, gpus_);
        Add(stock, share, row.value.node.unschedulable);
      }
    }
    std::vector<GpuStock> result;
    for (auto& [key, stock] : stocks_) result.push_back(std::move(stock));
    return result;
  }

 private:
  std::map<std::string, Share> SharesOf(const NodeState& state) const {
    std::map<std::string, Share> shares;
    for (const auto& [resource, amount] : state.node.allocatable)
      if (UnitOf(resource, gpus_)) shares[resource].allocatable = std::max<std::int64_t>(amount.CeilUnits(), 0);
    for (const auto& pod : state.pods) {
      if (pod->IsOver()) continue;
      for (const auto& [resource, amount] : HeldRequest(*pod->spec, *pod->standing, RulesOf({}).resize))
        if (amount > Quantity() && UnitOf(resource, gpus_))
          shares[resource].holders.push_back(
              {pod->spec->trio.class_name.value_or(""), PriorityOf(*pod), amount.CeilUnits()});
    }
    return shares;
  }

  void Add(GpuStock& stock, const Share& share, bool is_cordoned) const {
    std::int64_t held = 0;
    for (const Holder& holder : share.holders) {
      held = Sum(held, holder.units);
      std::int64_t& by_class = stock.held[holder.class_name];
      by_class = Sum(by_class, holder.units);
    }
    for (const auto& row : snapshot_.classes) AddPreemptible(stock.preemptible[row.value.name], share, row.value);
    const std::int64_t free = std::max<std::int64_t>(share.allocatable - held, 0);
    ++stock.nodes;
    stock.capacity = Sum(stock.capacity, share.allocatable);
    stock.free = Sum(stock.free, free);
    if (is_cordoned) {
      stock.on_unusable_nodes = Sum(stock.on_unusable_nodes, free);
      return;
    }
    ++stock.free_per_node[free];
    stock.largest_free = std::max(stock.largest_free, free);
  }

  // Pods of a class with preemptionPolicy Never preempt nobody.
  static void AddPreemptible(std::int64_t& units, const Share& share, const PriorityClass& by) {
    if (by.preemption_policy == PreemptionPolicy::kNever) return;
    for (const Holder& holder : share.holders)
      if (holder.priority < by.value) units = Sum(units, holder.units);
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<GpuResource>& gpus_;
  const std::string_view pool_label_;
  std::map<std::pair<std::string, std::string>, GpuStock> stocks_;
};

}  // namespace

std::vector<GpuStock> CountGpus(const ClusterSnapshot& snapshot, const std::vector<GpuResource>& gpus,
                                std::string_view pool_label) {
  return Counter(snapshot, gpus, pool_label).Run();
}

}  // namespace podium
