// How much of one resource is held on a node, and by whom, as one incoming pod sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feasibility/prepared_cluster.h"

namespace podium {

struct NodeAmounts {
  std::int64_t allocatable = 0;
  std::int64_t free = 0;      // neither held nor promised to a pod of at least this priority; negative: overcommitted
  std::int64_t freeable = 0;  // held by pods of lower priority
};

// Amounts as the scheduler counts them: CPU in milli-units, everything else in whole units.
class Holdings {
 public:
  // Requires: `cluster`, `incoming` outlive it.
  Holdings(const PreparedCluster& cluster, const Pod& incoming, const std::string& resource, std::string scheduler);

  [[nodiscard]] NodeAmounts On(std::uint32_t node) const;
  [[nodiscard]] std::int64_t HeldBy(const PreparedPod& pod) const { return by_shape_[pod.shape]; }

 private:
  [[nodiscard]] std::int64_t PromisedOn(std::uint32_t node) const;

  const PreparedCluster* cluster_;
  const Pod* incoming_;
  std::string scheduler_;
  ResourceId resource_ = 0;
  std::vector<std::int64_t> by_shape_;
};

}  // namespace podium
