// Whatever the cluster looks like: once a plan is carried out, the next one finds nothing to do, and no pod has two
// budgets because of Podium.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/selector.h"
#include "fakes/budget_cluster.h"
#include "pdb/limit.h"
#include "pdb/plans.h"
#include "pdb/render.h"

namespace podium {
namespace {

using builders::Scales;
using builders::UserBudget;

std::string AnyOf(const std::vector<std::string>& words) { return *rc::gen::elementOf(words); }
// Ranges of full size from the first case on: small ones would make every cluster nearly the same.
std::int64_t Below(std::int64_t end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, end));
}
bool OneIn(int n) { return Below(n) == 0; }

std::string AnyName() { return AnyOf({"a", "b", "c", "d"}); }

LabelSelector AnySelector() {
  LabelSelector selector;
  if (!OneIn(4)) selector.match_labels["app"] = AnyName();
  if (OneIn(4)) selector.match_expressions.push_back({"app", SelectorOp::kIn, {AnyName(), AnyName()}});
  if (OneIn(6)) selector.match_expressions.push_back({"track", SelectorOp::kDoesNotExist, {}});
  return selector;
}

Workload AnyWorkload() {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"apps/v1", "Deployment"}, {"apps/v1", "StatefulSet"},    {"apps/v1", "ReplicaSet"},
      {"batch/v1", "Job"},       {"argoproj.io/v1", "Rollout"}, {"v1", "ReplicationController"}};
  const auto [api_version, kind] = *rc::gen::elementOf(kinds);
  const std::string name = AnyName();
  Stored workload(api_version, kind, name);
  workload.Uid("uid-" + kind + "-" + name).Type(AnyOf({"interactive", "interactive", "training", "nothing"}));
  workload.Replicas(Below(6));
  if (OneIn(3)) workload.Selects(AnySelector());
  if (OneIn(2)) workload.PodLabel("app", AnyName());
  if (OneIn(4)) workload.PodLabel("track", "canary");
  if (OneIn(4)) workload.Class("no-such-class");
  if (OneIn(8)) workload.Deleting();
  if (OneIn(4)) workload.In("other");
  if (OneIn(5)) workload.OwnedBy("apps/v1", "Deployment", AnyName());
  return workload.Build();
}

// A user's, one of ours gone astray, or one that only looks like ours.
Pdb AnyBudget() {
  Pdb budget = UserBudget(AnyOf({"mine", "podium-deployment-a", "podium-statefulset-b", "podium-rollout-c"}), {});
  budget.selector = AnySelector();
  if (OneIn(2)) budget.labels["app.kubernetes.io/managed-by"] = "podium";
  if (OneIn(2)) budget.owners = {{"apps/v1", "Deployment", AnyName(), false, "uid-Deployment-" + AnyName()}};
  if (OneIn(4)) budget.namespace_name = "other";
  budget.uid += "-" + budget.namespace_name;
  return budget;
}

ClusterSnapshot AnyCluster() {
  ClusterSnapshot snapshot = ClusterWith({});
  for (std::int64_t i = Below(9); i > 0; --i) {
    const Workload workload = AnyWorkload();
    snapshot.workloads.Put(RowKey(workload), workload);
  }
  for (std::int64_t i = Below(5); i > 0; --i) Put(snapshot, AnyBudget());
  if (OneIn(2)) {
    const Autoscaler each = Scales("Deployment", AnyName(), Below(5));
    snapshot.autoscalers.Put("chat/" + each.name, each);
  }
  if (OneIn(2)) snapshot.sources["deployments.apps"].synced = true;
  return snapshot;
}

Policy AnyPolicy() {
  const std::string limit = AnyOf({"0", "1", "2", "5", "0%", "34%", "50%", "100%"});
  return WithBudget(OneIn(2) ? AtLeast(limit) : AtMostDown(limit));
}

Ownership OwnershipOf(const BudgetRow& row) { return row.existing ? Ownership::kOurs : Ownership::kNew; }

void CarryOut(BudgetCluster& cluster, const BudgetPlan& plan) {
  for (const bool removals : {true, false}) {
    for (const BudgetRow& row : plan.rows) {
      if (removals && row.Deletes()) RC_ASSERT(cluster.Delete(BudgetRef(*row.existing), row.existing->uid).ok());
      if (!removals && row.Applies())
        RC_ASSERT(cluster.Apply(BudgetRef(*row.desired), RenderBudget(*row.desired), OwnershipOf(row)).ok());
    }
  }
}

// Workloads whose pods a budget of Podium's and another budget both select, where the first is their own.
std::vector<std::string> DoublyCovered(const ClusterSnapshot& snapshot) {
  std::vector<std::string> out;
  for (const auto& row : snapshot.workloads) {
    const Workload& workload = row.value;
    int covering = 0;
    bool own = false;
    for (const auto& [key, budget] : snapshot.budgets) {
      if (budget.namespace_name != workload.namespace_name) continue;
      if (Matches(*budget.selector, workload.pod_template->metadata.labels)) ++covering;
      own = own || (IsPodiumsBudget(budget) && budget.owners.size() == 1 && budget.owners[0].name == workload.name &&
                    budget.owners[0].uid == workload.uid);
    }
    if (own && covering > 1) out.push_back(row.key);
  }
  return out;
}

RC_GTEST_PROP(PlanBudgets, APlanThatWasCarriedOutLeavesNothingToDo, ()) {
  const Policy policy = AnyPolicy();
  BudgetCluster cluster(AnyCluster());
  CarryOut(cluster, PlanBudgets(*cluster.Current(), policy, kNow));
  for (const BudgetRow& row : PlanBudgets(*cluster.Current(), policy, kNow).rows) {
    RC_LOG() << Shown(row) << "\n";
    RC_ASSERT(!row.Applies() && !row.Deletes());
  }
}

RC_GTEST_PROP(PlanBudgets, NoPodOfAWorkloadWithABudgetHasASecondOne, ()) {
  const Policy policy = AnyPolicy();
  BudgetCluster cluster(AnyCluster());
  CarryOut(cluster, PlanBudgets(*cluster.Current(), policy, kNow));
  RC_ASSERT(DoublyCovered(*cluster.Current()).empty());
}

RC_GTEST_PROP(DesiredHealthy, ABudgetThatWorksForFewReplicasWorksForMore, ()) {
  const auto limit = AnyOf({"1", "2", "7", "1%", "34%", "50%", "99%"});
  const BudgetTemplate budget = OneIn(2) ? AtLeast(limit) : AtMostDown(limit);
  const std::int64_t replicas = 1 + Below(300);
  if (*DesiredHealthy(budget, replicas) >= replicas) return;
  const std::int64_t more = replicas + Below(300);
  RC_ASSERT(*DesiredHealthy(budget, more) < more);
}

}  // namespace
}  // namespace podium
