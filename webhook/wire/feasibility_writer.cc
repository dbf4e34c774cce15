#include "wire/feasibility_writer.h"

#include <cstdint>
#include <string_view>

#include "wire/object_writer.h"

namespace podium {
namespace {

constexpr std::string_view kApiVersion = "podium.gpu/v1";

std::string_view NameOf(CaveatKind kind) {
  switch (kind) {
    case CaveatKind::kVolumes: return "Volumes";
    case CaveatKind::kResourceClaims: return "ResourceClaims";
    case CaveatKind::kTooManyResources: return "TooManyResources";
    case CaveatKind::kUnverifiedVersion: return "UnverifiedVersion";
    case CaveatKind::kSampling: return "Sampling";
    case CaveatKind::kEqualPods: return "EqualPods";
    case CaveatKind::kBudgetOrder: return "BudgetOrder";
  }
  return "Volumes";
}

// The scheduler's own names.
std::string_view NameOf(StatusCode code) {
  return code == StatusCode::kUnschedulable ? "Unschedulable" : "UnschedulableAndUnresolvable";
}

// --- small values ---------------------------------------------------------------------------------------------------

void WriteNumber(JsonWriter& json, std::string_view key, std::int64_t value) {
  json.Key(key);
  json.Int(value);
}

void WriteFlag(JsonWriter& json, std::string_view key, bool value) {
  json.Key(key);
  json.Bool(value);
}

// "key":[...], with write(item) for each.
template <typename Items, typename Write>
void WriteList(JsonWriter& json, std::string_view key, const Items& items, const Write& write) {
  json.Key(key);
  json.BeginArray();
  for (const auto& item : items) write(item);
  json.EndArray();
}

// {...}, with the members that write() makes.
template <typename Write>
void WriteObject(JsonWriter& json, const Write& write) {
  json.BeginObject();
  write();
  json.EndObject();
}

void PodName(JsonWriter& json, const Pod& pod) {
  WriteText(json, "namespace", *pod.namespace_name);
  WriteText(json, "name", pod.name);
}

void WritePodNames(JsonWriter& json, std::string_view key, const std::vector<const Pod*>& pods) {
  WriteList(json, key, pods, [&](const Pod* pod) { WriteObject(json, [&] { PodName(json, *pod); }); });
}

void WriteGpus(JsonWriter& json, std::string_view key, const std::vector<GpuRequest>& gpus) {
  WriteList(json, key, gpus, [&](const GpuRequest& gpu) {
    WriteObject(json, [&] {
      WriteText(json, "resource", gpu.resource);
      WriteText(json, "unit", ToString(gpu.unit));
      WriteNumber(json, "count", gpu.count);
    });
  });
}

// --- the verdict ----------------------------------------------------------------------------------------------------

void WriteOutcomes(JsonWriter& json, std::string_view key, const FeasibilityReport& report,
                   const std::vector<NodeOutcome>& outcomes) {
  WriteList(json, key, outcomes, [&](const NodeOutcome& outcome) {
    const NodeStatus& status = report.statuses[outcome.status];
    WriteObject(json, [&] {
      WriteText(json, "node", report.NodeName(outcome.node));
      WriteText(json, "code", NameOf(status.code));
      WriteText(json, "plugin", status.plugin);
      WriteTexts(json, "reasons", status.reasons);
    });
  });
}

void WriteNodes(JsonWriter& json, const FeasibilityReport& report) {
  json.Key("nodes");
  WriteObject(json, [&] {
    WriteList(json, "fit", report.fit_nodes, [&](std::uint32_t node) { json.String(report.NodeName(node)); });
    if (report.bind_node) WriteText(json, "bindNode", report.NodeName(*report.bind_node));
    WriteOutcomes(json, "refused", report, report.refused);
    WriteOutcomes(json, "dryRun", report, report.dry_run);
  });
}

void WriteCandidates(JsonWriter& json, const FeasibilityReport& report) {
  WriteList(json, "candidates", report.candidates, [&](const Candidate& candidate) {
    WriteObject(json, [&] {
      WriteText(json, "node", report.NodeName(candidate.node));
      WritePodNames(json, "victims", candidate.victims);
      WriteNumber(json, "budgetViolations", candidate.budget_violations);
    });
  });
  WriteList(json, "chosen", report.chosen,
            [&](std::uint32_t at) { json.String(report.NodeName(report.candidates[at].node)); });
}

void ReportHead(JsonWriter& json, const FeasibilityReport& report) {
  WriteText(json, "verdict", ToString(report.verdict));
  if (report.ineligible) WriteText(json, "ineligible", ToString(*report.ineligible));
  WriteText(json, "schedulerVersion", report.rules);
  WriteText(json, "message", report.message);
  WriteNodes(json, report);
  WriteCandidates(json, report);
  WriteList(json, "caveats", report.caveats, [&](const Caveat& caveat) {
    WriteObject(json, [&] {
      WriteText(json, "kind", NameOf(caveat.kind));
      WriteText(json, "text", caveat.text);
    });
  });
}

// --- what it costs and what would help ------------------------------------------------------------------------------

void WriteVictim(JsonWriter& json, const VictimCost& victim) {
  const Trio& trio = victim.pod->spec->trio;
  WriteObject(json, [&] {
    PodName(json, *victim.pod);
    WriteNumber(json, "priority", trio.priority.value_or(0));
    WriteText(json, "priorityClassName", trio.class_name.value_or(""));
    WriteGpus(json, "gpus", victim.gpus);
    WriteNumber(json, "graceSeconds", victim.grace.count());
    if (victim.ran_for) WriteNumber(json, "ranSeconds", victim.ran_for->count());
    WriteFlag(json, "loading", victim.loading);
    WriteFlag(json, "breaksBudget", victim.breaks_budget);
  });
}

void WritePlan(JsonWriter& json, const PreemptionPlan& plan, const FeasibilityReport& report) {
  json.Key("plan");
  WriteObject(json, [&] {
    WriteText(json, "node", report.NodeName(plan.node));
    WriteList(json, "victims", plan.victims, [&](const VictimCost& victim) { WriteVictim(json, victim); });
    WriteNumber(json, "budgetViolations", plan.budget_violations);
    WriteGpus(json, "freed", plan.freed);
    WriteNumber(json, "waitAtMostSeconds", plan.wait_at_most.count());
    WriteNumber(json, "lostGpuSeconds", plan.lost_gpu_seconds);
    WriteNumber(json, "loadingVictims", static_cast<std::int64_t>(plan.loading_victims));
    WritePodNames(json, "lostPromise", plan.lost_promise);
  });
}

void WriteRoom(JsonWriter& json, const Room& room, const FeasibilityReport& report) {
  json.Key("room");
  WriteObject(json, [&] {
    WriteText(json, "resource", room.resource);
    WriteText(json, "unit", ToString(room.unit));
    WriteNumber(json, "wanted", room.wanted);
    WriteNumber(json, "free", room.free);
    WriteNumber(json, "freeable", room.freeable);
    WriteNumber(json, "mostOnOneNode", room.most_on_one_node);
    WriteList(json, "nodes", room.nodes, [&](const NodeRoom& node) {
      WriteObject(json, [&] {
        WriteText(json, "node", report.NodeName(node.node));
        WriteNumber(json, "allocatable", node.allocatable);
        WriteNumber(json, "free", node.free);
        WriteNumber(json, "freeable", node.freeable);
        WriteFlag(json, "usable", node.usable);
      });
    });
  });
}

void WriteChange(JsonWriter& json, const Change& change) {
  WriteObject(json, [&] {
    WriteText(json, "kind", ToString(change.kind));
    WriteText(json, "text", change.text);
    WriteText(json, "leadsTo", ToString(change.leads_to));
    WriteText(json, "node", change.node);
    WriteNumber(json, "victims", static_cast<std::int64_t>(change.victims));
  });
}

// --- workloads and stock --------------------------------------------------------------------------------------------

void WriteStep(JsonWriter& json, const ReplicaOutcome& step, const WorkloadReport& report) {
  WriteObject(json, [&] {
    WriteText(json, "verdict", ToString(step.verdict));
    if (step.node) WriteText(json, "node", report.NodeName(*step.node));
    WritePodNames(json, "victims", step.victims);
  });
}

void WriteDisplaced(JsonWriter& json, const Displaced& displaced, const WorkloadReport& report) {
  WriteObject(json, [&] {
    PodName(json, *displaced.pod);
    WriteFlag(json, "recreated", displaced.recreated);
    WriteText(json, "verdict", ToString(displaced.verdict));
    if (displaced.node) WriteText(json, "node", report.NodeName(*displaced.node));
    WriteNumber(json, "victims", static_cast<std::int64_t>(displaced.victims));
  });
}

void WriteCounts(JsonWriter& json, std::string_view key, const std::map<std::string, std::int64_t>& counts) {
  json.Key(key);
  WriteObject(json, [&] {
    for (const auto& [name, count] : counts) WriteNumber(json, name, count);
  });
}

void WriteStock(JsonWriter& json, const GpuStock& stock) {
  WriteObject(json, [&] {
    WriteText(json, "pool", stock.pool);
    WriteText(json, "resource", stock.resource);
    WriteText(json, "unit", ToString(stock.unit));
    WriteNumber(json, "nodes", stock.nodes);
    WriteNumber(json, "capacity", stock.capacity);
    WriteNumber(json, "free", stock.free);
    WriteNumber(json, "onUnusableNodes", stock.on_unusable_nodes);
    WriteCounts(json, "held", stock.held);
    WriteCounts(json, "preemptible", stock.preemptible);
    WriteList(json, "freePerNode", stock.free_per_node, [&](const auto& row) {
      WriteObject(json, [&] {
        WriteNumber(json, "free", row.first);
        WriteNumber(json, "nodes", row.second);
      });
    });
    WriteNumber(json, "largestFree", stock.largest_free);
  });
}

}  // namespace

void WriteOutlookMembers(JsonWriter& json, const Outlook& outlook, const Pod& pod) {
  const FeasibilityReport& report = outlook.report;
  WriteText(json, "apiVersion", kApiVersion);
  WriteText(json, "kind", "FeasibilityReport");
  json.Key("pod");
  WriteObject(json, [&] { PodName(json, pod); });
  ReportHead(json, report);
  if (outlook.plan) WritePlan(json, *outlook.plan, report);
  if (outlook.room) WriteRoom(json, *outlook.room, report);
  WriteList(json, "changes", outlook.changes, [&](const Change& change) { WriteChange(json, change); });
  WriteTexts(json, "warnings", outlook.warnings);
}

void WriteOutlook(JsonWriter& json, const Outlook& outlook, const Pod& pod) {
  WriteObject(json, [&] { WriteOutlookMembers(json, outlook, pod); });
}

void WriteWorkload(JsonWriter& json, const WorkloadReport& report) {
  WriteObject(json, [&] {
    WriteText(json, "placing", ToString(report.placing));
    WriteNumber(json, "wanted", report.wanted);
    WriteNumber(json, "fitNow", report.fit_now);
    WriteNumber(json, "fitAfter", report.fit_after);
    WriteFlag(json, "feasible", report.feasible);
    WriteText(json, "exactness", ToString(report.exactness));
    WriteText(json, "exactnessReason", report.exactness_reason);
    WriteList(json, "steps", report.steps, [&](const ReplicaOutcome& step) { WriteStep(json, step, report); });
    if (report.stopped_by) {
      json.Key("stoppedBy");
      WriteObject(json, [&] { ReportHead(json, *report.stopped_by); });
    }
    WriteList(json, "displaced", report.displaced, [&](const Displaced& pod) { WriteDisplaced(json, pod, report); });
    WriteNumber(json, "homeless", report.homeless);
  });
}

void WriteGpuStock(JsonWriter& json, const std::vector<GpuStock>& stock) {
  json.BeginArray();
  for (const GpuStock& each : stock) WriteStock(json, each);
  json.EndArray();
}

std::string OutlookJson(const Outlook& outlook, const Pod& pod) {
  std::string text;
  JsonWriter json(text);
  WriteOutlook(json, outlook, pod);
  return text;
}

}  // namespace podium
