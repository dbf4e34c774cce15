// An evaluation in a line, and its answer as text that a test can state whole.
#pragma once

#include <string>

#include "builders/clusters.h"
#include "podium/feasibility.h"

namespace podium {

// "gpu-a: Unschedulable NodeResourcesFit [Insufficient nvidia.com/gpu]"
inline std::string OutcomeText(const FeasibilityReport& report, const NodeOutcome& outcome) {
  const NodeStatus& status = report.statuses[outcome.status];
  std::string text = report.NodeName(outcome.node) + ": ";
  text += status.code == StatusCode::kUnschedulable ? "Unschedulable " : "Unresolvable ";
  text += status.plugin + " [";
  for (const std::string& reason : status.reasons) text += (text.back() == '[' ? "" : ", ") + reason;
  return text + ']';
}

// "a: batch-1 batch-2 (1 violation)", the candidates apart by "; ", the chosen ones with a star.
inline std::string CandidatesText(const FeasibilityReport& report) {
  std::string text;
  for (std::uint32_t i = 0; i < report.candidates.size(); ++i) {
    const Candidate& candidate = report.candidates[i];
    text += (text.empty() ? "" : "; ") + report.NodeName(candidate.node);
    for (const std::uint32_t chosen : report.chosen) text += chosen == i ? "*" : "";
    text += ':';
    for (const Pod* victim : candidate.victims) text += ' ' + victim->name;
    if (candidate.budget_violations > 0) text += " (" + std::to_string(candidate.budget_violations) + " violating)";
  }
  return text;
}

inline std::vector<std::string> RefusedText(const FeasibilityReport& report) {
  std::vector<std::string> texts;
  for (const NodeOutcome& outcome : report.refused) texts.push_back(OutcomeText(report, outcome));
  return texts;
}

inline EvaluateOptions Version(std::int32_t minor) { return {.version = {1, minor}}; }

}  // namespace podium
