#include "feasibility/request.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/text.h"

namespace podium {
namespace {

void Add(ResourceList& sum, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) sum[name] += amount;
}

void Raise(ResourceList& peak, const std::string& name, Quantity amount) {
  const auto [entry, is_new] = peak.try_emplace(name, amount);
  if (!is_new) entry->second = std::max(entry->second, amount);
}

Quantity AmountOf(const ResourceList& list, const std::string& name) {
  const auto entry = list.find(name);
  return entry == list.end() ? Quantity() : entry->second;
}

// An explicit request stays, also when it is zero or lower than the limit.
ResourceList RequestsOf(const Container& container) {
  ResourceList requests = container.requests;
  requests.insert(container.limits.begin(), container.limits.end());
  return requests;
}

// Names for which spec.resources.requests counts; Kubernetes ignores every other name there.
bool HasPodLevelAmount(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

}  // namespace

std::optional<GpuUnit> UnitOf(std::string_view resource, const std::vector<GpuResource>& gpus) {
  for (const GpuResource& gpu : gpus)
    if (MatchesPattern(gpu.pattern, resource)) return gpu.unit;
  return std::nullopt;
}

ResourceList EffectiveRequest(const PodSpec& spec) {
  ResourceList total;
  for (const Container& container : spec.containers) Add(total, RequestsOf(container));

  // Init containers run one after the other, each beside the sidecars listed before it. Only the resources that a
  // container names can raise the peak, so one pass over those is enough: the cost stays linear in the size of the pod.
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : spec.init_containers) {
    for (const auto& [name, amount] : RequestsOf(container)) {
      if (!container.restart_always) {
        Raise(peak, name, amount + AmountOf(sidecars, name));
        continue;
      }
      total[name] += amount;
      sidecars[name] += amount;
      Raise(peak, name, sidecars[name]);
    }
  }
  for (const auto& [name, amount] : peak) Raise(total, name, amount);

  for (const auto& [name, amount] : spec.pod_requests)
    if (HasPodLevelAmount(name)) total[name] = amount;
  Add(total, spec.overhead);
  return total;
}

std::vector<GpuRequest> EffectiveGpuRequest(const PodSpec& spec, const std::vector<GpuResource>& gpus) {
  std::vector<GpuRequest> requests;
  for (const auto& [name, amount] : EffectiveRequest(spec)) {
    const std::optional<GpuUnit> unit = UnitOf(name, gpus);
    if (unit && amount > Quantity()) requests.push_back({name, *unit, amount.CeilUnits()});
  }
  return requests;
}

std::int64_t TotalOf(const std::vector<GpuRequest>& requests, GpuUnit unit) {
  std::int64_t total = 0;
  for (const GpuRequest& request : requests) {
    if (request.unit != unit) continue;
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() - total;
    total += std::min(request.count, room);  // counts are positive; quantities are capped at the end of int64
  }
  return total;
}

}  // namespace podium
