#include "feasibility/holdings.h"

#include <algorithm>
#include <utility>

#include "feasibility/promises.h"

namespace podium {
namespace {

std::int64_t ValueAt(const std::vector<std::int64_t>& amounts, ResourceId resource) {
  return resource < amounts.size() ? amounts[resource] : 0;
}

}  // namespace

Holdings::Holdings(const PreparedCluster& cluster, const Pod& incoming, const std::string& resource,
                   std::string scheduler)
    : cluster_(&cluster), incoming_(&incoming), scheduler_(std::move(scheduler)) {
  const RequestTable& table = cluster.requests;
  const auto known = table.ids.find(resource);
  resource_ = known == table.ids.end() ? static_cast<ResourceId>(table.resources.size()) : known->second;
  by_shape_.reserve(table.shapes.size());
  for (const std::vector<Amount>& shape : table.shapes) {
    const auto held = std::find_if(shape.begin(), shape.end(), [&](auto& a) { return a.resource == resource_; });
    by_shape_.push_back(held == shape.end() ? 0 : held->value);
  }
}

NodeAmounts Holdings::On(std::uint32_t node) const {
  const PreparedNode& prepared = cluster_->nodes[node];
  NodeAmounts amounts;
  amounts.allocatable = ValueAt(prepared.allocatable, resource_);
  amounts.free = WrappingSubtract(amounts.allocatable, ValueAt(prepared.requested, resource_));
  amounts.free = WrappingSubtract(amounts.free, PromisedOn(node));
  const std::int64_t priority = PriorityOf(*incoming_);
  for (auto pod = prepared.pods.rbegin(); pod != prepared.pods.rend() && pod->priority < priority; ++pod)
    amounts.freeable = WrappingAdd(amounts.freeable, HeldBy(*pod));
  return amounts;
}

std::int64_t Holdings::PromisedOn(std::uint32_t node) const {
  std::int64_t sum = 0;
  const auto promised = cluster_->promised.find(node);
  if (promised == cluster_->promised.end()) return sum;
  for (const PreparedPod& pod : promised->second)
    if (KeepsPromise(pod, *incoming_, scheduler_)) sum = WrappingAdd(sum, HeldBy(pod));
  return sum;
}

}  // namespace podium
