// The class that an author chose, and whether it may stand.
#pragma once

#include <cstdint>
#include <optional>

#include "rules/catalog.h"

namespace podium {

// The pod has a class that is not the global default. (The default was filled in by the API server; nobody chose it.)
bool IsChosen(const RuleInput& in);

// The value of the class that is there now; nothing for one that does not exist. A Pod's number was filled in by the
// API server from the live class, which may be one (the cluster's own default, say) that we do not know of. Requires:
// there is a class.
std::optional<std::int64_t> ValueOfClass(const RuleInput& in);

// The author's class stands, as the workload type's `respect` has it. A class that does not exist is left for
// unknown-priority-class to refuse, and nobody takes a system component's class away.
// Requires: there is a class and a workload type. `wanted` is null when the type's own class does not exist.
bool ChoiceStands(const RuleInput& in, const PriorityClass* wanted);

}  // namespace podium
