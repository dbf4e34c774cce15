// Which PodDisruptionBudgets a cluster should have, compared with those it has. The rules and their reasons are in
// docs/budgets.md, one row each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/decide.h"
#include "podium/objects.h"
#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByPodium = "podium";
inline constexpr std::string_view kBudgetReasonAnnotation = "podium.gpu/reason";

enum class BudgetStep {
  kNone,       // there is no budget of ours and there is to be none
  kKeep,       // ours is as it should be, or is left alone
  kCreate,     // `desired`
  kUpdate,     // `existing` becomes `desired`
  kRemove,     // `existing` goes
  kStepAside,  // a user's own budget covers these pods; ours goes if there is one
};

constexpr std::string_view ToString(BudgetStep step) {
  switch (step) {
    case BudgetStep::kNone: return "none";
    case BudgetStep::kKeep: return "keep";
    case BudgetStep::kCreate: return "create";
    case BudgetStep::kUpdate: return "update";
    case BudgetStep::kRemove: return "remove";
    case BudgetStep::kStepAside: return "step aside";
  }
  return "none";
}

// What events are about, and what owns a budget.
struct WorkloadId {
  std::string api_version;
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;  // empty: read from a file
  bool operator==(const WorkloadId&) const = default;
};

struct BudgetRow {
  WorkloadId workload;  // of a budget whose workload is gone: as its owner reference says it
  BudgetStep step = BudgetStep::kNone;
  std::optional<Pdb> desired;   // what to write, only the fields Podium owns; of kUpdate with the uid of `existing`
  std::optional<Pdb> existing;  // ours as the snapshot shows it, when there is one
  std::string reason;           // one sentence for people
  bool problem = false;         // somebody has to look: Podium cannot set it right
  bool operator==(const BudgetRow&) const = default;

  [[nodiscard]] bool Applies() const { return step == BudgetStep::kCreate || step == BudgetStep::kUpdate; }
  [[nodiscard]] bool Deletes() const {
    return step == BudgetStep::kRemove || (step == BudgetStep::kStepAside && existing.has_value());
  }
};

struct BudgetPlan {
  std::uint64_t snapshot_generation = 0;
  std::vector<BudgetRow> rows;  // workloads in the snapshot's order, then budgets that belong to none
  bool operator==(const BudgetPlan&) const = default;
};

// Pure; never fails. The workload type is what Decide says of the workload as if it were created now, so class and
// budget cannot disagree. Workloads in namespaces Podium never touches have no row.
BudgetPlan PlanBudgets(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now,
                       const DecideOptions& options = {});

// The label says so; nothing else does.
bool IsPodiumsBudget(const Pdb& budget);

}  // namespace podium
