#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "cli/watched.h"
#include "core/text.h"
#include "pdb/plan.h"
#include "policy/class_drift.h"
#include "wire/json.h"

namespace podium {
namespace {

struct Options {
  std::string policy;
  std::string own_namespace = "podium-system";
  std::string form = "text";
  ClusterOptions cluster;
};

// What is looked at, and how it is.
struct ClusterStatus {
  Policy policy;
  std::size_t classes = 0;
  std::size_t namespaces = 0;
  std::size_t workloads = 0;
  std::vector<ClassDrift> drifts;
  std::map<std::string_view, std::size_t> steps;  // budget rows by step
  std::vector<std::string> problems;              // of budgets, one line each
};

constexpr const char* kFooter =
    "Exit codes: 0 policy and cluster agree; 1 classes differ or a budget is a problem; 2 policy or cluster cannot be "
    "read.";

ClusterStatus Assess(Policy policy, const ClusterSnapshot& snapshot, const Options& options, TimePoint now) {
  ClusterStatus status;
  status.classes = snapshot.classes.size();
  status.namespaces = snapshot.namespaces.size();
  status.workloads = snapshot.workloads.size();
  status.drifts = FindClassDrift(policy, snapshot.classes);
  for (const BudgetRow& row : PlanBudgets(snapshot, policy, now, {.own_namespace = options.own_namespace}).rows) {
    ++status.steps[ToString(row.step)];
    if (row.problem)
      status.problems.push_back(row.workload.namespace_name + "/" + row.workload.name + ": " + row.reason);
  }
  status.policy = std::move(policy);
  return status;
}

std::string StepsText(const ClusterStatus& status) {
  std::string text;
  for (const auto& [step, count] : status.steps)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(step);
  return text.empty() ? "no workloads" : text;
}

void PrintText(const ClusterStatus& status, Io& io) {
  io.out << "policy   " << Printable(status.policy.name) << ", revision " << status.policy.revision.substr(0, 12)
         << ", " << status.policy.ladder.size() << " classes, " << status.policy.workload_types.size()
         << " workload types\n"
         << "cluster  " << status.classes << " classes, " << status.namespaces << " namespaces, " << status.workloads
         << " workloads\n"
         << "classes  " << (status.drifts.empty() ? "as the policy has them" : "differ from the policy's:") << "\n";
  for (const ClassDrift& drift : status.drifts) io.out << "         " << Printable(drift.message) << "\n";
  io.out << "budgets  " << StepsText(status) << "\n";
  for (const std::string& problem : status.problems) io.out << "         ! " << Printable(problem) << "\n";
}

void PrintJson(const ClusterStatus& status, Io& io) {
  std::string text;
  JsonWriter json(text);
  const auto member = [&json](const char* key, std::string_view value) {
    json.Key(key);
    json.String(value);
  };
  json.BeginObject();
  member("apiVersion", "podium.gpu/v1");
  member("kind", "ClusterStatus");
  member("policy", status.policy.name);
  member("policyRevision", status.policy.revision);
  json.Key("classDrift");
  json.BeginArray();
  for (const ClassDrift& drift : status.drifts) {
    json.BeginObject();
    member("class", drift.class_name);
    member("difference", ToString(drift.kind));
    member("message", drift.message);
    json.EndObject();
  }
  json.EndArray();
  json.Key("budgets");
  json.BeginObject();
  for (const auto& [step, count] : status.steps) {
    json.Key(step);
    json.Int(static_cast<std::int64_t>(count));
  }
  json.EndObject();
  json.Key("problems");
  json.BeginArray();
  for (const std::string& problem : status.problems) json.String(problem);
  json.EndArray();
  json.EndObject();
  const Result<std::string> pretty = PrettyJson(text);
  io.out << (pretty ? *pretty : text) << "\n";
}

int Run(const Options& options, Io& io) {
  PolicyInput policy = ReadPolicy(options.policy, io.now);
  if (!policy.policy) {
    for (const std::string& problem : policy.problems) io.err << Printable(problem) << "\n";
    return kExitUnusable;
  }
  const auto snapshot = LookAtCluster(options.cluster, BudgetResources(), io);
  if (!snapshot) {
    io.err << "podium status: " << PrintableLines(snapshot.error().message) << "\n";
    return kExitUnusable;
  }
  const ClusterStatus status = Assess(*std::move(policy.policy), **snapshot, options, io.now);
  if (options.form == "json")
    PrintJson(status, io);
  else
    PrintText(status, io);
  return status.drifts.empty() && status.problems.empty() ? kExitOk : kExitRefused;
}

}  // namespace

Action SetUpStatus(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  app.add_option("--own-namespace", options->own_namespace, "Podium's own namespace: never touched")
      ->capture_default_str();
  app.add_option("-o,--output", options->form, "text or json")->check(CLI::IsMember({"text", "json"}));
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
