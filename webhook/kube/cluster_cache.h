// The cluster as it is now: one watch for each resource, one snapshot for everybody.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/reflector.h"
#include "podium/ports.h"
#include "podium/result.h"

namespace podium {

// One watched resource: where the API server has it.
struct WatchRow {
  std::string resource;  // as in ClusterSnapshot::sources: "deployments.apps"
  std::string path;      // "/apis/apps/v1/deployments"
  std::string kind;      // "Deployment"; empty: not known, whatever comes is taken
  Need need = Need::kRequired;
};

// Everything Podium looks at.
std::vector<WatchRow> AllWatches();

// The rows of AllWatches with these resource names. Requires: each is one of them.
std::vector<WatchRow> WatchesOf(const std::vector<std::string_view>& resources);

// A custom resource as kubectl names it in full, "rollouts.v1alpha1.argoproj.io". It is no condition for being synced:
// its definition may come later.
Result<WatchRow> CustomWatch(const std::string& name);

// `rows` and those of `custom` that are not among them; kInvalidInput for a name that is none.
Result<std::vector<WatchRow>> WatchesWith(std::vector<WatchRow> rows, const std::vector<std::string>& custom);

struct WatchFigures {
  std::string resource;
  ReflectorCounters counters;
};

// Threads: one for each resource and one that publishes what is due. Everything may be called from any thread.
class ClusterCache {
 public:
  // `api` and `clock` must outlive it. Begins to list and watch at once.
  ClusterCache(ApiClient& api, const Clock& clock, const std::vector<WatchRow>& watches);
  ~ClusterCache();  // Stop()
  ClusterCache(const ClusterCache&) = delete;
  ClusterCache& operator=(const ClusterCache&) = delete;

  [[nodiscard]] const SnapshotSource& snapshots() const;
  // Waits for a snapshot of another generation than `known`. Null: `stop` was requested first.
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> WaitForNext(std::uint64_t known,
                                                                   const std::stop_token& stop) const;
  // The required resources whose first list is not complete yet.
  [[nodiscard]] std::vector<std::string> Unsynced() const;
  // True when everything is synced before `at_most` is over.
  [[nodiscard]] bool WaitSynced(std::chrono::milliseconds at_most) const;
  [[nodiscard]] std::vector<WatchFigures> figures() const;
  // Ends all threads; see Reflector::Stop for how long that may take. The last snapshot stays.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Lists `watches` once, also the optional ones (there is no later in which they could come), and returns the picture.
// The error says for each resource that did not come why; it comes when `at_most` is over, or before that when all that
// is missing has failed twice.
Result<std::shared_ptr<const ClusterSnapshot>> TakeSnapshot(ApiClient& api, const Clock& clock,
                                                            const std::vector<WatchRow>& watches,
                                                            std::chrono::milliseconds at_most);

}  // namespace podium
