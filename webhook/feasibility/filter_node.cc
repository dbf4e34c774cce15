// Filters that look at the node alone.
#include <algorithm>
#include <array>
#include <utility>

#include "feasibility/filters.h"
#include "feasibility/node_match.h"

namespace podium {

// Source: plugins/nodeunschedulable.
FilterResult FilterNodeUnschedulable(const Overlay& node) {
  static const Taint taint = {"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  if (!node.labels().unschedulable || Tolerates(node.cycle().spec->tolerations, taint)) return {};
  return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kUnschedulable)};
}

// Source: plugins/nodename. A pod that is bound is never tried; a what-if may still ask for one node by name.
FilterResult FilterNodeName(const Overlay& node) {
  const std::string& wanted = *node.cycle().pod->node_name;
  if (wanted.empty() || wanted == node.labels().name) return {};
  return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kNodeName)};
}

// Source: plugins/tainttoleration.
FilterResult FilterTaints(const Overlay& node) {
  if (ToleratesTaintsOf(*node.cycle().spec, node.labels())) return {};
  return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kTaint)};
}

// Source: plugins/nodeaffinity.
FilterResult FilterNodeAffinity(const Overlay& node) {
  if (AcceptsLabelsOf(*node.cycle().spec, node.labels())) return {};
  return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kNodeAffinity)};
}

// Source: plugins/nodedeclaredfeatures, component-helpers/nodedeclaredfeatures. Since 1.36.
FilterResult FilterFeatures(const Overlay& node) {
  const NeededFeatures& needs = node.cycle().spec->needs;
  const std::array<std::pair<bool, std::string_view>, 3> features = {{
      {needs.restart_all_containers, "RestartAllContainersOnContainerExits"},
      {needs.user_namespace_on_host_net, "UserNamespacesHostNetworkSupport"},
      {needs.bind_mount_options, "VolumeBindMountOptions"},
  }};
  const std::vector<std::string>& declared = node.labels().declared_features;
  const auto known = static_cast<std::size_t>(node.cycle().cluster->rules.needed_features);
  for (std::size_t i = 0; i < known; ++i)
    if (features[i].first && std::find(declared.begin(), declared.end(), features[i].second) == declared.end())
      return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kFeatures)};
  return {};
}

}  // namespace podium
