// Whose pods a caller may know the names of, and a report without the others. Pure but for what LookUpSight asks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podium/outlook.h"
#include "podium/ports.h"

namespace podium {

// Namespaces whose pods somebody may list.
struct Sight {
  bool everywhere = false;
  std::set<std::string> namespaces;
  [[nodiscard]] bool Sees(const std::string& namespace_name) const {
    return everywhere || namespaces.contains(namespace_name);
  }
};

struct SightLimits {
  std::size_t namespaces = 12;
  std::function<bool()> is_over = {};  // whoever waits has waited long enough; empty: never
};

// Asks "list pods" for all namespaces at once and, where the answer is no, for each of `wanted`. What is beyond the
// limits, or cannot be asked for, stays unseen. An error is one of `reviewer` to the first question, and no sight at
// all.
Result<Sight> LookUpSight(AccessReviewer& reviewer, const Caller& caller, const std::set<std::string>& wanted,
                          const SightLimits& limits);

// Stands for the namespace and the name of a pod that may not be seen; no object can be called so.
inline constexpr std::string_view kHiddenName = "(hidden)";

// Values whose pods are copies where names had to go. The pointers live as long as `stand_ins` and the original.
struct SeenOutlook {
  Outlook outlook;
  std::vector<std::shared_ptr<const Pod>> stand_ins;
};
struct SeenWorkload {
  WorkloadReport report;
  std::vector<std::shared_ptr<const Pod>> stand_ins;
};

// Every namespace that a pod of the report is in.
std::set<std::string> NamespacesIn(const Outlook& outlook);
std::set<std::string> NamespacesIn(const WorkloadReport& report);

// The same report with kHiddenName for the namespace and the name of every pod that `sight` does not see: victims,
// candidates, lost promises, displaced pods, and those that a change names. Numbers, GPUs, classes, priorities and
// times stay, and so do the names of nodes: who may create pods is told where they would go.
SeenOutlook SeenBy(const Sight& sight, const Outlook& outlook);
SeenWorkload SeenBy(const Sight& sight, const WorkloadReport& report);

}  // namespace podium
