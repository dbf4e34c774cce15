#include "kube/cluster_store.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/text.h"
#include "kube/cluster_kinds.h"

namespace podium {
namespace {

struct WorkloadResource {
  std::string_view resource;
  std::string_view api_version;
  std::string_view kind;
};

constexpr std::array<WorkloadResource, 7> kWorkloadResources = {{
    {"cronjobs.batch", "batch/v1", "CronJob"},
    {"daemonsets.apps", "apps/v1", "DaemonSet"},
    {"deployments.apps", "apps/v1", "Deployment"},
    {"jobs.batch", "batch/v1", "Job"},
    {"replicasets.apps", "apps/v1", "ReplicaSet"},
    {"replicationcontrollers", "v1", "ReplicationController"},
    {"statefulsets.apps", "apps/v1", "StatefulSet"},
}};

ObjectKind BuiltInKind(std::string_view resource) {
  for (const WorkloadResource& row : kWorkloadResources)
    if (row.resource == resource) return {std::string(row.api_version), std::string(row.kind)};
  return {};
}

// Objects that could not be read: those whose name could be, and the number of the others.
struct Unreadable {
  std::set<std::string> names;
  std::size_t nameless = 0;

  [[nodiscard]] std::size_t size() const { return names.size() + nameless; }
};

}  // namespace

// Everything but the builder and the states belongs to the thread that watches the resource.
template <typename Kind>
class ClusterStore::KindSink final : public ObjectSink {
 public:
  KindSink(ClusterStore& store, std::string resource, Kind kind)
      : store_(store), resource_(std::move(resource)), kind_(std::move(kind)) {}

  void BeginList() override {
    listed_ = {};
    const MutexLock lock(store_.mutex_);
    kind_.Begin(store_.builder_);
  }

  Status ListItem(std::string_view json) override {
    const Result<JsonElement> root = Parse(json);
    if (!root) return Skip(root.error(), listed_);
    Result<typename Kind::Value> value = kind_.Read(*root);
    if (!value) return Skip(value.error(), NameOf(*root), listed_);
    const MutexLock lock(store_.mutex_);
    kind_.Put(store_.builder_, std::move(*value));
    return {};
  }

  void EndList() override {
    skipped_ = std::exchange(listed_, {});
    const TimePoint now = store_.clock_.Now();
    const MutexLock lock(store_.mutex_);
    kind_.End(store_.builder_);
    store_.states_[resource_].synced = true;
    Note(now);
  }

  void AbandonList() override {
    listed_ = {};
    const MutexLock lock(store_.mutex_);
    kind_.Abandon(store_.builder_);
  }

  Status Upsert(std::string_view json) override {
    const Result<JsonElement> root = Parse(json);
    if (!root) return Unread(Skip(root.error(), skipped_));
    Result<typename Kind::Value> value = kind_.Read(*root);
    if (!value) {
      const Result<ObjectName> name = NameOf(*root);
      const Status skipped = Skip(value.error(), name, skipped_);
      return name ? Gone(*name, skipped) : Unread(skipped);
    }
    if (!skipped_.names.empty()) Forgive(NameOf(*root));
    const TimePoint now = store_.clock_.Now();
    const MutexLock lock(store_.mutex_);
    kind_.Put(store_.builder_, std::move(*value));
    Note(now);
    return {};
  }

  Status Delete(std::string_view json) override {
    const Result<JsonElement> root = Parse(json);
    if (!root) return Unread(root.error());
    const Result<ObjectName> name = NameOf(*root);
    if (!name) return Unread(name.error());
    Forgive(name);
    return Gone(*name, {});
  }

  void Alive() override {
    const TimePoint now = store_.clock_.Now();
    const MutexLock lock(store_.mutex_);
    Note(now);
  }

 private:
  Result<JsonElement> Parse(std::string_view json) {
    if (parser_.capacity() > kKeptBytes && json.size() <= kKeptBytes) {
      parser_ = simdjson::dom::parser(kMaxJsonBytes);
      allocated_ = false;
    }
    if (!allocated_) allocated_ = parser_.allocate(kUsualBytes, kMaxJsonDepth) == simdjson::SUCCESS;
    JsonElement root;
    const simdjson::error_code code = parser_.parse(json.data(), json.size()).get(root);
    if (code == simdjson::SUCCESS) return root;
    return Error{ErrorKind::kInvalidInput, std::string("this object cannot be read: ") + simdjson::error_message(code)};
  }

  static Result<ObjectName> NameOf(JsonElement json) { return DecodeObjectName(json, ""); }
  static std::string Known(const ObjectName& name) { return NamespacedKey(name.namespace_name, name.name); }

