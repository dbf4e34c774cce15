// Immutable picture of the cluster. Any number of threads may read one snapshot; nobody may change it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "podium/objects.h"

namespace podium {

using TimePoint = std::chrono::system_clock::time_point;

struct ClusterSnapshot {
  std::uint64_t generation = 0;  // grows with every published snapshot
  TimePoint taken_at{};
  std::map<std::string, PriorityClass> classes;
  std::map<std::string, Namespace> namespaces;
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::map<std::string, Quota> quotas;  // "namespace/name"
};

}  // namespace podium
