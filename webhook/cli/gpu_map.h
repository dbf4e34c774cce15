// The nodes of a verdict, drawn: one row for each node, one cell for each GPU.
#pragma once

#include <cstddef>
#include <string>

#include "cli/layout.h"
#include "podium/outlook.h"

namespace podium {

struct GpuMapOptions {
  TableStyle style = {};
  std::size_t most_nodes = 10;
};

// Rows and a legend, two blanks at the beginning of each line; empty when there is no `room`. The nodes that matter
// most come first: where the pod would go, where it could, then by the units that could be free.
//   > gpu-b  B*B*I .   4 allocatable, 1 free, 2 freeable
std::string GpuMap(const Outlook& outlook, const GpuMapOptions& options);

}  // namespace podium
