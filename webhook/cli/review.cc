#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/expect.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/reviewer.h"
#include "cli/table.h"
#include "cli/watched.h"
#include "core/text.h"

namespace podium {
namespace {

constexpr std::size_t kMostExpectationBytes = 1 << 20;

struct Options {
  std::vector<std::string> paths;
  std::string form = "table";
  std::string policy;
  ClusterOptions cluster;
  std::string default_namespace = "default";
  std::string server;
  std::string ca_file;
  std::string expect;
};

constexpr const char* kFooter =
    "Each object is sent as an API server would send it on creation, decided, patched and validated.\n\n"
    "Examples:\n"
    "  podium review deployment.yaml\n"
    "  kustomize build . | podium review -\n"
    "  podium review -o patched manifests/ > stored.yaml\n"
    "  podium review --server https://127.0.0.1:9443 --ca-file ca.crt manifests/\n\n"
    "Exit codes: 0 all allowed; 1 an object is refused, or --expect is not met; 2 unusable input, an object that "
    "cannot\n"
    "be decided, or no answer.";

// Everything that is read before the first decision; `problems` tells all that is wrong with it at once.
struct Loaded {
  ManifestInput manifests;
  PolicyInput policy;
  std::shared_ptr<const ClusterSnapshot> snapshot;
  Expectation expectation;
  std::unique_ptr<HttpsClient> client;
  std::vector<std::string> problems;
};

void LoadCluster(const Options& options, Io& io, Loaded& loaded) {
  if (!options.cluster.IsLive() && options.cluster.file.empty()) return;  // the policy's classes
  auto snapshot = LookAtCluster(options.cluster, DecisionResources(), io);
  if (snapshot)
    loaded.snapshot = *std::move(snapshot);
  else
    loaded.problems.push_back(snapshot.error().message);
}

void LoadExpectation(const Options& options, Loaded& loaded) {
  if (options.expect.empty()) return;
  const Result<std::string> text = ReadTextFile(options.expect, kMostExpectationBytes);
  if (!text) return loaded.problems.push_back(text.error().message);
  loaded.expectation = ParseExpectation(options.expect, *text);
  for (const std::string& problem : loaded.expectation.problems) loaded.problems.push_back(problem);
}

void LoadClient(const Options& options, Loaded& loaded) {
  if (options.server.empty()) return;
  ClientOptions client_options;
  client_options.ca_file = options.ca_file;
  auto client = HttpsClient::Connect(options.server, client_options);
  if (client)
    loaded.client = *std::move(client);
  else
    loaded.problems.push_back(client.error().message);
}

Loaded Load(const Options& options, Io& io) {
  Loaded loaded;
  if (const auto wrong = ParseNamespace(options.default_namespace); !wrong)
    loaded.problems.push_back("--namespace: " + wrong.error().message);
  loaded.policy = ReadPolicy(options.policy, io.now);
  if (!loaded.policy.policy)
    for (const std::string& problem : loaded.policy.problems) loaded.problems.push_back(problem);
  LoadCluster(options, io, loaded);
  loaded.manifests = ReadManifests(options.paths, io.in);
  for (const std::string& problem : loaded.manifests.problems) loaded.problems.push_back(problem);
  LoadExpectation(options, loaded);
  LoadClient(options, loaded);
  return loaded;
}

ReviewReport EmptyReport(const Options& options, const Policy& policy) {
  ReviewReport report;
  report.policy_name = policy.name;
  report.policy_revision = policy.revision;
  report.cluster = options.cluster.Name();
  report.server = options.server;
  return report;
}

std::string Rendered(const ReviewReport& report, const Options& options, const Io& io) {
  if (options.form == "json") return ReportJson(report);
  if (options.form == "yaml") return ReportYaml(report);
  if (options.form == "patched") return PatchedYaml(report);
  return ReportTable(report, {io.color, io.width});
}

// A patched file is read by the next program: what is missing in it, or was not judged, must be told elsewhere.
void TellLeftOut(const ReviewReport& report, Io& io) {
  for (const ReviewItem& item : report.items) {
    if (item.verdict == Verdict::kAllow && !item.internal_error) continue;
    const bool refused = item.verdict == Verdict::kRefuse;
    const std::string what = item.manifest.kind + "/" + item.manifest.name +
                             (refused ? " is refused and left out: " + item.message
                                      : " is passed on without the policy: " + *item.internal_error);
    io.err << Printable(FormatProblem({item.manifest.span, what})) << "\n";
  }
}

int Outcome(const ReviewReport& report, const Options& options, const Expectation& expectation, Io& io) {
  if (options.expect.empty()) {
    if (CountUndecided(report) > 0) return kExitUnusable;
    return CountRefused(report) == 0 ? kExitOk : kExitRefused;
  }
  const std::vector<std::string> differences = Differences(report, expectation);
  for (const std::string& difference : differences) io.err << Printable(difference) << "\n";
  io.err << (differences.empty() ? "every decision is as expected\n" : "not every decision is as expected\n");
  return differences.empty() ? kExitOk : kExitRefused;
}

int Run(const Options& options, Io& io) {
  Loaded loaded = Load(options, io);
  if (!loaded.problems.empty()) return Unusable(loaded.problems, io);
  for (const std::string& warning : loaded.policy.problems) io.err << Printable(warning) << "\n";
  ReviewSetting setting{.policy = *loaded.policy.policy, .snapshot = loaded.snapshot.get(), .now = io.now};
  setting.default_namespace = options.default_namespace;
  const auto endpoints = loaded.client == nullptr ? DecideHere(setting) : AskServer(std::move(loaded.client), setting);
  ReviewReport report = EmptyReport(options, *loaded.policy.policy);
  std::vector<std::string> problems;
  for (const Manifest& manifest : loaded.manifests.manifests) {
    Result<ReviewItem> item = ReviewManifest(manifest, setting, *endpoints);
    if (item)
      report.items.push_back(*std::move(item));
    else
      problems.push_back(FormatProblem({manifest.span, item.error().message}));
  }
  if (!problems.empty()) return Unusable(problems, io);
  io.out << Rendered(report, options, io);
  if (options.form == "patched") TellLeftOut(report, io);
  return Outcome(report, options, loaded.expectation, io);
}

}  // namespace

Action SetUpReview(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->paths, "Manifests: files, folders, or - for standard input")->required();
  app.add_option("-o,--output", options->form, "table, json, yaml, or patched: the objects as they would be stored")
      ->check(CLI::IsMember({"table", "json", "yaml", "patched"}));
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  AddClusterOptions(app, options->cluster);
  app.add_option("-n,--namespace", options->default_namespace, "Namespace of objects that name none")
      ->capture_default_str();
  CLI::Option* server = app.add_option("--server", options->server, "Ask a running Podium: https://HOST:PORT");
  CLI::Option* ca_file = app.add_option("--ca-file", options->ca_file, "CA of the server's certificate (PEM)");
  server->needs(ca_file);
  ca_file->needs(server);
  app.add_option("--expect", options->expect, "Compare the decisions with this file; exit 1 on a difference");
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
