#include "feasibility/bound_request.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace podium {
namespace {

void Add(ResourceList& sum, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) sum[name] += amount;
}

void Raise(ResourceList& peak, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [entry, is_new] = peak.try_emplace(name, amount);
    if (!is_new) entry->second = std::max(entry->second, amount);
  }
}

bool HasPodLevelAmount(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// request(container, is_init) is what one container counts with.
template <typename Request>
ResourceList TotalOf(const PodSpec& spec, Request request) {
  ResourceList total;
  for (const Container& container : spec.containers) Add(total, request(container, false));
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : spec.init_containers) {
    const ResourceList own = request(container, true);
    ResourceList beside = sidecars;
    Add(beside, own);
    Raise(peak, beside);
    if (!container.restart_always) continue;
    Add(total, own);
    sidecars = std::move(beside);
  }
  Raise(total, peak);
  return total;
}

void Replace(ResourceList& total, const ResourceList& pod_level) {
  for (const auto& [name, amount] : pod_level)
    if (HasPodLevelAmount(name)) total[name] = amount;
}

const ReportedResources* ReportOf(const SchedulingStatus& status, const std::string& container) {
  for (const ContainerReport& report : status.containers)
    if (report.name == container) return &report.resources;
  return nullptr;
}

// --- until 1.36 -----------------------------------------------------------------------------------------------------

ResourceList LargestFigure(const ResourceList& wish, const ReportedResources& reported, bool infeasible) {
  ResourceList largest = infeasible ? ResourceList{} : wish;
  if (reported.requests) Raise(largest, *reported.requests);
  if (reported.allocated) Raise(largest, *reported.allocated);
  return largest;
}

ResourceList HeldByContainer(const PodSpec& spec, const SchedulingStatus& status, ResizeRule rule) {
  const auto request = [&](const Container& container, bool is_init) {
    const ReportedResources* reported = ReportOf(status, container.name);
    if (reported == nullptr || !reported->has_resources || (is_init && !container.restart_always))
      return container.requests;
    return LargestFigure(container.requests, *reported, status.resize_infeasible);
  };
  ResourceList total = TotalOf(spec, request);
  ResourceList pod_level = spec.pod_requests;
  if (rule == ResizeRule::kByContainerAndPodTotal && status.pod.has_resources) {
    ResourceList largest = LargestFigure(spec.pod_requests, status.pod, status.resize_infeasible);
    for (auto& [name, amount] : pod_level) amount = largest[name];  // what only the status names does not count
  }
  Replace(total, pod_level);
  Add(total, spec.overhead);
  return total;
}

// --- since 1.37 -----------------------------------------------------------------------------------------------------

ResourceList AllocatedFigure(const Container& container, const ReportedResources* reported, bool infeasible) {
  if (reported != nullptr && reported->allocated) return *reported->allocated;
  return infeasible ? ResourceList{} : container.requests;
}

struct Totals {
  ResourceList allocated;
  ResourceList actual;
};

Totals ReportedTotals(const PodSpec& spec, const SchedulingStatus& status) {
  if (status.pod.allocated && status.pod.requests) return {*status.pod.allocated, *status.pod.requests};
  const auto allocated = [&](const Container& container, bool) {
    return AllocatedFigure(container, ReportOf(status, container.name), status.resize_infeasible);
  };
  const auto actual = [&](const Container& container, bool is_init) {
    const ReportedResources* reported = ReportOf(status, container.name);
    return reported != nullptr && reported->requests ? *reported->requests : allocated(container, is_init);
  };
  return {TotalOf(spec, allocated), TotalOf(spec, actual)};
}

bool NamesPodLevelAmount(const ResourceList& requests) {
  return std::any_of(requests.begin(), requests.end(), [](auto& entry) { return HasPodLevelAmount(entry.first); });
}

ResourceList HeldByTotals(const PodSpec& spec, const SchedulingStatus& status) {
  const auto [allocated, actual] = ReportedTotals(spec, status);
  ResourceList total = allocated;
  Raise(total, actual);
  if (!status.resize_infeasible) Raise(total, TotalOf(spec, [](auto& container, bool) { return container.requests; }));
  if (NamesPodLevelAmount(spec.pod_requests))
    Replace(total, status.pod.has_resources ? LargestFigure(spec.pod_requests, status.pod, status.resize_infeasible)
                                            : spec.pod_requests);
  Add(total, spec.overhead);
  return total;
}

}  // namespace

ResourceList SpecRequest(const PodSpec& spec) {
  ResourceList total = TotalOf(spec, [](const Container& container, bool) { return container.requests; });
  Replace(total, spec.pod_requests);
  Add(total, spec.overhead);
  return total;
}

ResourceList HeldRequest(const PodSpec& spec, const SchedulingStatus& status, ResizeRule rule) {
  if (status.containers.empty() && status.pod == ReportedResources{} && !status.resize_infeasible)
    return SpecRequest(spec);
  return rule == ResizeRule::kByTotals ? HeldByTotals(spec, status) : HeldByContainer(spec, status, rule);
}

}  // namespace podium
