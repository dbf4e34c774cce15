// The live half of `podium serve`: the watched cluster, and the replica's share in writing budgets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/advisor.h"
#include "core/cell.h"
#include "kube/cluster_access.h"
#include "kube/cluster_cache.h"
#include "podium/admission.h"
#include "podium/feasibility.h"
#include "podium/policy.h"
#include "podium/ports.h"
#include "podium/result.h"
#include "serving/metrics.h"

namespace podium {

class Log;

enum class BudgetMode { kOff, kWrite };

struct LiveOptions {
  BudgetMode budgets = BudgetMode::kOff;
  std::string own_namespace;  // where the Lease is
  std::string identity;       // of this process alone, also after a restart
  std::vector<WatchRow> watches;
  std::optional<SchedulerVersion> scheduler_version;  // whose rules advice goes by; absent: the API server's
};

// Thread-safe except where said. What it tells goes to the log.
class LiveCluster {
 public:
  // Reads the access's files and begins to list and watch; does not wait for an answer. `policy` and `log` must outlive
  // it.
  static Result<std::unique_ptr<LiveCluster>> Connect(const ClusterAccess& access, const LiveOptions& options,
                                                      const Cell<Policy>& policy, Log& log);
  ~LiveCluster();  // Stop()
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  [[nodiscard]] const SnapshotSource& snapshots() const;
  // Each snapshot once more, prepared for advice: some milliseconds later.
  [[nodiscard]] const Cell<Advisor>& advisors() const;
  // For comparison with what the scheduler will do.
  void Remember(const AdmissionRequest& request, const Decision& decision, TimePoint now);
  [[nodiscard]] std::vector<std::string> Unsynced() const;
  [[nodiscard]] ClusterFigures Figures() const;
  // What is new and worth a line in the log: the first sync, classes that drift. From one thread, about once a second.
  void Tend();
  // Ends the writing of budgets and gives the lease back; the view stays live.
  void StopWriting();
  // StopWriting(), and ends all threads.
  void Stop();

 private:
  struct Impl;
  explicit LiveCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "7 classes, 3 namespaces, ..."
std::string Describe(const ClusterSnapshot& snapshot);

}  // namespace podium
