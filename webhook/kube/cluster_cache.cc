#include "kube/cluster_cache.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};  // while somebody waits for the first sync

std::vector<WatchedResource> ResourcesOf(const std::vector<WatchRow>& watches) {
  std::vector<WatchedResource> resources;
  resources.reserve(watches.size());
  for (const WatchRow& row : watches) resources.push_back({row.resource, row.need});
  return resources;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

std::vector<WatchRow> AllWatches() {
  return {
      {"namespaces", "/api/v1/namespaces", "Namespace"},
      {"nodes", "/api/v1/nodes", "Node"},
      {"pods", "/api/v1/pods", "Pod"},
      {"resourcequotas", "/api/v1/resourcequotas", "ResourceQuota"},
      {"replicationcontrollers", "/api/v1/replicationcontrollers", "ReplicationController"},
      {"deployments.apps", "/apis/apps/v1/deployments", "Deployment"},
      {"statefulsets.apps", "/apis/apps/v1/statefulsets", "StatefulSet"},
      {"replicasets.apps", "/apis/apps/v1/replicasets", "ReplicaSet"},
      {"horizontalpodautoscalers.autoscaling", "/apis/autoscaling/v2/horizontalpodautoscalers",
       "HorizontalPodAutoscaler"},
      {"poddisruptionbudgets.policy", "/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudget"},
      {"priorityclasses.scheduling.k8s.io", "/apis/scheduling.k8s.io/v1/priorityclasses", "PriorityClass"},
  };
}

std::vector<WatchRow> WatchesOf(const std::vector<std::string_view>& resources) {
  std::vector<WatchRow> rows;
  for (WatchRow& row : AllWatches())
    if (std::find(resources.begin(), resources.end(), row.resource) != resources.end()) rows.push_back(std::move(row));
  return rows;
}

Result<WatchRow> CustomWatch(const std::string& name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string::npos ? first : name.find('.', first + 1);
  const bool whole = second != std::string::npos && first > 0 && second > first + 1 && second + 1 < name.size();
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  if (!whole || !plain || name[first + 1] != 'v')
    return Error{ErrorKind::kInvalidInput, "found " + Quoted(name, 100) +
                                               "; wanted the plural, the version and the group of a custom resource: "
                                               "rollouts.v1alpha1.argoproj.io"};
  const std::string plural = name.substr(0, first);
  const std::string version = name.substr(first + 1, second - first - 1);
  const std::string group = name.substr(second + 1);
  return WatchRow{plural + "." + group, "/apis/" + group + "/" + version + "/" + plural, "", Need::kOptional};
}

Result<std::vector<WatchRow>> WatchesWith(std::vector<WatchRow> rows, const std::vector<std::string>& custom) {
  for (const std::string& name : custom) {
    Result<WatchRow> row = CustomWatch(name);
    if (!row) return row.error().WithContext("--custom-workload");
    const auto same = [&](const WatchRow& known) { return known.resource == row->resource; };
    if (std::none_of(rows.begin(), rows.end(), same)) rows.push_back(*std::move(row));
  }
  return rows;
}

namespace {

std::vector<WatchFigures> MissingOf(const ClusterCache& cache) {
  const std::vector<std::string> unsynced = cache.Unsynced();
  std::vector<WatchFigures> missing;
  for (WatchFigures& each : cache.figures())
    if (std::find(unsynced.begin(), unsynced.end(), each.resource) != unsynced.end())
      missing.push_back(std::move(each));
  return missing;
}

bool HasFailedTwice(const WatchFigures& watch) { return watch.counters.Failures() >= 2; }

Error WhyMissing(const std::vector<WatchFigures>& missing) {
  std::vector<std::string> problems;
  for (const WatchFigures& each : missing) {
    const std::string& why = each.counters.last_error;
    problems.push_back("cannot list " + each.resource + ": " + (why.empty() ? "no answer in time" : why));
  }
  return Error{ErrorKind::kUnavailable, JoinLines(problems)};
}

}  // namespace

struct ClusterCache::Impl {
  Impl(ApiClient& api, const Clock& clock, const std::vector<WatchRow>& watches)
      : store(ResourcesOf(watches), clock),
        publisher([this, &clock](const std::stop_token& stop) { Publish(clock, stop); }) {
    for (const WatchRow& row : watches) {
      names.push_back(row.resource);
      reflectors.push_back(std::make_unique<Reflector>(api, *store.Sink(row.resource),
                                                       ReflectorOptions{.path = row.path, .object_kind = row.kind}));
    }
  }

  void Publish(const Clock& clock, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, ClusterStore::kPublishInterval, [&] { return stop.stop_requested(); })) {
      try {
        store.PublishDue(clock.Now());
      } catch (const std::exception&) {  // no memory: the last snapshot stays, and the next turn tries again
      }
    }
  }

  ClusterStore store;
  std::vector<std::string> names;                      // of reflectors, in the same order
  std::vector<std::unique_ptr<Reflector>> reflectors;  // use the store
  std::jthread publisher;
};

ClusterCache::ClusterCache(ApiClient& api, const Clock& clock, const std::vector<WatchRow>& watches)
    : impl_(std::make_unique<Impl>(api, clock, watches)) {}

ClusterCache::~ClusterCache() { Stop(); }

const SnapshotSource& ClusterCache::snapshots() const { return impl_->store; }

std::shared_ptr<const ClusterSnapshot> ClusterCache::WaitForNext(std::uint64_t known,
                                                                 const std::stop_token& stop) const {
  return impl_->store.WaitForNext(known, stop);
}

std::vector<std::string> ClusterCache::Unsynced() const { return impl_->store.Unsynced(); }

bool ClusterCache::WaitSynced(std::chrono::milliseconds at_most) const {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (impl_->store.Current() == nullptr) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kLookEvery);  // a command that has nothing else to do; the server never waits here
  }
  return true;
}

std::vector<WatchFigures> ClusterCache::figures() const {
  std::vector<WatchFigures> figures;
  for (std::size_t i = 0; i < impl_->names.size(); ++i)
    figures.push_back({impl_->names[i], impl_->reflectors[i]->counters()});
  return figures;
}

void ClusterCache::Stop() {
  impl_->publisher.request_stop();
  for (const auto& reflector : impl_->reflectors) reflector->BeginStop();  // so that none is waited for in turn
  for (const auto& reflector : impl_->reflectors) reflector->Stop();
}

Result<std::shared_ptr<const ClusterSnapshot>> TakeSnapshot(ApiClient& api, const Clock& clock,
                                                            const std::vector<WatchRow>& watches,
                                                            std::chrono::milliseconds at_most) {
  std::vector<WatchRow> all = watches;
  for (WatchRow& row : all) row.need = Need::kRequired;
  ClusterCache cache(api, clock, all);
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!cache.WaitSynced(kLookEvery)) {
    const std::vector<WatchFigures> missing = MissingOf(cache);
    const bool hopeless = !missing.empty() && std::all_of(missing.begin(), missing.end(), HasFailedTwice);
    if (hopeless || std::chrono::steady_clock::now() >= until) return WhyMissing(missing);
  }
  return cache.snapshots().Current();
}

}  // namespace podium
