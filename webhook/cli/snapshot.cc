#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "core/text.h"
#include "kube/cluster_cache.h"
#include "wire/snapshot_file.h"

namespace podium {
namespace {

struct Options {
  bool redact = false;
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "Prints the cluster as one Kubernetes List that every command reads back with --snapshot FILE. It holds what "
    "Podium\n"
    "looks at: no environment variables, no commands, no Secrets, no ConfigMaps. --redact also takes the names out.\n\n"
    "Exit codes: 0 done; 2 the cluster cannot be read.";

int Run(const Options& options, Io& io) {
  std::vector<std::string_view> resources;
  const std::vector<WatchRow> all = AllWatches();
  resources.reserve(all.size());
  for (const WatchRow& row : all) resources.push_back(row.resource);
  const auto snapshot = LookAtCluster(options.cluster, resources, io);
  if (!snapshot) {
    io.err << "podium snapshot: " << PrintableLines(snapshot.error().message) << "\n";
    return kExitUnusable;
  }
  io.out << EncodeSnapshot(**snapshot, {.redact = options.redact}) << std::flush;
  return io.out ? kExitOk : kExitUnusable;
}

}  // namespace

Action SetUpSnapshot(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_flag("--redact", options->redact, "Pseudonyms for names and label values; what fits and what not stays true");
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
