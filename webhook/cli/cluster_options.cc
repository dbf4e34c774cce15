#include "cli/cluster_options.h"

#include <CLI/CLI.hpp>

#include "cli/clock.h"
#include "cli/inputs.h"
#include "kube/cluster_cache.h"

namespace podium {
namespace {

constexpr std::chrono::seconds kFirstSync{60};  // of a big cluster over a slow line

}  // namespace

// CLI11's own excludes() prints the names in the order of their addresses: another help text in each run.
void AddClusterOptions(CLI::App& app, ClusterOptions& options) {
  app.add_option("--cluster,--snapshot", options.file,
                 "The cluster in this file, 'sample', or - for standard input (not of serve)");
  app.add_option("--kubeconfig", options.kubeconfig, "The live cluster of this kubeconfig");
  app.add_option("--context", options.context, "Another context of the kubeconfig");
  app.add_flag("--in-cluster", options.in_cluster, "The live cluster this pod runs in");
  app.add_option("--custom-workload", options.custom_workloads,
                 "A custom resource with a scale that gets budgets too: rollouts.v1alpha1.argoproj.io");
  app.parse_complete_callback([&options] {
    const bool outside = !options.kubeconfig.empty() || !options.context.empty();
    const int given =
        static_cast<int>(!options.file.empty()) + static_cast<int>(outside) + static_cast<int>(options.in_cluster);
    if (given > 1)
      throw CLI::ValidationError("--cluster FILE, --kubeconfig or --context, and --in-cluster exclude each other");
  });
}

Result<ClusterAccess> AccessOf(const ClusterOptions& options) {
  if (options.in_cluster) return InClusterAccess();
  Result<ClusterAccess> access = LoadKubeconfig(options.kubeconfig, options.context);
  const bool nothing_said = options.kubeconfig.empty() && options.context.empty();
  if (access || !nothing_said || access.error().kind != ErrorKind::kNotFound) return access;
  Result<ClusterAccess> own = InClusterAccess();
  if (own) return own;
  return Error{ErrorKind::kNotFound, access.error().message +
                                         "; nor is this a pod of a cluster. Give --kubeconfig FILE, "
                                         "--in-cluster or --cluster FILE"};
}

Result<std::shared_ptr<const ClusterSnapshot>> LookAtCluster(const ClusterOptions& options,
                                                             const std::vector<std::string_view>& resources, Io& io) {
  if (options.file == "-") return ReadClusterStream(io.in, io.now);
  if (!options.file.empty()) return ReadCluster(options.file, io.now);
  const Result<ClusterAccess> access = AccessOf(options);
  if (!access) return access.error();
  const Result<std::unique_ptr<ApiClient>> api = ConnectApi(*access);
  if (!api) return api.error().WithContext(access->origin);
  auto snapshot = LookAtLiveCluster(**api, options, resources);
  if (!snapshot) return snapshot.error().WithContext(access->origin);
  return snapshot;
}

Result<std::shared_ptr<const ClusterSnapshot>> LookAtLiveCluster(ApiClient& api, const ClusterOptions& options,
                                                                 const std::vector<std::string_view>& resources) {
  const Result<std::vector<WatchRow>> watches = WatchesWith(WatchesOf(resources), options.custom_workloads);
  if (!watches) return watches.error();
  return TakeSnapshot(api, SystemClock::Instance(), *watches, kFirstSync);
}

}  // namespace podium
