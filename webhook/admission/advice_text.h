// A feasibility report in one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "podium/feasibility.h"
#include "podium/outlook.h"

namespace podium {

// Verdicts that say "no" whatever the scheduler may do: what `advice: enforce` refuses.
constexpr bool IsRefusable(Feasibility verdict) {
  return verdict == Feasibility::kPreemptionCannotHelp || verdict == Feasibility::kShapeNeverFits;
}

struct AdviceFacts {
  const Pod& pod;
  const FeasibilityReport& report;
  const std::optional<PreemptionPlan>& plan;
  const std::optional<Room>& room;
  std::int64_t replicas = 1;
};

// "podium: fits after evicting 2 pods on gpu-7 (nlp-batch/embed-1, ...), up to 300 s"; at most 120 bytes. Empty when
// there is nothing to warn of. Victims are named only where they are in the pod's own namespace: its author need not be
// allowed to see others.
std::string WarningText(const AdviceFacts& facts);

// Requires: IsRefusable. The arithmetic, and what the scheduler would say.
std::string RefusalText(const AdviceFacts& facts);

}  // namespace podium
