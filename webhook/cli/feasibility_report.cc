#include "cli/feasibility_report.h"

#include <algorithm>

#include "cli/outlook_text.h"
#include "core/text.h"
#include "rules/catalog.h"
#include "wire/feasibility_writer.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

bool IsFit(Feasibility verdict) {
  return verdict == Feasibility::kFitsNow || verdict == Feasibility::kFitsAfterPreemption;
}

// Nodes that a DaemonSet's pod is made for and that have no room for it.
std::int64_t CountFull(const FeasibilityReport& report) {
  return std::count_if(report.refused.begin(), report.refused.end(), [&](const NodeOutcome& outcome) {
    return report.statuses[outcome.status].code == StatusCode::kUnschedulable;
  });
}

// --- text -----------------------------------------------------------------------------------------------------------

// "Deployment serving/chat, 3 replicas, each inference-interactive (1000000), 1 nvidia.com/gpu".
std::string Headline(const FeasibilityItem& item) {
  std::string text = item.manifest.kind + " ";
  if (!item.namespace_name.empty()) text += item.namespace_name + "/";
  text += item.name;
  if (item.refusal) return text;
  const PodQuestion& question = item.question;
  if (!question.path.empty()) {
    PodTemplate place;
    place.path = question.path;
    text += " " + FieldPath(place, "");
    text += ", " + (question.per_node ? "one on each node" : Counted(question.replicas, "replica"));
  }
  text += ", " + ClassText(question.pod);
  return text + ", " + (item.gpus.empty() ? "no GPU" : GpuText(item.gpus));
}

std::string PerNodeText(const FeasibilityReport& report) {
  const auto fit = static_cast<std::int64_t>(report.fit_nodes.size());
  const std::int64_t full = CountFull(report);
  const auto others = static_cast<std::int64_t>(report.refused.size()) - full;
  return "there is room on " + Counted(fit, "node") + " and none on " + Counted(full, "node") + "; " +
         Counted(others, "node") + (others == 1 ? " is" : " are") + " not meant for it";
}

std::string RefusalText(const FeasibilityItem& item, const FeasibilityForm& form) {
  const std::string label = Painted("refused", kRed, form.style.color);
  std::string line = LabelledLine("refused", item.refusal->message, form.style);
  return form.style.color ? line.replace(2, 7, label) : line;
}

std::string ItemText(const FeasibilityItem& item, const SeenCluster& cluster, const FeasibilityForm& form) {
  std::string text = Painted(Printable(Headline(item)), kBold, form.style.color) + "\n";
  if (item.refusal) return text + RefusalText(item, form);
  OutlookTextOptions options{.style = form.style};
  if (form.is_wide) options.most_nodes = options.most_lines = 100;
  text += OutlookText(item.outlook, options);
  if (item.question.per_node) text += LabelledLine("replicas", PerNodeText(item.outlook.report), form.style);
  if (item.question.replicas == 0) text += LabelledLine("replicas", "none are wanted now", form.style);
  if (item.workload) text += WorkloadText(*item.workload, cluster.snapshot->nodes, options);
  for (const std::string& warning : item.warnings) text += LabelledLine("policy", warning, form.style);
  return text;
}

std::string Summary(const FeasibilityAnswer& answer, const FeasibilityForm& form) {
  const auto nodes = static_cast<std::int64_t>(answer.cluster.snapshot->nodes.size());
  const std::string version =
      std::to_string(answer.cluster.version.major) + "." + std::to_string(answer.cluster.version.minor);
  const std::string text = "cluster " + Printable(answer.cluster_name) + ": " + Counted(nodes, "node") +
                           "; kube-scheduler " + version + " (" + Printable(answer.cluster.version_from) +
                           "); policy " + Printable(answer.policy_name) + " (revision " +
                           answer.policy_revision.substr(0, 12) + ")";
  return Wrapped(text, 0, static_cast<std::size_t>(std::max(form.style.width, 40))) + "\n";
}

// --- JSON -----------------------------------------------------------------------------------------------------------

void WriteObjectName(const FeasibilityItem& item, JsonWriter& json) {
  json.Key("object");
  json.BeginObject();
  WriteText(json, "apiVersion", item.manifest.api_version);
  WriteText(json, "kind", item.manifest.kind);
  WriteText(json, "namespace", item.namespace_name);
  WriteText(json, "name", item.name);
  WriteText(json, "template", item.question.path);
  json.EndObject();
  json.Key("source");
  json.BeginObject();
  WriteText(json, "file", item.manifest.span.file);
  json.Key("line");
  json.Int(item.manifest.span.line);
  json.Key("column");
  json.Int(item.manifest.span.column);
  json.EndObject();
}

void WriteRefusal(const Decision& refusal, JsonWriter& json) {
  WriteText(json, "apiVersion", "podium.gpu/v1");
  WriteText(json, "kind", "FeasibilityReport");
  json.Key("refused");
  json.BeginObject();
  json.Key("code");
  json.Int(refusal.code);
  WriteText(json, "message", refusal.message);
  json.EndObject();
}

void WriteItem(const FeasibilityItem& item, const FeasibilityAnswer& answer, JsonWriter& json) {
  json.BeginObject();
  if (item.refusal) {
    WriteRefusal(*item.refusal, json);
  } else {
    WriteOutlookMembers(json, item.outlook, item.question.pod);
    const Trio& trio = item.question.pod.spec->trio;
    WriteText(json, "priorityClassName", trio.class_name.value_or(""));
    json.Key("priority");
    json.Int(trio.priority.value_or(0));
    json.Key("replicas");
    json.Int(item.question.replicas);
    json.Key("perNode");
    json.Bool(item.question.per_node);
    WriteTexts(json, "policyWarnings", item.warnings);
  }
  json.Key("fits");
  json.Bool(Fits(item));
  if (item.workload) {
    json.Key("workload");
    WriteWorkload(json, *item.workload, answer.cluster.snapshot->nodes);
  }
  WriteObjectName(item, json);
  WriteText(json, "cluster", answer.cluster_name);
  json.Key("policy");
  json.BeginObject();
  WriteText(json, "name", answer.policy_name);
  WriteText(json, "revision", answer.policy_revision);
  json.EndObject();
  json.EndObject();
}

}  // namespace

bool Fits(const FeasibilityItem& item) {
  if (item.refusal) return false;
  if (item.question.per_node) return CountFull(item.outlook.report) == 0 || item.outlook.report.fit_nodes.empty();
  if (item.question.replicas == 0) return true;
  return item.workload ? item.workload->feasible : IsFit(item.outlook.report.verdict);
}

std::string FeasibilityText(const FeasibilityAnswer& answer, const FeasibilityForm& form) {
  std::string text;
  for (const FeasibilityItem& item : answer.items) text += ItemText(item, answer.cluster, form) + "\n";
  return text + Summary(answer, form);
}

std::string FeasibilityJson(const FeasibilityAnswer& answer) {
  std::string text;
  JsonWriter json(text);
  if (answer.items.size() == 1) {
    WriteItem(answer.items.front(), answer, json);
    return text;
  }
  json.BeginObject();
  WriteText(json, "apiVersion", "podium.gpu/v1");
  WriteText(json, "kind", "FeasibilityReportList");
  json.Key("items");
  json.BeginArray();
  for (const FeasibilityItem& item : answer.items) WriteItem(item, answer, json);
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace podium
