// Where the cluster's GPUs are, and who holds them.
#pragma once

#include <string_view>
#include <vector>

#include "podium/outlook.h"

namespace podium {

// One entry for each pool and GPU resource, sorted by pool, then resource. Counted as the scheduler counts (requests of
// pods that are bound and not over), so terminating pods still hold their GPUs and what is only promised to a nominated
// pod is free. A node that holds more than it has (a device was lost) has 0 free.
//
// `pool_label` tells pools apart. Empty: of each node the first that it has of cloud.google.com/gke-nodepool,
// eks.amazonaws.com/nodegroup, kubernetes.azure.com/agentpool, karpenter.sh/nodepool, nvidia.com/gpu.product,
// node.kubernetes.io/instance-type.
std::vector<GpuStock> CountGpus(const ClusterSnapshot& snapshot, const std::vector<GpuResource>& gpus,
                                std::string_view pool_label);

}  // namespace podium
