// Where a command's cluster comes from: a file, a kubeconfig, or the pod it runs in. The same options everywhere.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "kube/api_client.h"
#include "kube/cluster_access.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace CLI {
class App;
}

namespace podium {

struct ClusterOptions {
  std::string file;  // --cluster, --snapshot
  std::string kubeconfig;
  std::string context;
  bool in_cluster = false;
  std::vector<std::string> custom_workloads;  // of a live cluster, as CustomWatch reads them

  [[nodiscard]] bool IsLive() const { return in_cluster || !kubeconfig.empty() || !context.empty(); }
  // For reports: the file, "live", or empty for no cluster.
  [[nodiscard]] std::string Name() const { return IsLive() ? "live" : file; }
};

// --cluster (also --snapshot), --kubeconfig, --context, --in-cluster. A file excludes the others.
void AddClusterOptions(CLI::App& app, ClusterOptions& options);

// The API server of a live cluster. Without any option: where kubectl would look, else the pod's own service account.
Result<ClusterAccess> AccessOf(const ClusterOptions& options);

// One look, for commands that end: the file ("-" is standard input), or a list of `resources` (as in
// ClusterSnapshot::sources) of the live cluster, which takes at most a minute.
Result<std::shared_ptr<const ClusterSnapshot>> LookAtCluster(const ClusterOptions& options,
                                                             const std::vector<std::string_view>& resources, Io& io);

// A live cluster through a client that is connected already.
Result<std::shared_ptr<const ClusterSnapshot>> LookAtLiveCluster(ApiClient& api, const ClusterOptions& options,
                                                                 const std::vector<std::string_view>& resources);

}  // namespace podium
