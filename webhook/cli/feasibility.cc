#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "admission/question.h"
#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/feasibility_report.h"
#include "cli/inputs.h"
#include "cli/seen_cluster.h"
#include "core/text.h"
#include "feasibility/outlook.h"
#include "feasibility/request.h"
#include "feasibility/workload.h"
#include "wire/json.h"

namespace podium {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string form = "table";
  std::string policy;
  std::string default_namespace;  // empty: the cluster's own
  std::string version;
  std::optional<std::int64_t> replicas;
  bool gang = false;
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "Says what the scheduler would do with pods that are not there yet: the node, whom it would evict, how long that\n"
    "takes, and when it cannot help, why, and what would. Each manifest goes through the policy first, as on "
    "creation.\n"
    "Nothing is changed. docs/feasibility.md says what the verdicts mean.\n\n"
    "Examples:\n"
    "  podium feasibility -f pod.yaml\n"
    "  podium snapshot > cluster.json; podium feasibility -f deployment.yaml --snapshot cluster.json --replicas 8\n\n"
    "Exit codes: 0 everything fits, now or after preemption; 4 something does not, or nobody can tell; 1 an object is\n"
    "refused; 2 unusable input, or the cluster cannot be read.";

struct Loaded {
  ManifestInput manifests;
  PolicyInput policy;
  SeenCluster cluster;
  std::vector<std::string> problems;
};

Loaded Load(const Options& options, Io& io) {
  Loaded loaded;
  std::vector<std::string>& problems = loaded.problems;
  if (const auto wrong = ParseNamespace(options.default_namespace); !options.default_namespace.empty() && !wrong)
    problems.push_back("--namespace: " + wrong.error().message);
  const bool in_twice =
      options.cluster.file == "-" && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end();
  if (in_twice) problems.emplace_back("-f - and --snapshot - both read standard input; name a file for one of them");
  if (in_twice) return loaded;
  loaded.policy = ReadPolicy(options.policy, io.now);
  if (!loaded.policy.policy) problems = loaded.policy.problems;
  loaded.manifests = ReadManifests(options.paths, io.in);
  problems.insert(problems.end(), loaded.manifests.problems.begin(), loaded.manifests.problems.end());
  if (!problems.empty()) return loaded;  // a live cluster is not asked in vain
  Result<SeenCluster> cluster = SeeCluster(options.cluster, options.version, io);
  if (cluster)
    loaded.cluster = *std::move(cluster);
  else
    problems.push_back("podium feasibility: " + cluster.error().message);
  return loaded;
}

constexpr std::size_t kMostFullNodes = 1000;  // of a DaemonSet, each of which takes up to some milliseconds

// The pod that the DaemonSet's controller makes for this node.
// Source: pkg/controller/daemon/util, ReplaceDaemonSetPodNodeNameNodeAffinity.
Pod PinnedTo(const Pod& pod, const std::string& node) {
  Pod pinned = pod;
  SchedulingSpec scheduling = *pod.scheduling;
  const NodeRequirement name{.key = "metadata.name", .op = NodeSelectorOp::kIn, .values = {node}};
  if (!scheduling.node_affinity) scheduling.node_affinity = NodeSelector{{NodeSelectorTerm{}}};
  for (NodeSelectorTerm& term : scheduling.node_affinity->terms) term.fields = {name};
  pinned.scheduling = std::move(scheduling);
  return pinned;
}

DaemonOutcome OnEachNode(const PreparedCluster& cluster, const Pod& pod, const FeasibilityReport& report,
                         const EvaluateOptions& options) {
  DaemonOutcome daemon;
  daemon.fit_now = static_cast<std::int64_t>(report.fit_nodes.size());
  std::size_t looked_at = 0;
  for (const NodeOutcome& outcome : report.refused) {
    if (report.statuses[outcome.status].code == StatusCode::kUnresolvable) {
      ++daemon.not_meant;
      continue;
    }
    const bool look = looked_at++ < kMostFullNodes;
    const bool helps = look && Evaluate(cluster, PinnedTo(pod, report.NodeName(outcome.node)), options).verdict ==
                                   Feasibility::kFitsAfterPreemption;
    ++(helps ? daemon.fit_after : daemon.no_room);
  }
  return daemon;
}

// Everything that is asked with, and where the answers go.
class Inquiry {
 public:
  Inquiry(const Options& options, const Loaded& loaded, TimePoint now)
      : options_(options),
        namespace_name_(options.default_namespace.empty() ? loaded.cluster.namespace_name : options.default_namespace),
        policy_(*loaded.policy.policy),
        snapshot_(*loaded.cluster.snapshot),
        outlook_options_{.evaluate = {.version = loaded.cluster.version}, .now = now, .gpus = policy_.gpus},
        prepared_(Prepare(snapshot_, RulesOf(loaded.cluster.version))) {}

