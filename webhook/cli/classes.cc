#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "core/text.h"
#include "kube/api_client.h"
#include "kube/api_writer.h"
#include "policy/class_drift.h"

namespace podium {
namespace {

struct Options {
  std::string action;
  std::string policy;
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "diff   compares the policy's classes with the cluster's and changes nothing\n"
    "apply  creates the classes that are missing and sets globalDefault; a value or a preemptionPolicy cannot be "
    "changed\n"
    "       in place and is told instead\n\n"
    "Exit codes: 0 the cluster has the policy's classes; 1 it has not, or not yet; 2 policy or cluster cannot be read.";

bool IsChangeable(ClassDriftKind kind) {
  return kind == ClassDriftKind::kMissing || kind == ClassDriftKind::kGlobalDefault;
}

int Fail(Io& io, const std::string& problem) {
  io.err << "podium classes: " << problem << "\n";
  return kExitUnusable;
}

void PrintDrift(const std::vector<ClassDrift>& drifts, Io& io) {
  for (const ClassDrift& drift : drifts) io.out << Printable(drift.message) << "\n";
}

// The rows of the ladder that an apply can set right: none that also differs in what is fixed for good.
std::vector<const LadderClass*> RowsToApply(const Policy& policy, const std::vector<ClassDrift>& drifts) {
  std::vector<const LadderClass*> rows;
  for (const LadderClass& row : policy.ladder) {
    const auto is_of_row = [&](const ClassDrift& drift) {
      return drift.class_name == row.priority_class.name && drift.kind != ClassDriftKind::kManyDefaults;
    };
    const auto is_fixed = [&](const ClassDrift& drift) { return is_of_row(drift) && !IsChangeable(drift.kind); };
    if (std::any_of(drifts.begin(), drifts.end(), is_of_row) && std::none_of(drifts.begin(), drifts.end(), is_fixed))
      rows.push_back(&row);
  }
  return rows;
}

int Apply(const Options& options, const Policy& policy, const std::vector<ClassDrift>& drifts, Io& io) {
  const Result<ClusterAccess> access = AccessOf(options.cluster);
  if (!access) return Fail(io, access.error().message);
  const Result<std::unique_ptr<ApiClient>> api = ConnectApi(*access);
  if (!api) return Fail(io, api.error().message);
  ApiWriter writer(**api);
  int code = kExitOk;
  for (const LadderClass* row : RowsToApply(policy, drifts)) {
    const std::string& name = row->priority_class.name;
    const auto applied = writer.Apply({"scheduling.k8s.io/v1", "priorityclasses", "", name}, RenderPriorityClass(*row),
                                      Ownership::kOurs);
    io.out << (applied ? "applied " + name : Printable("not applied: " + applied.error().message)) << "\n";
    if (!applied) code = kExitRefused;
  }
  for (const ClassDrift& drift : drifts) {
    if (IsChangeable(drift.kind)) continue;
    io.out << Printable(drift.message) << "\n";
    code = kExitRefused;
  }
  if (code == kExitOk && drifts.empty()) io.out << "nothing to do\n";
  return code;
}

int Run(const Options& options, Io& io) {
  if (options.action == "apply" && !options.cluster.file.empty())
    return Fail(io, "apply changes a live cluster: give --kubeconfig or --in-cluster, not a file");
  const PolicyInput policy = ReadPolicy(options.policy, io.now);
  if (!policy.policy) {
    for (const std::string& problem : policy.problems) io.err << Printable(problem) << "\n";
    return kExitUnusable;
  }
  const auto snapshot = LookAtCluster(options.cluster, {"priorityclasses.scheduling.k8s.io"}, io);
  if (!snapshot) return Fail(io, PrintableLines(snapshot.error().message));
  const std::vector<ClassDrift> drifts = FindClassDrift(*policy.policy, (*snapshot)->classes);
  if (options.action == "apply") return Apply(options, *policy.policy, drifts, io);
  PrintDrift(drifts, io);
  if (drifts.empty()) io.out << "the cluster has the policy's " << policy.policy->ladder.size() << " classes\n";
  return drifts.empty() ? kExitOk : kExitRefused;
}

}  // namespace

Action SetUpClasses(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("ACTION", options->action, "diff or apply")->required()->check(CLI::IsMember({"diff", "apply"}));
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
