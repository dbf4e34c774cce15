#include "feasibility/outlook.h"

#include <utility>

namespace podium {

Outlook LookAhead(const PreparedCluster& cluster, const ClusterSnapshot& snapshot, const Pod& incoming,
                  const OutlookOptions& options) {
  Outlook outlook;
  outlook.report = Evaluate(cluster, incoming, options.evaluate);
  if (outlook.report.verdict == Feasibility::kFitsAfterPreemption)
    outlook.plan = PricePlan(cluster, outlook.report, incoming, options);
  outlook.room = CountRoom(cluster, outlook.report, incoming, options);
  outlook.changes = FindChanges(cluster, snapshot, outlook.report, incoming, options);
  outlook.warnings = ShareWarnings(outlook.report, outlook.plan, incoming, options);
  for (std::string& warning : WaitWarnings(cluster, outlook.report, incoming, options))
    outlook.warnings.push_back(std::move(warning));
  return outlook;
}

}  // namespace podium
