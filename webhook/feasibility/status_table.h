// The distinct reasons why nodes were refused, and the scheduler's message about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feasibility/cycle.h"
#include "feasibility/filters.h"

namespace podium {

// Few nodes fail in a way of their own: each result is rendered once.
class StatusTable {
 public:
  StatusTable(const Cycle& cycle, std::string outside_node_set)
      : cycle_(&cycle), outside_node_set_(std::move(outside_node_set)) {}

  // The position of `failed` in statuses(). Requires: it did not pass.
  std::uint32_t Position(const FilterResult& failed);

  [[nodiscard]] const std::vector<NodeStatus>& statuses() const { return statuses_; }

 private:
  [[nodiscard]] NodeStatus Render(const FilterResult& failed) const;

  const Cycle* cycle_;
  std::string outside_node_set_;  // text of kOutsideNodeSet
  std::vector<FilterResult> results_;
  std::vector<NodeStatus> statuses_;
};

// "0/5 nodes are available: 2 Insufficient cpu, 3 Too many pods." `further` nodes count with `further_reason`.
// Source: framework/types.go (FitError.Error).
struct FurtherNodes {
  std::size_t count = 0;
  std::string reason;
};
std::string FitMessage(std::size_t nodes, const std::vector<NodeOutcome>& outcomes,
                       const std::vector<NodeStatus>& statuses, const FurtherNodes& further = {});

}  // namespace podium
