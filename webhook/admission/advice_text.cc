#include "admission/advice_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "admission/fold.h"

namespace podium {
namespace {

std::string Counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

// --- evictions ------------------------------------------------------------------------------------------------------

std::vector<std::string> OwnVictims(const AdviceFacts& facts) {
  std::vector<std::string> names;
  for (const VictimCost& victim : facts.plan->victims)
    if (*victim.pod->namespace_name == *facts.pod.namespace_name)
      names.push_back(*victim.pod->namespace_name + '/' + victim.pod->name);
  return names;
}

// " (a/x, a/y, ...)" with as many names as there is room for; empty when that is none.
std::string Named(const std::vector<std::string>& names, std::size_t all, std::size_t max_bytes) {
  constexpr std::string_view kMore = ", ...)";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string next = (i == 0 ? " (" : ", ") + names[i];
    const bool last = i + 1 == all;
    if (text.size() + next.size() + (last ? 1 : kMore.size()) > max_bytes) break;
    text += next;
    if (last) return text + ')';
  }
  return text.empty() ? text : text.append(kMore);
}

std::string Evictions(const AdviceFacts& facts) {
  const PreemptionPlan& plan = *facts.plan;
  const std::string wait = ", up to " + std::to_string(plan.wait_at_most.count()) + " s";
  const std::string first = facts.replicas > 1 ? "the first of " + std::to_string(facts.replicas) + " pods " : "";
  const std::string what = "podium: " + first + "fits after evicting " + Counted(plan.victims.size(), "pod") + " on " +
                           facts.report.NodeName(plan.node) + (facts.report.chosen.size() > 1 ? " or its like" : "");
  const std::size_t room = kWarningBytes - wait.size();
  const std::string line = OneLine(what, room);
  return line + Named(OwnVictims(facts), plan.victims.size(), room - line.size()) + wait;
}

// --- a no -----------------------------------------------------------------------------------------------------------

std::int64_t LargestNode(const Room& room) {
  std::int64_t largest = 0;
  for (const NodeRoom& node : room.nodes) largest = std::max(largest, node.allocatable);
  return largest;
}

// The scheduler's reasons without its counts of nodes before and its words on preemption behind them.
std::string Reasons(const std::string& message) {
  constexpr std::string_view kAvailable = "nodes are available: ";
  std::string_view text = message;
  if (const std::size_t at = text.find(kAvailable); at != std::string_view::npos)
    text.remove_prefix(at + kAvailable.size());
  text = text.substr(0, text.find(" preemption: "));
  text = text.substr(0, text.find(" no new claims to deallocate"));
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

std::string NeverFits(const AdviceFacts& facts) {
  if (facts.room && facts.room->wanted > LargestNode(*facts.room)) {
    const Room& room = *facts.room;
    const std::string wanted = std::to_string(room.wanted) + ' ' + room.resource + " wanted on one node, ";
    if (room.nodes.empty()) return wanted + "no node has any";
    return wanted + "the largest of " + std::to_string(room.nodes.size()) + " has " + std::to_string(LargestNode(room));
  }
  return "no node is big enough: " + Reasons(facts.report.message);
}

std::string CannotHelp(const AdviceFacts& facts) {
  if (!facts.room || facts.room->wanted <= facts.room->most_on_one_node)
    return "no eviction helps: " + Reasons(facts.report.message);
  const Room& room = *facts.room;
  const auto usable =
      std::count_if(room.nodes.begin(), room.nodes.end(), [](const NodeRoom& node) { return node.usable; });
  if (usable == 0)
    return "all " + Counted(room.nodes.size(), "node") + " with " + room.resource +
           " are closed to it: " + Reasons(facts.report.message);
  return std::to_string(room.wanted) + ' ' + room.resource + " wanted on one node, at most " +
         std::to_string(std::max<std::int64_t>(0, room.most_on_one_node)) + " can be freed on any of " +
         std::to_string(usable);
}

std::string No(const AdviceFacts& facts) {
  return facts.report.verdict == Feasibility::kShapeNeverFits ? "will never fit: " + NeverFits(facts)
                                                              : "will not fit: " + CannotHelp(facts);
}

}  // namespace

std::string WarningText(const AdviceFacts& facts) {
  switch (facts.report.verdict) {
    case Feasibility::kFitsAfterPreemption: return Evictions(facts);
    case Feasibility::kPreemptionForbidden:
      return "podium: will wait: no node has room for it now, and with preemptionPolicy Never it evicts nobody";
    case Feasibility::kPreemptionCannotHelp:
    case Feasibility::kShapeNeverFits: return OneLine("podium: " + No(facts), kWarningBytes);
    case Feasibility::kFitsNow:
    case Feasibility::kUnknown: break;
  }
  return "";
}

std::string RefusalText(const AdviceFacts& facts) {
  return No(facts) + ". The scheduler would say: " + facts.report.message;
}

}  // namespace podium
