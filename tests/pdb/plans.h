// Policies, clusters and plans as these tests write and read them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "builders/policies.h"
#include "builders/workloads.h"
#include "pdb/plan.h"

namespace podium {

using builders::Deployed;
using builders::RowKey;
using builders::Stored;

inline constexpr TimePoint kNow{std::chrono::hours(24 * 365 * 56)};

inline Policy WithBudget(BudgetTemplate budget) {
  Policy policy = builders::ThreeTiers();
  policy.workload_types[0].budget = std::move(budget);
  return policy;
}

inline BudgetTemplate AtLeast(std::string limit) { return {std::move(limit), {}, false}; }
inline BudgetTemplate AtMostDown(std::string limit) { return {{}, std::move(limit), false}; }

inline Policy OneDown() { return WithBudget(AtMostDown("1")); }

inline Stored Chat() { return Deployed("web").Type("interactive"); }

inline ClusterSnapshot ClusterWith(const std::vector<Workload>& workloads) {
  ClusterSnapshot snapshot = builders::ClusterOf(builders::ThreeTiers());
  for (const Workload& workload : workloads) snapshot.workloads.Put(RowKey(workload), workload);
  return snapshot;
}

inline void Put(ClusterSnapshot& snapshot, const Pdb& budget) {
  snapshot.budgets.Put(budget.namespace_name + "/" + budget.name, budget);
}

// The budget Podium writes for the workload, as the cluster would show it.
inline Pdb OursFor(const Workload& workload, const Policy& policy) {
  const BudgetPlan plan = PlanBudgets(ClusterWith({workload}), policy, kNow);
  Pdb budget = plan.rows.front().desired.value_or(Pdb{});
  EXPECT_EQ(plan.rows.front().step, BudgetStep::kCreate);
  budget.uid = "uid-pdb-" + budget.name;
  return budget;
}

// One line: "create maxUnavailable 1: why".
inline std::string Shown(const BudgetRow& row) {
  std::string out(ToString(row.step));
  if (row.problem) out += "!";
  if (row.desired && row.desired->min_available) out += " minAvailable " + *row.desired->min_available;
  if (row.desired && row.desired->max_unavailable) out += " maxUnavailable " + *row.desired->max_unavailable;
  return out + ": " + row.reason;
}

inline std::vector<std::string> ShownPlan(const ClusterSnapshot& snapshot, const Policy& policy) {
  std::vector<std::string> out;
  for (const BudgetRow& row : PlanBudgets(snapshot, policy, kNow).rows) out.push_back(Shown(row));
  return out;
}

inline std::string PlanOfOne(const Workload& workload, const Policy& policy) {
  return ShownPlan(ClusterWith({workload}), policy).at(0);
}

}  // namespace podium
