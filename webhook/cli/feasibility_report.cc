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
    if (question.path != "/spec/template") text += " " + FieldPath(place, "");  // it may have others
    text += ", " + (question.per_node ? "one on each node" : Counted(question.replicas, "replica"));
  }
  text += ", " + ClassText(question.pod);
  return text + ", " + (item.gpus.empty() ? "no GPU" : GpuText(item.gpus));
}

std::string PerNodeText(const DaemonOutcome& daemon) {
  std::string text = "room on " + Counted(daemon.fit_now, "node");
  if (daemon.fit_after > 0) text += ", after evictions on " + Counted(daemon.fit_after, "node");
  if (daemon.no_room > 0) text += ", none on " + Counted(daemon.no_room, "node");
  if (daemon.not_meant > 0) text += "; it is not meant for " + Counted(daemon.not_meant, "node");
  return text;
}

// The verdict on what was asked for, where that is more than one pod.
std::string WholeText(const FeasibilityItem& item) {
  if (item.daemon) return PerNodeText(*item.daemon);
  const WorkloadReport& report = *item.workload;
  std::size_t victims = 0;
  for (const ReplicaOutcome& step : report.steps) victims += step.victims.size();
  const std::int64_t nowhere = report.wanted - report.fit_now - report.fit_after;
  std::string text = report.feasible ? "fits: of " : "does not fit: of ";
  text += Counted(report.wanted, "replica") + " " + std::to_string(report.fit_now) + " now, " +
          std::to_string(report.fit_after) + " after preemption, " + std::to_string(nowhere) + " nowhere";
  if (victims > 0) text += ", with " + Counted(static_cast<std::int64_t>(victims), "victim") + " in all";
  return text + "; the lines below are about the first pod alone";
}

std::string RefusalText(const FeasibilityItem& item, const FeasibilityForm& form) {
  const std::string label = Painted("refused", kRed, form.style.color);
  std::string line = LabelledLine("refused", item.refusal->message, form.style);
  return form.style.color ? line.replace(2, 7, label) : line;
}

std::string ItemText(const FeasibilityItem& item, const FeasibilityForm& form) {
  const auto width = static_cast<std::size_t>(std::max(form.style.width, 40));
  std::string text = Painted(Wrapped(Printable(Headline(item)), 0, width), kBold, form.style.color) + "\n";
  if (item.refusal) return text + RefusalText(item, form);
  OutlookTextOptions options{.style = form.style};
  if (form.is_wide) options = {.style = form.style, .most_nodes = 100, .most_lines = 100, .is_wide = true};
  if (item.daemon || item.workload) text += LabelledLine("in all", WholeText(item), form.style);
  text += OutlookText(item.outlook, options);
  if (item.question.replicas == 0) text += LabelledLine("replicas", "none are wanted now", form.style);
  if (item.workload) text += WorkloadText(*item.workload, options);
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

void WriteDaemon(const DaemonOutcome& daemon, JsonWriter& json) {
  const auto number = [&json](std::string_view key, std::int64_t value) {
    json.Key(key);
    json.Int(value);
  };
  json.Key("daemon");
  json.BeginObject();
  number("fitNow", daemon.fit_now);
  number("fitAfter", daemon.fit_after);
  number("noRoom", daemon.no_room);
  number("notMeant", daemon.not_meant);
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
    WriteWorkload(json, *item.workload);
  }
  if (item.daemon) WriteDaemon(*item.daemon, json);
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
  if (item.daemon) return item.daemon->no_room == 0;
  if (item.question.replicas == 0) return true;
  return item.workload ? item.workload->feasible : IsFit(item.outlook.report.verdict);
}

std::string FeasibilityText(const FeasibilityAnswer& answer, const FeasibilityForm& form) {
  std::string text;
  for (const FeasibilityItem& item : answer.items) text += ItemText(item, form) + "\n";
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
