#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/layout.h"
#include "cli/outlook_text.h"
#include "cli/seen_cluster.h"
#include "core/text.h"
#include "feasibility/outlook.h"
#include "feasibility/request.h"
#include "wire/feasibility_writer.h"
#include "wire/json.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

struct Options {
  std::string pod;
  std::string namespace_name;  // empty: the cluster's own
  std::string policy;
  std::string version;
  std::string form = "table";
  ClusterOptions cluster;
};

constexpr const char* kFooter =
    "Puts what the scheduler wrote into the pod's condition next to what Podium computes from the cluster as it is "
    "now,\n"
    "and tells which victims are still going, and for how long at most.\n\n"
    "Exit codes: 0 answered; 2 there is no such pod, or the cluster cannot be read.";

// A victim on the pod's nominated node that is not gone yet.
struct Leaving {
  const Pod* pod = nullptr;
  std::chrono::seconds at_most{};
  bool is_known = false;  // until when
};

struct Explanation {
  const Pod* pod = nullptr;
  std::vector<GpuRequest> gpus = {};
  std::vector<Leaving> leaving = {};
  Outlook outlook = {};
};

const Pod* FindIn(const PodList& pods, const std::string& namespace_name, const std::string& name) {
  for (const auto& pod : pods)
    if (pod->name == name && *pod->namespace_name == namespace_name) return pod.get();
  return nullptr;
}

const Pod* FindPod(const ClusterSnapshot& snapshot, const std::string& namespace_name, const std::string& name) {
  if (const Pod* pod = FindIn(snapshot.waiting, namespace_name, name)) return pod;
  for (const auto& row : snapshot.nodes)
    if (const Pod* pod = FindIn(row.value.pods, namespace_name, name)) return pod;
  return nullptr;
}

std::vector<Leaving> FindLeaving(const ClusterSnapshot& snapshot, const Pod& pod, TimePoint now) {
  std::vector<Leaving> leaving;
  const NodeState* node = snapshot.nodes.Find(pod.standing->nominated_node);
  if (node == nullptr) return leaving;
  for (const auto& each : node->pods) {
    if (!each->deleting || each->IsOver() || PriorityOf(*each) >= PriorityOf(pod)) continue;
    Leaving entry{.pod = each.get()};
    if (const auto end = each->standing->deletion_time) {
      entry.is_known = true;
      entry.at_most = std::max(std::chrono::duration_cast<std::chrono::seconds>(*end - now), std::chrono::seconds(0));
    }
    leaving.push_back(entry);
  }
  return leaving;
}

// --- text -----------------------------------------------------------------------------------------------------------

std::string NameOf(const Pod& pod) { return *pod.namespace_name + "/" + pod.name; }

// Why there is nothing to explain; empty: it waits.
std::string NotPending(const Pod& pod, TimePoint now) {
  if (pod.phase == PodPhase::kSucceeded) return "has finished: Succeeded";
  if (pod.phase == PodPhase::kFailed) return "has finished: Failed";
  if (pod.node_name->empty()) return "";
  std::string text = "is on node " + *pod.node_name;
  if (pod.deleting) return text + " and being deleted";
  if (pod.start_time == TimePoint()) return text + " and has not started: its kubelet has it, not the scheduler";
  text += ", since " + DurationText(std::chrono::duration_cast<std::chrono::seconds>(now - pod.start_time));
  return text + (pod.ready ? ", and ready" : ", but not ready: that is no matter of scheduling");
}

std::string LeavingText(const Leaving& leaving) {
  const std::string name = NameOf(*leaving.pod);
  if (!leaving.is_known) return name + " is going; until when is not known";
  if (leaving.at_most == std::chrono::seconds(0)) return name + " should be gone: its grace period is over";
  return name + " is going, " + DurationText(leaving.at_most) + " more at most";
}

// The ordinary course after a preemption: its victims are on their way out, and it must not evict others meanwhile.
bool WaitsForVictims(const Explanation& explanation) {
  return explanation.outlook.report.ineligible == Ineligible::kTerminatingVictim && !explanation.leaving.empty();
}

std::string WaitText(const Explanation& explanation) {
  std::chrono::seconds longest{};
  for (const Leaving& leaving : explanation.leaving) longest = std::max(longest, leaving.at_most);
  const auto count = static_cast<std::int64_t>(explanation.leaving.size());
  return "for " + Counted(count, "victim") + " on " + explanation.pod->standing->nominated_node + " to go, " +
         DurationText(longest) + " more at most; then it is tried there again";
}

