// A preemptible pod that asks for more GPUs than it may hold. Units do not convert, so each has its own limit.
#include <array>

#include "feasibility/request.h"
#include "rules/catalog.h"
#include "rules/wording.h"

namespace podium {
namespace {

struct Unit {
  GpuUnit unit;
  std::string_view setting;
  std::string_view one;
  std::string_view many;
};
constexpr std::array<Unit, 3> kUnits = {{{GpuUnit::kDevice, "limit", "device", "devices"},
                                         {GpuUnit::kSlice, "sliceLimit", "MIG slice", "MIG slices"},
                                         {GpuUnit::kShared, "sharedLimit", "shared replica", "shared replicas"}}};

std::string Counted(std::int64_t count, const Unit& unit) {
  if (count == 0) return "no " + std::string(unit.one);
  return "at most " + std::to_string(count) + " " + std::string(count == 1 ? unit.one : unit.many);
}

// A pod may have thousands of containers and of GPU resources; the message is for people, and is cut anyway. The
// explanation must stay linear in the size of the pod: one review may not hold up the others.
constexpr std::size_t kTermsShown = 8;
constexpr std::size_t kResourcesShown = 3;

// Quantities of one resource over some containers, with the sum written out: "decode 1 + align 1". Cheap to copy.
class Sum {
 public:
  explicit Sum(const std::string& resource) : resource_(resource) {}

  void Add(const Container& container) {
    const bool requested = container.requests.contains(resource_);  // a missing request is its limit
    const ResourceList& amounts = requested ? container.requests : container.limits;
    if (const auto found = amounts.find(resource_); found != amounts.end()) Add(container.name, found->second);
  }
  void Add(std::string_view name, Quantity amount) {
    if (amount == Quantity()) return;
    total_ += amount;
    if (++terms_ > kTermsShown) return;
    text_ += (terms_ > 1 ? " + " : "") + std::string(name) + " " + FormatQuantity(amount);
  }
  [[nodiscard]] std::int64_t units() const { return total_.CeilUnits(); }
  [[nodiscard]] std::string Text() const {
    return terms_ > kTermsShown ? text_ + " + " + std::to_string(terms_ - kTermsShown) + " more" : text_;
  }

 private:
  const std::string& resource_;
  Quantity total_;
  std::size_t terms_ = 0;
  std::string text_;
};

// Which containers the count comes from: all that run together, or the peak while the init containers run.
std::string Arithmetic(const PodSpec& spec, const GpuRequest& request) {
  Sum together(request.resource);
  for (const Container& container : spec.containers) together.Add(container);
  Sum sidecars(request.resource);
  std::string peak;
  for (const Container& container : spec.init_containers) {
    Sum running = sidecars;
    running.Add(container);
    if (running.units() == request.count) peak = "init containers: " + running.Text();
    if (!container.restart_always) continue;
    sidecars.Add(container);
    together.Add(container);
  }
  if (together.units() == request.count || peak.empty()) return "containers: " + together.Text();
  return peak;
}

// "2 nvidia.com/gpu (containers: decode 1 + align 1)"; several resources of one unit are joined.
std::string Asked(const RuleInput& in, GpuUnit unit) {
  std::string out;
  std::size_t resources = 0;
  for (const GpuRequest& request : *in.gpus) {
    if (request.unit != unit || ++resources > kResourcesShown) continue;
    if (!out.empty()) out += " and ";
    out += std::to_string(request.count) + " " + request.resource + " (" + Arithmetic(in.pod->spec, request) + ")";
  }
  if (resources > kResourcesShown) out += " and " + std::to_string(resources - kResourcesShown) + " more GPU resources";
  return out;
}

// Where the class comes from when the user cannot see it in the object.
std::string Origin(const RuleInput& in) {
  if (in.after->class_name == in.pod_class->name) return {};
  const bool of_type = in.workload_type != nullptr && in.workload_type->priority_class == in.pod_class->name;
  return of_type ? " (which its pods are given)" : " (the global default, as no class is set)";
}

std::string Alternatives(const RuleInput& in) {
  std::vector<std::string_view> names = in.classes.Names();
  std::erase_if(names, [&](std::string_view name) { return in.classes.TierOf(name) == Tier::kPreemptible; });
  return names.empty() ? std::string() : ", or a class that is not preemptible (" + ListNames(names) + ")";
}

std::string Fix(const RuleInput& in, std::int64_t limit) {
  const std::string own = limit == 0 ? "use none" : "use " + std::to_string(limit) + " per pod";
  return own + Alternatives(in) + ", or ask for an exemption";
}

}  // namespace

RuleOutput MultiGpuPreemptible(const RuleInput& in) {
  if (in.gpus->empty() || in.pod_class == nullptr) return {};
  if (in.classes.TierOf(in.pod_class->name) != Tier::kPreemptible) return {};
  RuleOutput out;
  for (const Unit& unit : kUnits) {
    const std::int64_t limit = NumberSetting(in, unit.setting);
    if (TotalOf(*in.gpus, unit.unit) <= limit) continue;
    out.AddFinding(FieldPath(*in.pod, "spec"),
                   "pod asks for " + Asked(in, unit.unit) + ", class '" + in.pod_class->name + "'" + Origin(in) +
                       " is preemptible and may hold " + Counted(limit, unit) + ": " + Fix(in, limit) +
                       ". A pod that is evicted to free one GPU gives up all of them, and starts again "
                       "only when one node has as many free");
  }
  return out;
}

}  // namespace podium
