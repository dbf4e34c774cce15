// Where a unit is less than a device, an eviction does not free a device.
// Source: NVIDIA k8s-device-plugin and gpu-feature-discovery (docs of their node labels).
#include "core/text.h"
#include "feasibility/outlook.h"
#include "feasibility/request.h"

namespace podium {
namespace {

std::string LabelOf(const Node& node, const std::string& key) {
  const auto label = node.labels.find(key);
  return label == node.labels.end() ? std::string() : label->second;
}

// "each shared by 4 (time-slicing)", "MIG slices"; empty: nothing says that it is less than a device.
std::string HiddenSharing(const Node& node, const std::string& resource) {
  if (!resource.starts_with("nvidia.com/")) return "";
  const std::string replicas = LabelOf(node, "nvidia.com/gpu.replicas");
  const std::string strategy = LabelOf(node, "nvidia.com/gpu.sharing-strategy");
  const bool has_strategy = !strategy.empty() && strategy != "none";
  const bool has_replicas = !replicas.empty() && replicas != "0" && replicas != "1";
  if (has_replicas) return "shares of a device (" + Quoted(replicas) + " of each)";
  if (has_strategy) return "shares of a device (" + Quoted(strategy) + ')';
  const bool sliced = LabelOf(node, "nvidia.com/gpu.product").find("-MIG-") != std::string::npos;
  return sliced ? "MIG slices of a device" : "";
}

std::string WarningOf(const GpuRequest& gpu, const Node& node) {
  if (gpu.unit == GpuUnit::kSlice)
    return "an eviction frees slices of a device (" + gpu.resource + "), never a whole device";
  if (gpu.unit == GpuUnit::kShared)
    return "an eviction frees shares of a device (" + gpu.resource + "); others go on using the same device";
  const std::string hidden = HiddenSharing(node, gpu.resource);
  if (hidden.empty()) return "";
  return gpu.resource + " on " + node.name + " are " + hidden +
         ", as its labels say: an eviction frees no whole device";
}

}  // namespace

std::vector<std::string> ShareWarnings(const FeasibilityReport& report, const std::optional<PreemptionPlan>& plan,
                                       const Pod& incoming, const OutlookOptions& options) {
  std::vector<std::string> warnings;
  if (!plan) return warnings;
  const Node& node = report.nodes.rows()[plan->node]->value.node;
  for (const GpuRequest& gpu : EffectiveGpuRequest(*incoming.spec, options.gpus)) {
    std::string warning = WarningOf(gpu, node);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace podium
