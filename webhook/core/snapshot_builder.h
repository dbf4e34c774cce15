// The cluster as it is being watched, and the snapshots taken of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/placement_draft.h"
#include "core/table_draft.h"
#include "podium/snapshot.h"

namespace podium {

// "apps/v1" -> "apps";  "v1" -> "".
std::string_view GroupOf(std::string_view api_version);

// The key of ClusterSnapshot::workloads: "Deployment.apps/ml/chat"; without a group "ReplicationController/ml/chat".
std::string WorkloadKey(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
                        std::string_view name);

// For one thread at a time. Snapshots that were built stay as they are, whatever happens here, and share everything
// that did not change with the next one.
//
//   builder.placement().PutPod(pod);
//   builder.workloads("deployments.apps").Put(WorkloadKey(...), workload);
//   cell.Store(builder.Build(++generation, clock.Now()));
class SnapshotBuilder {
 public:
  PlacementDraft& placement() { return placement_; }
  TableDraft<PriorityClass>& classes() { return classes_; }    // by name
  TableDraft<Namespace>& namespaces() { return namespaces_; }  // by name
  TableDraft<Quota>& quotas() { return quotas_; }              // by "namespace/name", as the next two
  TableDraft<Pdb>& budgets() { return budgets_; }
  TableDraft<Autoscaler>& autoscalers() { return autoscalers_; }
  // Each resource ("deployments.apps") is listed on its own and holds one kind. By WorkloadKey.
  TableDraft<Workload>& workloads(std::string_view resource);

  std::shared_ptr<const ClusterSnapshot> Build(std::uint64_t generation, TimePoint now,
                                               std::map<std::string, SourceState> sources = {});

 private:
  Table<Workload> BuildWorkloads();

  PlacementDraft placement_;
  TableDraft<PriorityClass> classes_;
  TableDraft<Namespace> namespaces_;
  TableDraft<Quota> quotas_;
  TableDraft<Pdb> budgets_;
  TableDraft<Autoscaler> autoscalers_;
  std::map<std::string, TableDraft<Workload>, std::less<>> workloads_;
  Table<Workload> built_workloads_;
};

}  // namespace podium
