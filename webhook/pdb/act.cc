#include "pdb/act.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/digest.h"
#include "core/jitter.h"

namespace podium {
namespace {

using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kJitter = 0.5;  // a waiting time is up to half as long again
constexpr auto kLongestWait = minutes(15);
constexpr auto kRemembered = minutes(30);  // a budget that was left alone as long starts afresh
constexpr auto kEventWindow = minutes(10);
constexpr auto kTellAgain = hours(6);

std::string KeyOf(const ObjectRef& object) { return object.namespace_name + "/" + object.name; }

std::string DigestOf(const BudgetAction& action) {
  return action.verb == BudgetVerb::kDelete ? "delete " + action.uid : Sha256Hex(action.json);
}

// --- waiting --------------------------------------------------------------------------------------------------------

struct Waiting {
  seconds first;
  seconds longest;
};

Waiting WaitingAfter(const std::optional<ErrorKind>& failed) {
  if (!failed) return {seconds(15), minutes(10)};
  const bool refused = *failed == ErrorKind::kPermission || *failed == ErrorKind::kInvalidInput;
  return refused ? Waiting{minutes(1), minutes(10)} : Waiting{seconds(2), minutes(5)};
}

TimePoint::duration WaitOf(const ObjectHistory& history, const std::string& key) {
  const Waiting waiting = WaitingAfter(history.failed);
  const auto doublings = std::min<std::uint64_t>(history.tries - 1, 16);
  const seconds plain = std::min(waiting.first * (1 << doublings), waiting.longest);
  const std::chrono::duration<double> spread = plain * (1 + kJitter * Fraction(key, history.tries));
  return duration_cast<TimePoint::duration>(spread);
}

bool IsWaiting(const TimePoint& until, TimePoint now) {
  return now < until && until - now <= kLongestWait;  // further off: the wall clock was set back
}

bool MustWait(const ActState& state, const BudgetAction& action, TimePoint now) {
  const auto found = state.budgets.find(KeyOf(action.object));
  if (found == state.budgets.end() || !IsWaiting(found->second.not_before, now)) return false;
  const ObjectHistory& history = found->second;
  // Something else may be written at once, but not to a server that is away or refuses us as such.
  const bool about_content = !history.failed || *history.failed == ErrorKind::kInvalidInput;
  return !about_content || history.last == DigestOf(action);
}

// --- actions --------------------------------------------------------------------------------------------------------

// Smaller comes first: what blocks evictions goes before what protects is added.
int Urgency(const BudgetRow& row) {
  if (row.Deletes()) return 0;
  return row.step == BudgetStep::kUpdate ? 1 : 2;
}

std::optional<BudgetAction> ActionOf(const BudgetRow& row, std::size_t position) {
  if (row.Deletes()) {
    if (row.existing->uid.empty()) return {};
    return BudgetAction{BudgetVerb::kDelete, BudgetRef(*row.existing), "", row.existing->uid, position};
  }
  // Without the owner's uid (a cluster read from a file) there is no owner reference, and nobody would clean up.
  if (!row.Applies() || row.desired->owners.front().uid.empty()) return {};
  const Ownership ownership = row.step == BudgetStep::kUpdate ? Ownership::kOurs : Ownership::kNew;
  return BudgetAction{BudgetVerb::kApply, BudgetRef(*row.desired), RenderBudget(*row.desired), "", position, ownership};
}

std::string WorkloadKey(const WorkloadId& workload) {
  return workload.namespace_name + "/" + workload.kind + "/" + workload.name;
}

BudgetEvent MakeEvent(const WorkloadId& workload, EventType type, std::string reason, std::string note) {
  return {workload, type, std::move(reason), std::move(note)};
}

const char* ReasonOfWrite(const BudgetRow& row) {
  if (row.Deletes()) return "BudgetRemoved";
  return row.step == BudgetStep::kCreate ? "BudgetCreated" : "BudgetUpdated";
}

}  // namespace

ActRound Act(const BudgetPlan& plan, const ActState& state, TimePoint now, const ActLimits& limits) {
  ActRound round;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    std::optional<BudgetAction> action = ActionOf(plan.rows[i], i);
    if (action && !MustWait(state, *action, now)) round.actions.push_back(std::move(*action));
  }
  std::stable_sort(round.actions.begin(), round.actions.end(), [&plan](const BudgetAction& a, const BudgetAction& b) {
    return Urgency(plan.rows[a.row]) < Urgency(plan.rows[b.row]);
  });
  round.more = round.actions.size() > limits.writes;
  if (round.more) round.actions.resize(limits.writes);
  return round;
}

