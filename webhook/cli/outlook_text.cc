#include "cli/outlook_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "cli/columns.h"
#include "cli/gpu_map.h"
#include "core/text.h"

namespace podium {
namespace {

constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kMostNames = 4;  // of nodes in a sentence

std::size_t WidthOf(const TableStyle& style) { return static_cast<std::size_t>(std::max(style.width, 40)); }

// "a, b, c and 12 more".
std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

std::string_view Words(Ineligible reason) {
  switch (reason) {
    case Ineligible::kPolicyNever: return "its class never preempts (preemptionPolicy Never)";
    case Ineligible::kTerminatingVictim: return "victims on its nominated node are still terminating";
    case Ineligible::kGated: return "scheduling gates hold it back";
    case Ineligible::kOtherScheduler: return "another scheduler is responsible for it";
    case Ineligible::kDeleting: return "it is being deleted";
    case Ineligible::kAlreadyBound: return "it is bound to a node already";
    case Ineligible::kOver: return "it has finished";
  }
  return "";
}

std::string FitText(const FeasibilityReport& report) {
  if (report.bind_node) return "on " + report.NodeName(*report.bind_node) + ", its nominated node";
  std::vector<std::string> names;
  for (const std::uint32_t node : report.fit_nodes) names.push_back(report.NodeName(node));
  return "on " + Counted(static_cast<std::int64_t>(names.size()), "node") + " of " +
         std::to_string(report.nodes.size()) + ": " + Names(names);
}

std::string EvictionText(const FeasibilityReport& report) {
  if (report.chosen.empty()) return "";
  const Candidate& candidate = report.candidates[report.chosen.front()];
  std::string text = "on " + report.NodeName(candidate.node) + ", once " +
                     Counted(static_cast<std::int64_t>(candidate.victims.size()), "pod") +
                     (candidate.victims.size() == 1 ? " is evicted" : " are evicted");
  std::vector<std::string> others;
  for (std::size_t i = 1; i < report.chosen.size(); ++i)
    others.push_back(report.NodeName(report.candidates[report.chosen[i]].node));
  if (others.empty()) return text;
  return text + " (" + Names(others) + (others.size() == 1 ? " is" : " are") +
         " as good in every criterion: the scheduler may take another)";
}

std::string_view ColorOf(Feasibility verdict) {
  if (verdict == Feasibility::kFitsNow) return kGreen;
  const bool fits_later = verdict == Feasibility::kFitsAfterPreemption || verdict == Feasibility::kUnknown;
  return fits_later ? kYellow : kRed;
}

// --- reasons --------------------------------------------------------------------------------------------------------

using ReasonCounts = std::vector<std::pair<std::int64_t, std::string>>;

// Most frequent first.
ReasonCounts CountReasons(const FeasibilityReport& report, const std::vector<NodeOutcome>& outcomes) {
  std::map<std::string, std::int64_t> counts;
  for (const NodeOutcome& outcome : outcomes)
    for (const std::string& reason : report.statuses[outcome.status].reasons) ++counts[reason];
  ReasonCounts sorted;
  for (const auto& [reason, count] : counts) sorted.emplace_back(count, reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return sorted;
}

// --- the parts ------------------------------------------------------------------------------------------------------

class OutlookWriter {
 public:
  OutlookWriter(const Outlook& outlook, const OutlookTextOptions& options)
      : outlook_(outlook), report_(outlook.report), options_(options) {}

  [[nodiscard]] std::string Write() {
    Verdict();
    if (outlook_.plan) Plan(*outlook_.plan);
    if (outlook_.room) Room(*outlook_.room);
    if (report_.verdict != Feasibility::kFitsNow) {
      Reasons("refused", report_.refused);
      Reasons("evicting", report_.dry_run);
      Changes();
    }
    if (!report_.message.empty()) Line("scheduler", report_.message);
    for (const Caveat& caveat : report_.caveats) Line("caveat", caveat.text);
    for (const std::string& warning : outlook_.warnings) Line("warning", warning);
    return std::move(text_);
  }

 private:
  void Line(std::string_view label, std::string_view text) { text_ += LabelledLine(label, text, options_.style); }

  void Verdict() {
    const std::string label = Painted("verdict", kBold, options_.style.color);
    const std::string words = Wrapped(Printable(VerdictText(report_)), kLabelWidth + 4, WidthOf(options_.style));
    text_ += "  " + label + std::string(kLabelWidth - 5, ' ') + Painted(words, ColorOf(report_.verdict), options_.style.color) + "\n";
  }

  void Plan(const PreemptionPlan& plan) {
    Line("victims", Counted(static_cast<std::int64_t>(plan.victims.size()), "pod") + " on " +
                        report_.NodeName(plan.node) + ", most important first:");
    VictimTable(plan);
    Line("frees", plan.freed.empty() ? "no GPU" : GpuText(plan.freed));
    Line("waits", "at most " + DurationText(plan.wait_at_most) + ", until the last victim is gone");
    Line("loses", LossText(plan));
    if (plan.budget_violations > 0)
      Line("budgets", Counted(plan.budget_violations, "victim") +
                          (plan.budget_violations == 1 ? " breaks" : " break") +
                          " a disruption budget; the scheduler only prefers not to");
    if (!plan.lost_promise.empty()) Line("promises", PromiseText(plan));
  }

  static std::string LossText(const PreemptionPlan& plan) {
    std::array<char, 40> hours{};
    std::snprintf(hours.data(), hours.size(), "%.1f", static_cast<double>(plan.lost_gpu_seconds) / 3600.0);
    std::string text = std::string(hours.data()) + " GPU-hours of running time, unless the victims keep checkpoints";
    if (plan.loading_victims > 0)
      text += "; " + Counted(static_cast<std::int64_t>(plan.loading_victims), "victim") + " still loading";
    return text;
  }

  static std::string PromiseText(const PreemptionPlan& plan) {
    std::vector<std::string> names;
    for (const Pod* pod : plan.lost_promise) names.push_back(*pod->namespace_name + "/" + pod->name);
    return Names(names) + (names.size() == 1 ? " was" : " were") + " promised room on this node and must look again";
  }

  void VictimTable(const PreemptionPlan& plan) {
    std::vector<std::vector<std::string>> rows = {{"POD", "CLASS", "PRIORITY", "GPUS", "RAN", "GRACE", "NOTE"}};
    for (const VictimCost& victim : plan.victims) {
      const Trio& trio = victim.pod->spec->trio;
      std::string note = victim.loading ? "loading" : "";
      if (victim.breaks_budget) note += std::string(note.empty() ? "" : ", ") + "breaks budget";
      rows.push_back({*victim.pod->namespace_name + "/" + victim.pod->name, trio.class_name.value_or("-"),
                      std::to_string(trio.priority.value_or(0)), UnitsText(victim.gpus),
                      victim.ran_for ? DurationText(*victim.ran_for) : "-", DurationText(victim.grace), note});
    }
    const std::string table = FormatColumns(rows);
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = table.find('\n', at);
      text_ += "    " + table.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }

  // Of the resource the pod is about the number is enough.
  [[nodiscard]] std::string UnitsText(const std::vector<GpuRequest>& gpus) const {
    if (gpus.empty()) return "-";
    const bool plain = gpus.size() == 1 && outlook_.room && gpus.front().resource == outlook_.room->resource;
    return plain ? std::to_string(gpus.front().count) : GpuText(gpus);
  }

  void Room(const podium::Room& room) {
    std::string text = std::to_string(room.wanted) + " " + room.resource + " wanted on one node";
    if (report_.verdict == Feasibility::kPreemptionCannotHelp || report_.verdict == Feasibility::kShapeNeverFits)
      text += "; any one node can have at most " + std::to_string(room.most_on_one_node) + " free (" +
              std::to_string(room.free) + " free and " + std::to_string(room.freeable) +
              " freeable on all nodes together, but units on different nodes do not add up)";
    Line(UnitLabel(room.unit), text);
    text_ += GpuMap(outlook_, {.style = options_.style, .most_nodes = options_.most_nodes});
  }

  static std::string_view UnitLabel(GpuUnit unit) {
    if (unit == GpuUnit::kSlice) return "slices";
    return unit == GpuUnit::kShared ? "shares" : "gpus";
  }

  void Reasons(std::string_view label, const std::vector<NodeOutcome>& outcomes) {
    const ReasonCounts counts = CountReasons(report_, outcomes);
    for (std::size_t i = 0; i < counts.size() && i < options_.most_lines; ++i)
      Line(i == 0 ? label : "", Counted(counts[i].first, "node") + ": " + counts[i].second);
    if (counts.size() > options_.most_lines)
      Line("", "... and " + std::to_string(counts.size() - options_.most_lines) + " more reasons");
  }

  void Changes() {
    for (std::size_t i = 0; i < outlook_.changes.size() && i < options_.most_lines; ++i) {
      const Change& change = outlook_.changes[i];
      std::string text = change.text + ": ";
      text += change.leads_to == Feasibility::kFitsNow
                  ? "fits now"
                  : "fits after evicting " + Counted(static_cast<std::int64_t>(change.victims), "pod");
      if (!change.node.empty()) text += " on " + change.node;
      Line(i == 0 ? "helps" : "", text);
    }
  }

  const Outlook& outlook_;
  const FeasibilityReport& report_;
  OutlookTextOptions options_;
  std::string text_;
};

std::string CountsText(const WorkloadReport& report) {
  const std::int64_t left = std::max<std::int64_t>(report.wanted - report.fit_now - report.fit_after, 0);
  std::string text = std::to_string(report.wanted) + " wanted: " + std::to_string(report.fit_now) + " fit now, " +
                     std::to_string(report.fit_after) + " after preemption, " + std::to_string(left) + " do not fit";
  if (report.placing == Placing::kAllOrNothing)
    text += report.feasible ? "; as a gang they can be placed together" : "; as a gang they cannot be placed together";
  if (report.exactness == Exactness::kBounded) text += " (one course of events: " + report.exactness_reason + ")";
  return text;
}

}  // namespace

std::string LabelledLine(std::string_view label, std::string_view text, const TableStyle& style) {
  std::string line = "  " + std::string(label) + std::string(kLabelWidth + 2 - label.size(), ' ');
  return line + Wrapped(Printable(text), kLabelWidth + 4, WidthOf(style)) + "\n";
}

std::string VerdictText(const FeasibilityReport& report) {
  const std::string why = report.ineligible ? std::string(Words(*report.ineligible)) : "";
  switch (report.verdict) {
    case Feasibility::kFitsNow: return "fits now, " + FitText(report);
    case Feasibility::kFitsAfterPreemption: return "fits after preemption, " + EvictionText(report);
    case Feasibility::kPreemptionForbidden: return "does not fit, and must not preempt: " + why;
    case Feasibility::kPreemptionCannotHelp: return "cannot fit: no evictions on any one node make room";
    case Feasibility::kShapeNeverFits: return "never fits: no node is big enough, even when it is empty";
    case Feasibility::kUnknown: break;
  }
  return "unknown: " + (why.empty() ? "what was not evaluated decides" : why);
}

std::string DurationText(std::chrono::seconds duration) {
  const std::int64_t all = std::max<std::int64_t>(duration.count(), 0);
  const std::int64_t days = all / 86'400;
  const std::int64_t hours = all / 3'600 % 24;
  const std::int64_t minutes = all / 60 % 60;
  const auto pair = [](std::int64_t a, const char* unit, std::int64_t b, const char* smaller) {
    return std::to_string(a) + unit + (b > 0 ? std::to_string(b) + smaller : "");
  };
  if (days > 0) return pair(days, "d", hours, "h");
  if (hours > 0) return pair(hours, "h", minutes, "m");
  if (minutes > 0) return pair(minutes, "m", all % 60, "s");
  return std::to_string(all) + "s";
}

std::string ClassText(const Pod& pod) {
  const Trio& trio = pod.spec->trio;
  return trio.class_name.value_or("no class") + " (" + std::to_string(trio.priority.value_or(0)) + ")";
}

std::string GpuText(const std::vector<GpuRequest>& gpus) {
  std::string text;
  for (const GpuRequest& gpu : gpus)
    text += (text.empty() ? "" : ", ") + std::to_string(gpu.count) + " " + gpu.resource;
  return text;
}

std::string OutlookText(const Outlook& outlook, const OutlookTextOptions& options) {
  return OutlookWriter(outlook, options).Write();
}

std::string WorkloadText(const WorkloadReport& report, const Table<NodeState>& nodes,
                         const OutlookTextOptions& options) {
  std::string text = LabelledLine("replicas", CountsText(report), options.style);
  if (!report.displaced.empty()) {
    std::string fate = Counted(static_cast<std::int64_t>(report.displaced.size()), "pod") +
                       (report.displaced.size() == 1 ? " is" : " are") + " evicted for them, " +
                       std::to_string(report.homeless) + " of which fit nowhere afterwards";
    text += LabelledLine("cascade", fate, options.style);
  }
  for (std::size_t i = 0; i < report.displaced.size() && i < options.most_lines; ++i) {
    const Displaced& each = report.displaced[i];
    std::string line = *each.pod->namespace_name + "/" + each.pod->name;
    line += each.node ? " could go to " + nodes.rows()[*each.node]->key : " fits nowhere";
    if (each.victims > 0) line += ", evicting " + Counted(static_cast<std::int64_t>(each.victims), "pod") + " there";
    text += LabelledLine("", line, options.style);
  }
  return text;
}

}  // namespace podium
