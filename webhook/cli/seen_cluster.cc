#include "cli/seen_cluster.h"

#include <CLI/CLI.hpp>

#include "cli/watched.h"
#include "kube/server_version.h"

namespace podium {
namespace {

SeenCluster Newest(std::string why) { return {nullptr, SchedulerVersion{}, std::move(why)}; }

SeenCluster VersionOf(ApiClient& api) {
  const Result<std::string> text = ReadServerVersion(api);
  if (!text) return Newest("the newest known: " + text.error().message);
  const Result<SchedulerVersion> version = ParseSchedulerVersion(*text);
  if (!version) return Newest("the newest known: the API server calls itself " + *text);
  return {nullptr, *version, "the API server is " + *text};
}

Result<SeenCluster> SeeLive(const ClusterOptions& options) {
  const Result<ClusterAccess> access = AccessOf(options);
  if (!access) return access.error();
  const Result<std::unique_ptr<ApiClient>> api = ConnectApi(*access);
  if (!api) return api.error().WithContext(access->origin);
  auto snapshot = LookAtLiveCluster(**api, options, FeasibilityResources());
  if (!snapshot) return snapshot.error().WithContext(access->origin);
  SeenCluster seen = VersionOf(**api);
  seen.snapshot = *std::move(snapshot);
  seen.namespace_name = access->namespace_name;
  return seen;
}

Result<SeenCluster> SeeFile(const ClusterOptions& options, Io& io) {
  auto snapshot = LookAtCluster(options, FeasibilityResources(), io);
  if (!snapshot) return snapshot.error();
  SeenCluster seen = Newest("the newest known; --scheduler-version says another");
  seen.snapshot = *std::move(snapshot);
  return seen;
}

}  // namespace

void AddSchedulerVersion(CLI::App& app, std::string& version) {
  app.add_option(
      "--scheduler-version", version,
      "Kubernetes version whose scheduler is meant: 1.36 (default: the API server's, else the newest known)");
}

Result<SeenCluster> SeeCluster(const ClusterOptions& options, const std::string& version, Io& io) {
  const Result<SchedulerVersion> wanted =
      version.empty() ? Result<SchedulerVersion>(SchedulerVersion{}) : ParseSchedulerVersion(version);
  if (!wanted) return wanted.error().WithContext("--scheduler-version");
  Result<SeenCluster> seen = options.file.empty() ? SeeLive(options) : SeeFile(options, io);
  if (!seen || version.empty()) return seen;
  seen.value().version = *wanted;
  seen.value().version_from = "as --scheduler-version says";
  return seen;
}

}  // namespace podium