ActState Settle(ActState state, const BudgetAction& action, const Status& status, TimePoint now) {
  const std::string key = KeyOf(action.object);
  ObjectHistory& history = state.budgets[key];
  const std::string digest = DigestOf(action);
  const std::optional<ErrorKind> failed = status ? std::nullopt : std::optional(status.error().kind);
  const bool again = history.failed.has_value() == failed.has_value() && (failed || history.last == digest);
  history.tries = again ? history.tries + 1 : 1;
  history.last = digest;
  history.failed = failed;
  history.not_before = now + WaitOf(history, key);
  return state;
}

bool IsWaitOver(const ActState& state, TimePoint last_round, TimePoint now) {
  return std::any_of(state.budgets.begin(), state.budgets.end(), [&](const auto& each) {
    return last_round < each.second.not_before && each.second.not_before <= now;
  });
}

ActState Forget(ActState state, TimePoint now) {
  std::erase_if(state.budgets, [now](const auto& each) { return each.second.not_before + kRemembered < now; });
  std::erase_if(state.events.said, [now](const auto& each) { return each.second + kTellAgain < now; });
  return state;
}

std::optional<BudgetEvent> EventOfRow(const BudgetRow& row) {
  if (row.Applies() || row.Deletes()) return {};
  if (row.step == BudgetStep::kStepAside && !row.problem)
    return MakeEvent(row.workload, EventType::kNormal, "BudgetStepsAside", row.reason);
  if (!row.problem) return {};
  const bool overlap = row.step == BudgetStep::kStepAside;
  return MakeEvent(row.workload, EventType::kWarning, overlap ? "BudgetsOverlap" : "BudgetImpossible", row.reason);
}

std::optional<BudgetEvent> EventOfWrite(const BudgetRow& row, const BudgetAction& action, const Status& status) {
  if (row.workload.kind.empty()) return {};  // about nothing
  // The snapshot was behind: what comes of it is said when it shows more.
  if (!status && status.error().kind == ErrorKind::kConflict) return {};
  if (!status)
    return MakeEvent(row.workload, EventType::kWarning, "BudgetNotWritten",
                     "budget '" + action.object.name + "' could not be " + (row.Deletes() ? "removed: " : "written: ") +
                         status.error().message);
  return MakeEvent(row.workload, row.problem ? EventType::kWarning : EventType::kNormal, ReasonOfWrite(row),
                   "budget '" + action.object.name + "': " + row.reason);
}

bool MayTell(const EventHistory& events, const BudgetEvent& event, TimePoint now, const ActLimits& limits) {
  const auto said = events.said.find(EventName(event));
  if (said != events.said.end() && now - said->second < kTellAgain) return false;
  if (now - events.window_start >= kEventWindow || now < events.window_start) return true;
  const auto of_workload = events.by_workload.find(WorkloadKey(event.workload));
  return events.in_window < limits.events &&
         (of_workload == events.by_workload.end() || of_workload->second < limits.events_of_workload);
}

EventHistory Attempt(EventHistory events, const BudgetEvent& event, TimePoint now) {
  if (now - events.window_start >= kEventWindow || now < events.window_start) {
    events.window_start = now;
    events.in_window = 0;
    events.by_workload.clear();
  }
  ++events.in_window;
  ++events.by_workload[WorkloadKey(event.workload)];
  return events;
}

EventHistory Tell(EventHistory events, const BudgetEvent& event, TimePoint now) {
  events = Attempt(std::move(events), event, now);
  events.said[EventName(event)] = now;
  return events;
}

}  // namespace podium