// Before and after a preemption the scheduler says different things: there is nothing to compare then.
std::string ComparisonText(const Explanation& explanation) {
  const std::string& said = explanation.pod->standing->unschedulable;
  if (said.empty() || WaitsForVictims(explanation)) return "";
  if (explanation.outlook.report.message == said) return "the same as Podium computes, word for word";
  if (explanation.outlook.report.message.empty()) return "that is over: it fits as the cluster is now";
  return "Podium computes another text: the cluster has changed since, or see the caveats";
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

std::string Explained(const Explanation& explanation, const TableStyle& style) {
  const Pod& pod = *explanation.pod;
  const std::string& said = pod.standing->unschedulable;
  std::string head = "Pod " + NameOf(pod) + " is pending, " + ClassText(pod) + ", ";
  head += explanation.gpus.empty() ? "no GPU" : GpuText(explanation.gpus);
  const auto width = static_cast<std::size_t>(std::max(style.width, 40));
  std::string text = Painted(Wrapped(Printable(head), 0, width), kBold, style.color) + "\n";
  if (WaitsForVictims(explanation)) text += LabelledLine("waits", WaitText(explanation), style);
  const bool is_gated = !pod.scheduling->gates.empty();
  const std::string silence =
      is_gated ? "the scheduler does not look at it before its gates are gone" : "the scheduler has said nothing (yet)";
  text += LabelledLine("condition", said.empty() ? silence : said, style);
  if (const std::string comparison = ComparisonText(explanation); !comparison.empty())
    text += LabelledLine("", "(" + comparison + ")", style);
  if (!pod.standing->nominated_node.empty()) {
    text += LabelledLine("nominated", pod.standing->nominated_node + ": the scheduler has evicted for it there", style);
    for (const Leaving& leaving : explanation.leaving) text += LabelledLine("", LeavingText(leaving), style);
  }
  if (is_gated) text += LabelledLine("gates", Joined(pod.scheduling->gates), style);
  return text + OutlookText(explanation.outlook, {.style = style});
}

// --- JSON -----------------------------------------------------------------------------------------------------------

void WriteLeaving(const std::vector<Leaving>& all, JsonWriter& json) {
  json.Key("leaving");
  json.BeginArray();
  for (const Leaving& leaving : all) {
    json.BeginObject();
    WriteText(json, "namespace", *leaving.pod->namespace_name);
    WriteText(json, "name", leaving.pod->name);
    if (leaving.is_known) {
      json.Key("atMostSeconds");
      json.Int(leaving.at_most.count());
    }
    json.EndObject();
  }
  json.EndArray();
}

std::string ExplanationJson(const Explanation& explanation, const std::string& not_pending) {
  const Pod& pod = *explanation.pod;
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  WriteText(json, "apiVersion", "podium.gpu/v1");
  WriteText(json, "kind", "PodExplanation");
  json.Key("pod");
  json.BeginObject();
  WriteText(json, "namespace", *pod.namespace_name);
  WriteText(json, "name", pod.name);
  json.EndObject();
  json.Key("pending");
  json.Bool(not_pending.empty());
  if (!pod.node_name->empty()) WriteText(json, "node", *pod.node_name);
  if (not_pending.empty()) {
    WriteText(json, "condition", pod.standing->unschedulable);
    if (!pod.standing->unschedulable.empty() && !WaitsForVictims(explanation)) {
      json.Key("agrees");
      json.Bool(explanation.outlook.report.message == pod.standing->unschedulable);
    }
    WriteText(json, "nominatedNode", pod.standing->nominated_node);
    WriteLeaving(explanation.leaving, json);
    json.Key("report");
    WriteOutlook(json, explanation.outlook, pod);
  }
  json.EndObject();
  const Result<std::string> pretty = PrettyJson(text);
  return (pretty ? *pretty : text) + "\n";
}

// --- the command ----------------------------------------------------------------------------------------------------

int Fail(Io& io, const std::string& problem) {
  io.err << "podium why: " << PrintableLines(problem) << "\n";
  return kExitUnusable;
}

// "pod/chat-0", "serving/chat-0" and "chat-0" all name a pod.
std::pair<std::string, std::string> PodNamed(const Options& options, const SeenCluster& cluster) {
  std::string name = options.pod;
  if (name.starts_with("pod/")) name = name.substr(4);
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos)
    return {options.namespace_name.empty() ? cluster.namespace_name : options.namespace_name, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

Explanation Explain(const Pod& pod, const SeenCluster& cluster, const Policy& policy, TimePoint now) {
  Explanation explanation{.pod = &pod};
  explanation.gpus = EffectiveGpuRequest(*pod.spec, policy.gpus);
  explanation.leaving = FindLeaving(*cluster.snapshot, pod, now);
  const OutlookOptions options{.evaluate = {.version = cluster.version}, .now = now, .gpus = policy.gpus};
  explanation.outlook =
      LookAhead(Prepare(*cluster.snapshot, RulesOf(cluster.version)), *cluster.snapshot, pod, options);
  return explanation;
}

int Run(const Options& options, Io& io) {
  const PolicyInput policy = ReadPolicy(options.policy, io.now);
  if (!policy.policy) return Unusable(policy.problems, io);
  const Result<SeenCluster> cluster = SeeCluster(options.cluster, options.version, io);
  if (!cluster) return Fail(io, cluster.error().message);
  const auto [namespace_name, name] = PodNamed(options, *cluster);
  const Pod* pod = FindPod(*cluster->snapshot, namespace_name, name);
  if (pod == nullptr)
    return Fail(io, "there is no pod " + Quoted(name, 100) + " in namespace " + Quoted(namespace_name, 100) +
                        "; -n names another namespace");
  const std::string not_pending = NotPending(*pod, io.now);
  const bool is_json = options.form == "json";
  if (!not_pending.empty()) {
    io.out << (is_json ? ExplanationJson({.pod = pod}, not_pending)
                       : Printable("Pod " + NameOf(*pod) + " " + not_pending) + "\n");
    return kExitOk;
  }
  const Explanation explanation = Explain(*pod, *cluster, *policy.policy, io.now);
  io.out << (is_json ? ExplanationJson(explanation, "") : Explained(explanation, {io.color, io.width}));
  return kExitOk;
}

}  // namespace

Action SetUpWhy(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("POD", options->pod, "Name of the pod: chat-0, or serving/chat-0")->required();
  app.add_option("-n,--namespace", options->namespace_name, "Its namespace (default: the context's, else 'default')");
  app.add_option("-o,--output", options->form, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--policy", options->policy, "Policy file or folder: what counts as a GPU (default: the shipped one)");
  AddSchedulerVersion(app, options->version);
  AddClusterOptions(app, options->cluster);
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
