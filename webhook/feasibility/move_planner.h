// Which pods would have to leave a node before a pod fits there.
#pragma once

#include <cstdint>
#include <vector>

#include "feasibility/change_search.h"
#include "feasibility/cycle.h"
#include "feasibility/holdings.h"

namespace podium {

// The incoming pod fits on `node` once `pods` are away.
struct Evacuation {
  std::uint32_t node = 0;
  std::vector<const PreparedPod*> pods;
};

// Pods of any priority may leave, but not those of DaemonSets and static ones: they stay or come back.
class MovePlanner {
 public:
  // Requires: `input` outlives it.
  explicit MovePlanner(const SearchInput& input);

  // One for each node where it is possible, fewest pods first; of equal ones in the order of nodes.
  [[nodiscard]] std::vector<Evacuation> Run() const;

 private:
  using Pods = std::vector<const PreparedPod*>;

  [[nodiscard]] Pods PodsInTheWay(std::uint32_t node, Overlay& scratch) const;
  [[nodiscard]] Pods LargestHolders(std::uint32_t node, Pods movable) const;
  [[nodiscard]] std::vector<std::int64_t> MissingOn(std::uint32_t node) const;
  [[nodiscard]] std::int64_t HeldBy(const PreparedPod& pod, std::size_t demand) const;
  [[nodiscard]] double ShareOf(const PreparedPod& pod, const std::vector<std::int64_t>& missing) const;

  const SearchInput* input_;
  Cycle cycle_;
  std::vector<Holdings> holdings_;  // by demand
};

}  // namespace podium
