#include "core/snapshot_builder.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace podium {

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string WorkloadKey(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
                        std::string_view name) {
  const std::string_view group = GroupOf(api_version);
  std::string key(kind);
  if (!group.empty()) key.append(".").append(group);
  return key.append("/").append(namespace_name).append("/").append(name);
}

TableDraft<Workload>& SnapshotBuilder::workloads(std::string_view resource) {
  const auto found = workloads_.find(resource);
  return found != workloads_.end() ? found->second : workloads_[std::string(resource)];
}

std::shared_ptr<const ClusterSnapshot> SnapshotBuilder::Build(std::uint64_t generation, TimePoint now,
                                                              std::map<std::string, SourceState> sources) {
  auto snapshot = std::make_shared<ClusterSnapshot>();
  snapshot->generation = generation;
  snapshot->taken_at = now;
  snapshot->sources = std::move(sources);
  snapshot->classes = classes_.Build();
  snapshot->namespaces = namespaces_.Build();
  placement_.BuildInto(*snapshot);
  snapshot->quotas = quotas_.Build();
  snapshot->budgets = budgets_.Build();
  snapshot->workloads = BuildWorkloads();
  snapshot->autoscalers = autoscalers_.Build();
  return snapshot;
}

// One resource holds one kind, and with it one run of keys: runs are put in order, not rows. Two resources of one kind
// would mix their runs; then the rows are sorted after all.
Table<Workload> SnapshotBuilder::BuildWorkloads() {
  std::vector<const Table<Workload>::Rows*> runs;
  bool changed = false;
  for (auto& [resource, draft] : workloads_) {
    changed = changed || draft.changed();
    draft.MarkBuilt();
    if (!draft.rows().empty()) runs.push_back(&draft.rows());
  }
  if (!changed) return built_workloads_;
  std::sort(runs.begin(), runs.end(), [](auto* a, auto* b) { return a->front()->key < b->front()->key; });
  Table<Workload>::Rows all;
  const auto before = [](const auto& a, const auto& b) { return a->key < b->key; };
  for (const auto* run : runs) {
    const auto middle = all.insert(all.end(), run->begin(), run->end());
    if (middle != all.begin() && before(*middle, *(middle - 1)))
      std::inplace_merge(all.begin(), middle, all.end(), before);
  }
  return built_workloads_ = Table<Workload>(std::move(all));
}

}  // namespace podium