  Error Skip(const Error& error, Unreadable& unreadable) {
    ++unreadable.nameless;
    return error.WithContext(resource_);
  }

  Error Skip(const Error& error, const Result<ObjectName>& name, Unreadable& unreadable) {
    if (!name) return Skip(error, unreadable);
    unreadable.names.insert(Known(*name));
    return error.WithContext(resource_ + ' ' + Quoted(Known(*name)));
  }

  void Forgive(const Result<ObjectName>& name) {
    if (name) skipped_.names.erase(Known(*name));
  }

  // An event came, but nothing can be done with it.
  Status Unread(Status status) {
    Alive();
    return status;
  }

  Status Gone(const ObjectName& name, Status status) {
    const TimePoint now = store_.clock_.Now();
    const MutexLock lock(store_.mutex_);
    kind_.Remove(store_.builder_, name);
    Note(now);
    return status;
  }

  void Note(TimePoint now) PODIUM_REQUIRES(store_.mutex_) {
    SourceState& state = store_.states_[resource_];
    state.last_event = now;
    state.objects = kind_.Size(store_.builder_);
    state.skipped = skipped_.size();
    store_.Happened(now);
  }

  // The parser grows with a larger object, by a multiple of its size; what a rare one needed is given back.
  static constexpr std::size_t kUsualBytes = 64 << 10;
  static constexpr std::size_t kKeptBytes = 256 << 10;

  ClusterStore& store_;
  const std::string resource_;
  const Kind kind_;
  simdjson::dom::parser parser_{kMaxJsonBytes};
  bool allocated_ = false;
  Unreadable skipped_;
  Unreadable listed_;  // of the list that is being read
};

ClusterStore::ClusterStore(const std::vector<WatchedResource>& resources, const Clock& clock,
                           std::chrono::milliseconds publish_interval)
    : clock_(clock), publish_interval_(publish_interval) {
  for (const WatchedResource& watched : resources) {
    needs_[watched.resource] = watched.need;
    states_[watched.resource] = {};
    sinks_[watched.resource] = MakeSink(watched.resource);
  }
}

ClusterStore::~ClusterStore() = default;

std::unique_ptr<ObjectSink> ClusterStore::MakeSink(const std::string& resource) {
  const auto make = [&](auto kind) -> std::unique_ptr<ObjectSink> {
    return std::make_unique<KindSink<decltype(kind)>>(*this, resource, std::move(kind));
  };
  if (resource == "pods") return make(PodKind{});
  if (resource == "nodes") return make(NodeKind{});
  if (resource == "namespaces") return make(NamespaceKind{});
  if (resource == "resourcequotas") return make(QuotaKind{});
  if (resource == "priorityclasses.scheduling.k8s.io") return make(ClassKind{});
  if (resource == "poddisruptionbudgets.policy") return make(BudgetKind{});
  if (resource == "horizontalpodautoscalers.autoscaling") return make(AutoscalerKind{});
  return make(WorkloadTableKind(resource, BuiltInKind(resource)));
}

ObjectSink* ClusterStore::Sink(std::string_view resource) const {
  const auto found = sinks_.find(resource);
  return found == sinks_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const ClusterSnapshot> ClusterStore::WaitForNext(std::uint64_t known,
                                                                 const std::stop_token& stop) const {
  std::shared_ptr<const ClusterSnapshot> next;
  const MutexLock lock(mutex_);
  published_next_.wait(mutex_, stop, [&] {
    next = published_.Load();
    return next != nullptr && next->generation != known;
  });
  return stop.stop_requested() ? nullptr : next;
}

std::vector<std::string> ClusterStore::Unsynced() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> unsynced;
  for (const auto& [resource, state] : states_)
    if (!state.synced && needs_.at(resource) == Need::kRequired) unsynced.push_back(resource);
  return unsynced;
}

bool ClusterStore::IsSynced() const {
  return std::all_of(states_.begin(), states_.end(), [this](const auto& entry) {
    return entry.second.synced || needs_.at(entry.first) == Need::kOptional;
  });
}

void ClusterStore::PublishDue(TimePoint now) {
  const MutexLock lock(mutex_);
  if (changed_ && IsSynced() && IsDue(now)) Publish(now);
}

// A clock that was set back must not stop publications.
bool ClusterStore::IsDue(TimePoint now) const {
  return now - published_at_ >= publish_interval_ || now < published_at_;
}

void ClusterStore::Happened(TimePoint now) {
  changed_ = true;
  if (IsDue(now) && IsSynced()) Publish(now);
}

void ClusterStore::Publish(TimePoint now) {
  published_.Store(builder_.Build(++generation_, now, states_));
  published_at_ = now;
  changed_ = false;
  published_next_.notify_all();
}

}  // namespace podium
