// What Podium writes into a cluster about budgets, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "pdb/plan.h"
#include "podium/ports.h"

namespace podium {

// "podium-deployment-chat". Of kinds that are not Kubernetes' own, and of names too long for the 253 characters an
// object name may have, with a digest behind it.
std::string BudgetName(const WorkloadId& workload);
// The name to use when somebody else's budget has that one.
std::string SecondBudgetName(const WorkloadId& workload);

ObjectRef BudgetRef(const Pdb& budget);

// For server-side apply: policy/v1 with only the fields Podium owns, and the uid where there is one: an apply to an
// object that is gone or another by now then fails (409). The owner reference makes garbage collection
// remove the budget with its workload. It has no blockOwnerDeletion, for which Podium would need the right to update
// the finalizers of every workload kind (plugin/pkg/admission/gc/gc_admission.go), and no `controller`: nobody adopts
// budgets.
std::string RenderBudget(const Pdb& desired);

enum class EventType { kNormal, kWarning };

struct BudgetEvent {
  WorkloadId workload;
  EventType type = EventType::kNormal;
  std::string reason;  // "BudgetCreated"
  std::string note;    // for people
  bool operator==(const BudgetEvent&) const = default;
};

// The same for the same event: a second one is refused by the API server as long as the first is kept (one hour).
std::string EventName(const BudgetEvent& event);
ObjectRef EventRef(const BudgetEvent& event);

// events.k8s.io/v1. `instance`: which replica of Podium says it.
std::string RenderEvent(const BudgetEvent& event, std::string_view instance, TimePoint now);

}  // namespace podium
