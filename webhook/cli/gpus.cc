#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/layout.h"
#include "cli/outlook_text.h"
#include "cli/watched.h"
#include "core/text.h"
#include "feasibility/gpu_stock.h"
#include "wire/feasibility_writer.h"
#include "wire/json.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

struct Options {
  std::string policy;
  std::string pool_label;
  std::string form = "table";
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "One block for each pool of nodes and each GPU resource that the policy knows. Whole devices, MIG slices and "
    "shares\n"
    "are never added up. Without --pool-label a node's pool is the first it has of: the node pool labels of GKE, EKS,\n"
    "AKS and Karpenter, nvidia.com/gpu.product, node.kubernetes.io/instance-type.\n\n"
    "Exit codes: 0 done; 2 policy or cluster cannot be read.";

// By class, highest value first; classes that the cluster does not have at the end.
std::vector<std::string> ClassOrder(const std::map<std::string, std::int64_t>& counts,
                                    const ClusterSnapshot& snapshot) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts)
    if (count > 0) names.push_back(name);
  const auto value = [&](const std::string& name) {
    const PriorityClass* found = snapshot.classes.Find(name);
    return found == nullptr ? INT64_MIN : std::int64_t{found->value};
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return value(a) > value(b); });
  return names;
}

std::string HeldText(const GpuStock& stock, const ClusterSnapshot& snapshot) {
  std::string text;
  for (const std::string& name : ClassOrder(stock.held, snapshot))
    text += (text.empty() ? "" : ", ") + std::to_string(stock.held.at(name)) + " by " +
            (name.empty() ? "pods without a class" : name);
  return text.empty() ? "none" : text;
}

std::string PreemptibleText(const GpuStock& stock, const ClusterSnapshot& snapshot) {
  std::string text;
  for (const std::string& name : ClassOrder(stock.preemptible, snapshot))
    text += (text.empty() ? "" : ", ") + std::to_string(stock.preemptible.at(name)) + " for " + name;
  return text.empty() ? "none for any class" : text;
}

std::string FreeText(const GpuStock& stock) {
  std::string text = std::to_string(stock.free);
  if (stock.on_unusable_nodes > 0)
    text += ", " + std::to_string(stock.on_unusable_nodes) + " of them on cordoned nodes";
  return text;
}

std::string FragmentsText(const GpuStock& stock) {
  std::string text;
  for (const auto& [free, nodes] : stock.free_per_node)
    text += (text.empty() ? "" : ", ") + Counted(nodes, "node") + " with " + std::to_string(free) + " free";
  return text + "; the largest request that fits now is " + std::to_string(stock.largest_free);
}

std::string StockText(const std::vector<GpuStock>& stock, const ClusterSnapshot& snapshot, const TableStyle& style) {
  if (stock.empty()) return "no node has a GPU resource that the policy names\n";
  std::string text;
  for (const GpuStock& each : stock) {
    const std::string pool = each.pool.empty() ? "nodes without a pool" : "pool " + each.pool;
    const std::string head = pool + ": " + each.resource + " (unit: " + std::string(ToString(each.unit)) + "), " +
                             Counted(each.nodes, "node");
    text += Painted(Printable(head), kBold, style.color) + "\n";
    text += LabelledLine("capacity", std::to_string(each.capacity), style);
    text += LabelledLine("free", FreeText(each), style);
    text += LabelledLine("held", HeldText(each, snapshot), style);
    text += LabelledLine("evictable", PreemptibleText(each, snapshot), style);
    text += LabelledLine("fragments", FragmentsText(each), style);
  }
  return text;
}

std::string StockJson(const std::vector<GpuStock>& stock) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  WriteText(json, "apiVersion", "podium.gpu/v1");
  WriteText(json, "kind", "GpuStockReport");
  json.Key("items");
  WriteGpuStock(json, stock);
  json.EndObject();
  return text;
}

int Run(const Options& options, Io& io) {
  const PolicyInput policy = ReadPolicy(options.policy, io.now);
  if (!policy.policy) return Unusable(policy.problems, io);
  const auto snapshot = LookAtCluster(options.cluster, {"nodes", "pods", "priorityclasses.scheduling.k8s.io"}, io);
  if (!snapshot) {
    io.err << "podium gpus: " << PrintableLines(snapshot.error().message) << "\n";
    return kExitUnusable;
  }
  const std::vector<GpuStock> stock = CountGpus(**snapshot, policy.policy->gpus, options.pool_label);
  if (options.form == "table") {
    io.out << StockText(stock, **snapshot, {io.color, io.width});
    return kExitOk;
  }
  const std::string json = StockJson(stock);
  const Result<std::string> text = options.form == "json" ? PrettyJson(json) : JsonToYaml(json);
  io.out << (text ? *text : json) << (options.form == "json" ? "\n" : "");
  return kExitOk;
}

}  // namespace

Action SetUpGpus(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--pool-label", options->pool_label, "The node label that tells pools apart");
  app.add_option("-o,--output", options->form, "table, json or yaml")->check(CLI::IsMember({"table", "json", "yaml"}));
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
