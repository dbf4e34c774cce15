// From a plan to what is written now: back-off, no write twice, a bounded number at once. Pure; the loop that carries
// it out is pdb/controller.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pdb/plan.h"
#include "pdb/render.h"
#include "podium/ports.h"
#include "podium/result.h"

namespace podium {

enum class BudgetVerb { kDelete, kApply };

struct BudgetAction {
  BudgetVerb verb = BudgetVerb::kApply;
  ObjectRef object;
  std::string json;                       // of kApply
  std::string uid;                        // of kDelete
  std::size_t row = 0;                    // of the plan
  Ownership ownership = Ownership::kNew;  // of kApply
  bool operator==(const BudgetAction&) const = default;
};

// What was tried with one budget.
struct ObjectHistory {
  std::string last;                 // digest of the last try
  std::optional<ErrorKind> failed;  // how the last try ended; absent: well
  std::uint64_t tries = 0;          // failures in a row, or times the same was written
  TimePoint not_before{};
  bool operator==(const ObjectHistory&) const = default;
};

// Events of the last minutes.
struct EventHistory {
  TimePoint window_start{};
  std::size_t in_window = 0;
  std::map<std::string, std::size_t> by_workload;  // of the window
  std::map<std::string, TimePoint> said;           // by event name
  bool operator==(const EventHistory&) const = default;
};

struct ActState {
  std::map<std::string, ObjectHistory> budgets;  // by "namespace/name"
  EventHistory events;
  bool operator==(const ActState&) const = default;
};

struct ActLimits {
  std::size_t writes = 20;  // in one round
  std::size_t events = 60;  // in ten minutes
  std::size_t events_of_workload = 4;
};

struct ActRound {
  std::vector<BudgetAction> actions;  // removals, then updates, then new budgets
  bool more = false;                  // the limit cut something off
  bool operator==(const ActRound&) const = default;
};

// A write that went well is not repeated for 15 s: the snapshot may not show it yet. Where somebody undoes it again and
// again, that time doubles up to ten minutes. A failed one is tried again after 2 s, doubling up to five minutes;
// where the API server refused it (permission, invalid) after one minute, doubling up to ten. All with jitter.
ActRound Act(const BudgetPlan& plan, const ActState& state, TimePoint now, const ActLimits& limits = {});

// `state` after `action` ended with `status`.
ActState Settle(ActState state, const BudgetAction& action, const Status& status, TimePoint now);

// Whether a waiting time ended after `last_round`, so that a round now finds something to try again.
bool IsWaitOver(const ActState& state, TimePoint last_round, TimePoint now);

// `state` without what no longer matters.
ActState Forget(ActState state, TimePoint now);

// What to tell people of a row that has something to say although nothing is written. Nothing: it has not.
std::optional<BudgetEvent> EventOfRow(const BudgetRow& row);
std::optional<BudgetEvent> EventOfWrite(const BudgetRow& row, const BudgetAction& action, const Status& status);

// Whether `event` may be told now: the same once in six hours, and within the limits.
bool MayTell(const EventHistory& events, const BudgetEvent& event, TimePoint now, const ActLimits& limits = {});
// `events` after a try to tell `event`, which counts against the limits.
EventHistory Attempt(EventHistory events, const BudgetEvent& event, TimePoint now);
// The same, and people have it: not again for six hours.
EventHistory Tell(EventHistory events, const BudgetEvent& event, TimePoint now);

}  // namespace podium
