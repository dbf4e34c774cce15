#include "cli/cluster_options.h"

#include <CLI/CLI.hpp>

#include "cli/clock.h"
#include "cli/inputs.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"

namespace podium {
namespace {

constexpr std::chrono::seconds kFirstSync{60};  // of a big cluster over a slow line

}  // namespace

void AddClusterOptions(CLI::App& app, ClusterOptions& options) {
  auto* file = app.add_option("--cluster,--snapshot", options.file, "Cluster file, or 'sample'");
  auto* kubeconfig = app.add_option("--kubeconfig", options.kubeconfig, "The cluster of this kubeconfig");
  auto* context = app.add_option("--context", options.context, "Another context of the kubeconfig");
  auto* in_cluster = app.add_flag("--in-cluster", options.in_cluster, "The cluster this pod runs in");
  for (auto* live : {kubeconfig, context, in_cluster}) file->excludes(live);
  in_cluster->excludes(kubeconfig)->excludes(context);
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
                                                             const std::vector<std::string_view>& resources,
                                                             TimePoint now) {
  if (!options.file.empty()) return ReadCluster(options.file, now);
  const Result<ClusterAccess> access = AccessOf(options);
  if (!access) return access.error();
  const Result<std::unique_ptr<ApiClient>> api = ConnectApi(*access);
  if (!api) return api.error().WithContext(access->origin);
  auto snapshot = TakeSnapshot(**api, SystemClock::Instance(), WatchesOf(resources), kFirstSync);
  if (!snapshot) return snapshot.error().WithContext(access->origin);
  return snapshot;
}

}  // namespace podium
