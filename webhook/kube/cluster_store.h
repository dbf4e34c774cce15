// What is watched of the cluster, and the snapshot that everybody reads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell.h"
#include "core/mutex.h"
#include "core/snapshot_builder.h"
#include "kube/object_sink.h"
#include "podium/ports.h"

namespace podium {

enum class Need { kRequired, kOptional };

// A resource of the API: "pods", "deployments.apps". One that Podium does not know is taken as a custom resource that
// makes pods (spec.replicas, spec.selector, spec.template).
struct WatchedResource {
  std::string resource;
  Need need = Need::kRequired;  // without an optional one there is a snapshot all the same
};

// Thread-safe: each sink belongs to the one thread that watches its resource, everything else may be called by anybody.
// Decoding happens outside the lock. An object that cannot be read is left out (also the version held before) and
// counted in its SourceState.
//
//   ClusterStore store({{"pods"}, {"nodes"}, {"jobs.batch", Need::kOptional}}, clock);
//   Watch("pods", *store.Sink("pods"));
//   if (auto snapshot = store.Current()) ...
class ClusterStore final : public SnapshotSource {
 public:
  static constexpr std::chrono::milliseconds kPublishInterval{200};

  ClusterStore(const std::vector<WatchedResource>& resources, const Clock& clock,
               std::chrono::milliseconds publish_interval = kPublishInterval);
  ~ClusterStore() override;
  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  // Null: it is none of the constructor's resources. Lives as long as the store.
  [[nodiscard]] ObjectSink* Sink(std::string_view resource) const;

  // Null until every required resource is synced.
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> Current() const override { return published_.Load(); }

  // Waits for a snapshot of another generation than `known`. Null: `stop` was requested first.
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> WaitForNext(std::uint64_t known,
                                                                   const std::stop_token& stop) const;

  // The required resources whose first list is not complete.
  [[nodiscard]] std::vector<std::string> Unsynced() const;

  // A change is published at once when the last publication is older than the interval. What came sooner waits for the
  // next change, or for this: call it once in an interval.
  void PublishDue(TimePoint now);

 private:
  template <typename Kind>
  class KindSink;

  std::unique_ptr<ObjectSink> MakeSink(const std::string& resource);
  void Happened(TimePoint now) PODIUM_REQUIRES(mutex_);
  void Publish(TimePoint now) PODIUM_REQUIRES(mutex_);
  [[nodiscard]] bool IsSynced() const PODIUM_REQUIRES(mutex_);
  [[nodiscard]] bool IsDue(TimePoint now) const PODIUM_REQUIRES(mutex_);

  const Clock& clock_;
  const std::chrono::milliseconds publish_interval_;
  mutable Mutex mutex_;
  SnapshotBuilder builder_ PODIUM_GUARDED_BY(mutex_);
  std::map<std::string, SourceState> states_ PODIUM_GUARDED_BY(mutex_);
  std::uint64_t generation_ PODIUM_GUARDED_BY(mutex_) = 0;
  TimePoint published_at_ PODIUM_GUARDED_BY(mutex_){};
  bool changed_ PODIUM_GUARDED_BY(mutex_) = false;
  Cell<ClusterSnapshot> published_;
  mutable std::condition_variable_any published_next_;  // with mutex_
  // Constant after construction.
  std::map<std::string, Need, std::less<>> needs_;
  std::map<std::string, std::unique_ptr<ObjectSink>, std::less<>> sinks_;
};

}  // namespace podium
