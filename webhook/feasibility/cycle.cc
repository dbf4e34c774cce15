#include "feasibility/cycle.h"

#include <algorithm>
#include <utility>

#include "feasibility/bound_request.h"
#include "feasibility/filters.h"
#include "feasibility/promises.h"

namespace podium {
namespace {

std::vector<std::int64_t> HeldByShape(const PreparedCluster& cluster, const std::vector<Demand>& demands) {
  std::vector<std::int64_t> held;
  held.reserve(cluster.requests.shapes.size() * demands.size());
  for (const std::vector<Amount>& shape : cluster.requests.shapes) {
    for (const Demand& demand : demands) {
      const auto found = std::find_if(shape.begin(), shape.end(), [&](auto& a) { return a.resource == demand.id; });
      held.push_back(found == shape.end() ? 0 : found->value);
    }
  }
  return held;
}

void ChooseFilters(Cycle& cycle) {
  cycle.filters.clear();
  for (const FilterRow& filter : Filters())
    if (filter.takes_part(cycle)) cycle.filters.push_back(&filter);
  const auto first = std::find_if(cycle.filters.begin(), cycle.filters.end(), [](auto* row) { return row->sees_pods; });
  cycle.first_that_sees_pods = static_cast<std::size_t>(first - cycle.filters.begin());
}

std::int64_t ValueAt(const std::vector<std::int64_t>& amounts, ResourceId resource) {
  return resource < amounts.size() ? amounts[resource] : 0;
}

}  // namespace

std::vector<Demand> DemandsOf(const PreparedCluster& cluster, const Pod& incoming) {
  RequestTable table;  // the names only; it may ask for what no node and no pod has
  table.resources = cluster.requests.resources;
  table.ids = cluster.requests.ids;
  std::vector<Demand> demands;
  for (const Amount& amount : table.AmountsOf(SpecRequest(*incoming.spec)))
    if (amount.value > 0) demands.push_back({table.resources[amount.resource], amount.resource, amount.value});
  std::sort(demands.begin(), demands.end(), [](const Demand& a, const Demand& b) { return a.resource < b.resource; });
  if (demands.size() > kMostDemands) demands.resize(kMostDemands);
  return demands;
}

Cycle BeginCycle(const PreparedCluster& cluster, const Pod& incoming, const EvaluateOptions& options) {
  Cycle cycle(cluster);
  cycle.pod = &incoming;
  cycle.spec = &*incoming.scheduling;
  cycle.priority = PriorityOf(incoming);
  cycle.demands = DemandsOf(cluster, incoming);
  cycle.held_by_shape = HeldByShape(cluster, cycle.demands);
  cycle.spread = CountSpread(cluster, incoming);
  cycle.affinity = CountPodAffinity(cluster, incoming);
  for (const auto& [node, pods] : cluster.promised)
    for (const PreparedPod& pod : pods)
      if (KeepsPromise(pod, incoming, options.scheduler_name)) cycle.promised[node].push_back(pod);
  ChooseFilters(cycle);
  return cycle;
}

void CountChange(Cycle& cycle, std::uint32_t node, const PreparedPod& pod, std::int64_t times) {
  CountChange(cycle.spread, node, pod, times);
  const bool affinity_took_part = cycle.affinity.takes_part;
  CountChange(cycle.affinity, node, pod.group, times);
  if (affinity_took_part != cycle.affinity.takes_part) ChooseFilters(cycle);
}

void Overlay::Reset(std::uint32_t node) {
  id_ = node;
  node_ = &cycle_->cluster->nodes[node];
  pod_count_ = static_cast<std::int64_t>(node_->pods.size());
  allocatable_.clear();
  free_.clear();
  for (const Demand& demand : cycle_->demands) {
    allocatable_.push_back(ValueAt(node_->allocatable, demand.id));
    free_.push_back(WrappingSubtract(allocatable_.back(), ValueAt(node_->requested, demand.id)));
  }
  used_ports_.clear();
  if (!cycle_->spec->host_ports.empty() && node_->holds_ports)
    for (const PreparedPod& pod : node_->pods) ChangePorts(*pod.pod, 1);
  spread_.assign(cycle_->spread.rows.size(), 0);
  if (cycle_->affinity.takes_part) affinity_ = NoDelta(cycle_->affinity);
}

void Overlay::Change(const PreparedPod& pod, std::int64_t times) {
  pod_count_ += times;
  const std::int64_t* held = cycle_->HeldBy(pod);
  for (std::size_t i = 0; i < free_.size(); ++i)
    free_[i] = times > 0 ? WrappingSubtract(free_[i], held[i]) : WrappingAdd(free_[i], held[i]);
  if (!cycle_->spec->host_ports.empty()) ChangePorts(*pod.pod, times);
  ChangeTopology(pod.group, times);
}

void Overlay::ChangePorts(const Pod& pod, std::int64_t times) {
  for (const HostPort& port : pod.scheduling->host_ports) {
    std::erase(used_ports_, port);
    if (times > 0) used_ports_.push_back(port);
  }
}

void Overlay::ChangeTopology(std::uint32_t group, std::int64_t times) {
  for (std::size_t i = 0; i < spread_.size(); ++i) {
    const SpreadRow& row = cycle_->spread.rows[i];
    if (row.counts_node[id_] != 0 && row.matches[group] != 0) spread_[i] += times;
  }
  if (cycle_->affinity.takes_part) AddTo(affinity_, cycle_->affinity, id_, group, times);
}

}  // namespace podium
