// Feasibility reports as JSON: one shape for the command line and the service. Keys are only ever added
// (docs/feasibility.md describes them).
#pragma once

#include <string>
#include <vector>

#include "podium/outlook.h"
#include "wire/json.h"

namespace podium {

// One FeasibilityReport object: what `outlook` says about `pod`.
void WriteOutlook(JsonWriter& json, const Outlook& outlook, const Pod& pod);

// The members of such an object, apiVersion and kind first, into one that is open: for callers with more to say.
void WriteOutlookMembers(JsonWriter& json, const Outlook& outlook, const Pod& pod);

// One object. `nodes`: of the snapshot that was evaluated, which the steps' positions are in.
void WriteWorkload(JsonWriter& json, const WorkloadReport& report, const Table<NodeState>& nodes);

// An array of objects, one for each pool and resource.
void WriteGpuStock(JsonWriter& json, const std::vector<GpuStock>& stock);

// WriteOutlook as a document of its own.
std::string OutlookJson(const Outlook& outlook, const Pod& pod);

}  // namespace podium