  void Ask(const Manifest& manifest) {
    const AskOptions ask{
        .policy = policy_, .snapshot = &snapshot_, .default_namespace = namespace_name_, .now = outlook_options_.now};
    Result<ManifestQuestions> asked = AskAbout(manifest.json, ask);
    if (!asked) {
      problems_.push_back(FormatProblem({manifest.span, asked.error().message}));
      return;
    }
    FeasibilityItem item;
    item.manifest = manifest;
    item.namespace_name = asked->namespace_name;
    item.name = asked->name;
    item.warnings = asked->decision.warnings;
    if (asked->decision.verdict == Verdict::kRefuse) {
      item.refusal = asked->decision;
      items_.push_back(std::move(item));
      return;
    }
    for (PodQuestion& question : asked.value().questions) items_.push_back(Answered(item, std::move(question)));
  }

  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] std::vector<FeasibilityItem> TakeItems() { return std::move(items_); }

 private:
  [[nodiscard]] FeasibilityItem Answered(FeasibilityItem item, PodQuestion question) const {
    if (options_.replicas) question.replicas = *options_.replicas;
    if (options_.gang) question.placing = Placing::kAllOrNothing;
    item.gpus = EffectiveGpuRequest(*question.pod.spec, policy_.gpus);
    item.outlook = LookAhead(prepared_, snapshot_, question.pod, outlook_options_);
    if (question.replicas > 1 && !question.per_node)
      item.workload = EvaluateWorkload(prepared_, snapshot_, question.pod, question.replicas, question.placing,
                                       outlook_options_.evaluate);
    if (question.per_node)
      item.daemon = OnEachNode(prepared_, question.pod, item.outlook.report, outlook_options_.evaluate);
    item.question = std::move(question);
    return item;
  }

  const Options& options_;
  const std::string namespace_name_;  // of objects that name none
  const Policy& policy_;
  const ClusterSnapshot& snapshot_;
  OutlookOptions outlook_options_;
  PreparedCluster prepared_;
  std::vector<FeasibilityItem> items_;
  std::vector<std::string> problems_;
};

std::string Rendered(const FeasibilityAnswer& answer, const Options& options, const Io& io) {
  if (options.form == "table" || options.form == "wide")
    return FeasibilityText(answer, {.style = {io.color, io.width}, .is_wide = options.form == "wide"});
  const std::string json = FeasibilityJson(answer);
  const Result<std::string> text = options.form == "json" ? PrettyJson(json) : JsonToYaml(json);
  return text ? *text + (options.form == "json" ? "\n" : "") : json + "\n";
}

int Outcome(const std::vector<FeasibilityItem>& items) {
  const auto refused = [](const FeasibilityItem& item) { return item.refusal.has_value(); };
  if (std::any_of(items.begin(), items.end(), refused)) return kExitRefused;
  return std::all_of(items.begin(), items.end(), Fits) ? kExitOk : kExitNoRoom;
}

int Run(const Options& options, Io& io) {
  const Loaded loaded = Load(options, io);
  if (!loaded.problems.empty()) return Unusable(loaded.problems, io);
  for (const std::string& warning : loaded.policy.problems) io.err << Printable(warning) << "\n";
  Inquiry inquiry(options, loaded, io.now);
  for (const Manifest& manifest : loaded.manifests.manifests) inquiry.Ask(manifest);
  if (!inquiry.problems().empty()) return Unusable(inquiry.problems(), io);
  FeasibilityAnswer answer;
  answer.cluster = loaded.cluster;
  answer.cluster_name = options.cluster.file.empty() ? "live" : options.cluster.file;
  answer.policy_name = loaded.policy.policy->name;
  answer.policy_revision = loaded.policy.policy->revision;
  answer.items = inquiry.TakeItems();
  if (answer.items.empty()) return Unusable({"podium feasibility: none of these objects makes pods"}, io);
  io.out << Rendered(answer, options, io);
  return Outcome(answer.items);
}

}  // namespace

Action SetUpFeasibility(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("-f,--filename", options->paths, "Pods and workloads: files, folders, or - for standard input")
      ->required();
  app.add_option("-o,--output", options->form, "table, wide, json or yaml")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}));
  app.add_option("--replicas", options->replicas, "So many pods of each template, whatever the manifest says")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  app.add_flag("--gang", options->gang, "All replicas or none: a part of them is of no use");
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  AddSchedulerVersion(app, options->version);
  AddClusterOptions(app, options->cluster);
  app.add_option("-n,--namespace", options->default_namespace,
                 "Namespace of objects that name none (default: the context's, else 'default')");
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
