#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "cli/watched.h"
#include "core/snapshot_builder.h"
#include "core/text.h"
#include "pdb/plan.h"
#include "wire/json.h"

namespace podium {
namespace {

struct Options {
  std::string action;
  std::string policy;
  std::string namespace_name;
  std::string own_namespace = "podium-system";
  std::string form = "text";
  bool all = false;
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "Says what `podium serve --budgets write` would do with PodDisruptionBudgets now, and why; changes nothing.\n"
    "The rules are in docs/budgets.md.\n\n"
    "Exit codes: 0 nobody has to look; 1 a row is a problem (!); 2 policy or cluster cannot be read.";

// "maxUnavailable 1", of the budget that is to be, or else of the one that is.
std::string LimitText(const BudgetRow& row) {
  const Pdb* budget = row.desired ? &*row.desired : row.existing ? &*row.existing : nullptr;
  if (budget == nullptr) return "-";
  if (budget->min_available) return "minAvailable " + *budget->min_available;
  return "maxUnavailable " + budget->max_unavailable.value_or("?");
}

std::string PlanTable(const std::vector<BudgetRow>& rows) {
  std::vector<std::vector<std::string>> table = {{"NAMESPACE", "WORKLOAD", "STEP", "LIMIT", "REASON"}};
  for (const BudgetRow& row : rows)
    table.push_back({row.workload.namespace_name, row.workload.kind + "/" + row.workload.name,
                     std::string(row.problem ? "! " : "") + std::string(ToString(row.step)), LimitText(row),
                     row.reason});
  return FormatColumns(table);
}

void WriteRow(const BudgetRow& row, JsonWriter& json) {
  const auto text = [&json](const char* key, std::string_view value) {
    json.Key(key);
    json.String(value);
  };
  json.BeginObject();
  text("apiVersion", row.workload.api_version);
  text("kind", row.workload.kind);
  text("namespace", row.workload.namespace_name);
  text("name", row.workload.name);
  text("step", ToString(row.step));
  if (row.desired) text("budget", row.desired->name);
  if (row.desired || row.existing) text("limit", LimitText(row));
  text("reason", row.reason);
  json.Key("problem");
  json.Bool(row.problem);
  json.EndObject();
}

std::string PlanJson(const std::vector<BudgetRow>& rows) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("podium.gpu/v1");
  json.Key("kind");
  json.String("BudgetPlan");
  json.Key("items");
  json.BeginArray();
  for (const BudgetRow& row : rows) WriteRow(row, json);
  json.EndArray();
  json.EndObject();
  const Result<std::string> pretty = PrettyJson(text);
  return (pretty ? *pretty : text) + "\n";
}

// A ReplicaSet of a Deployment and its like: the owner's row says it all.
bool IsCarriedByItsOwner(const BudgetRow& row, const ClusterSnapshot& snapshot) {
  const WorkloadId& id = row.workload;
  const Workload* workload = snapshot.workloads.Find(WorkloadKey(id.api_version, id.kind, id.namespace_name, id.name));
  return row.step == BudgetStep::kNone && !row.problem && workload != nullptr &&
         std::any_of(workload->owners.begin(), workload->owners.end(),
                     [](const OwnerReference& owner) { return owner.controller; });
}

int Run(const Options& options, Io& io) {
  const PolicyInput policy = ReadPolicy(options.policy, io.now);
  if (!policy.policy) {
    for (const std::string& problem : policy.problems) io.err << Printable(problem) << "\n";
    return kExitUnusable;
  }
  const auto snapshot = LookAtCluster(options.cluster, BudgetResources(), io);
  if (!snapshot) {
    io.err << "podium pdb: " << PrintableLines(snapshot.error().message) << "\n";
    return kExitUnusable;
  }
  std::vector<BudgetRow> rows =
      PlanBudgets(**snapshot, *policy.policy, io.now, {.own_namespace = options.own_namespace}).rows;
  if (!options.namespace_name.empty())
    std::erase_if(rows, [&](const BudgetRow& row) { return row.workload.namespace_name != options.namespace_name; });
  if (!options.all) std::erase_if(rows, [&](const BudgetRow& row) { return IsCarriedByItsOwner(row, **snapshot); });
  io.out << (options.form == "json" ? PlanJson(rows) : PlanTable(rows));
  const bool problems = std::any_of(rows.begin(), rows.end(), [](const BudgetRow& row) { return row.problem; });
  return problems ? kExitRefused : kExitOk;
}

}  // namespace

Action SetUpPdb(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("ACTION", options->action, "plan")->required()->check(CLI::IsMember({"plan"}));
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  app.add_option("-n,--namespace", options->namespace_name, "Only workloads of this namespace");
  app.add_flag("--all", options->all, "Also workloads that get none because another one owns them");
  app.add_option("--own-namespace", options->own_namespace, "Podium's own namespace: never touched")
      ->capture_default_str();
  app.add_option("-o,--output", options->form, "text or json")->check(CLI::IsMember({"text", "json"}));
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
