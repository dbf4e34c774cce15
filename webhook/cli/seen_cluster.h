// A cluster as the evaluator needs it: what stands in it, and whose scheduler decides.
#pragma once

#include <memory>
#include <string>

#include "cli/cluster_options.h"
#include "podium/feasibility.h"

namespace podium {

struct SeenCluster {
  std::shared_ptr<const ClusterSnapshot> snapshot;
  SchedulerVersion version;
  std::string version_from;                // "the API server is v1.36.2"
  std::string namespace_name = "default";  // that of the kubeconfig's context, as for kubectl
};

// --scheduler-version.
void AddSchedulerVersion(CLI::App& app, std::string& version);

// The file, or one look at the live cluster. The version: the one that is given, else the live API server's, else the
// newest known. kInvalidInput for a version that is none.
Result<SeenCluster> SeeCluster(const ClusterOptions& options, const std::string& version, Io& io);

}  // namespace podium
