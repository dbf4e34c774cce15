#include "feasibility/changed_pod.h"

#include <algorithm>

namespace podium {
namespace {

Quantity Minus(Quantity a, Quantity b) { return Quantity::FromNano(std::max<Int128>(0, a.nano() - b.nano())); }

void Put(ResourceList& list, const std::string& resource, Quantity amount) {
  if (amount == Quantity())
    list.erase(resource);
  else
    list[resource] = amount;
}

// What it asks for afterwards.
Quantity Cap(Container& container, const std::string& resource, Quantity most) {
  const auto request = container.requests.find(resource);
  if (request == container.requests.end()) return {};
  const Quantity before = request->second;
  const Quantity after = std::min(before, most);
  const auto limit = container.limits.find(resource);
  if (limit != container.limits.end() && limit->second == before) Put(container.limits, resource, after);
  Put(container.requests, resource, after);
  return after;
}

}  // namespace

Pod WithAtMost(Pod pod, const std::string& resource, Quantity total) {
  PodSpec spec = *pod.spec;
  const auto overhead = spec.overhead.find(resource);
  if (overhead != spec.overhead.end()) total = Minus(total, overhead->second);
  if (spec.pod_requests.contains(resource)) spec.pod_requests[resource] = total;
  Quantity left = total;
  for (Container& container : spec.init_containers) {
    const Quantity kept = Cap(container, resource, left);  // an ordinary one runs beside the sidecars before it
    if (container.restart_always) left = Minus(left, kept);
  }
  for (Container& container : spec.containers) left = Minus(left, Cap(container, resource, left));
  pod.spec = std::move(spec);
  return pod;
}

}  // namespace podium
