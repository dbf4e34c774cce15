// A feasibility report for people.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "cli/layout.h"
#include "podium/outlook.h"

namespace podium {

// "  label       text", wrapped; the text's column is the same for all. The text is made Printable.
std::string LabelledLine(std::string_view label, std::string_view text, const TableStyle& style);

// "cannot fit: ...": the verdict in words, with the node.
std::string VerdictText(const FeasibilityReport& report);

// "3h12m", "12d", "45s".
std::string DurationText(std::chrono::seconds duration);

// "inference-batch (1000)", "no class (0)".
std::string ClassText(const Pod& pod);

// "2 nvidia.com/gpu, 1 amd.com/gpu".
std::string GpuText(const std::vector<GpuRequest>& gpus);

struct OutlookTextOptions {
  TableStyle style = {};
  std::size_t most_nodes = 10;
  std::size_t most_lines = 5;  // of each list of reasons and changes
};

// Verdict, victims and what they cost, the GPUs by node, reasons counted, what would help, the scheduler's own words.
std::string OutlookText(const Outlook& outlook, const OutlookTextOptions& options);

// How many replicas fit, and what becomes of the victims.
std::string WorkloadText(const WorkloadReport& report, const Table<NodeState>& nodes,
                         const OutlookTextOptions& options);

}  // namespace podium
