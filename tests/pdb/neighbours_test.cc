// What a plan says of budgets that exist already: ours, users', and those of other workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdb/plan.h"
#include "pdb/plans.h"
#include "pdb/render.h"

namespace podium {
namespace {

using builders::UserBudget;
using testing::ElementsAre;

const char* const kCreated = "create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 1";

struct GoneRow {
  const char* name;
  Workload workload;
  const char* want;
};

TEST(PlanBudgets, OursGoesWhenItIsNoLongerWanted) {
  const GoneRow rows[] = {
      {"scaled to zero", Chat().Replicas(0).Build(), "remove: it has no replicas"},
      {"deleting", Chat().Deleting().Build(), "remove: it is being deleted"},
      {"another type", Deployed("web").Type("training").Build(), "remove: workload type 'training' has no budget"},
      {"no type", Deployed("web").Build(), "remove: no workload type matches it"},
      {"selector emptied", Chat().Selects(LabelSelector{}).Build(),
       "remove: its selector is empty: a budget would hold for every pod of the namespace"},
  };
  const Pdb ours = OursFor(Chat().Build(), OneDown());
  for (const GoneRow& row : rows) {
    ClusterSnapshot snapshot = ClusterWith({row.workload});
    Put(snapshot, ours);
    const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
    ASSERT_EQ(plan.rows.size(), 1U) << row.name;
    EXPECT_EQ(Shown(plan.rows[0]), row.want) << row.name;
    EXPECT_EQ(plan.rows[0].existing, ours) << row.name;
  }
}

TEST(PlanBudgets, AWorkloadThePolicyWouldRefuseKeepsABudgetThatIsMaintained) {
  const Workload refused = Chat().Class("no-such-class").Build();
  ClusterSnapshot snapshot = ClusterWith({refused});
  Pdb ours = OursFor(Chat().Build(), OneDown());
  Put(snapshot, ours);
  EXPECT_EQ(PlanBudgets(snapshot, OneDown(), kNow).rows[0].step, BudgetStep::kKeep);
  ours.max_unavailable = "0";
  Put(snapshot, ours);
  EXPECT_EQ(PlanBudgets(snapshot, OneDown(), kNow).rows[0].step, BudgetStep::kUpdate);
}

TEST(PlanBudgets, ABudgetThatIsStillBeingDeletedIsWaitedFor) {
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  Pdb ours = OursFor(Chat().Build(), OneDown());
  ours.deleting = true;
  Put(snapshot, ours);
  EXPECT_THAT(ShownPlan(snapshot, OneDown()), ElementsAre("none: the budget it had is still being deleted"));
}

TEST(PlanBudgets, OneBudgetForOneWorkload) {
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  Pdb ours = OursFor(Chat().Build(), OneDown());
  Put(snapshot, ours);
  ours.name = "a-copy";
  Put(snapshot, ours);
  EXPECT_THAT(ShownPlan(snapshot, OneDown()),
              ElementsAre("keep: workload type 'interactive' asks for maxUnavailable 1",
                          "remove: it has another budget of Podium's, 'podium-deployment-web'"));
}

// --- users' own budgets ---------------------------------------------------------------------------------------------

struct ForeignRow {
  const char* name;
  std::vector<Pdb> foreign;
  const char* want;
};

Pdb Selecting(Pdb budget, std::optional<LabelSelector> selector) {
  budget.selector = std::move(selector);
  return budget;
}

Pdb InAnotherNamespace(Pdb budget) {
  budget.namespace_name = "other";
  return budget;
}

Pdb BeingDeleted(Pdb budget) {
  budget.deleting = true;
  return budget;
}

TEST(PlanBudgets, StepsAsideForAUsersOwnBudget) {
  const Pdb mine = UserBudget("mine", {{"app", "web"}});
  const char* aside = "step aside: budget 'mine' covers its pods already";
  const ForeignRow rows[] = {
      {"by label", {mine}, aside},
      {"by expression", {Selecting(mine, LabelSelector{{}, {{"app", SelectorOp::kIn, {"web", "api"}}}})}, aside},
      {"by absence", {Selecting(mine, LabelSelector{{}, {{"legacy", SelectorOp::kDoesNotExist, {}}}})}, aside},
      {"everything", {Selecting(mine, LabelSelector{})}, aside},
      {"other label", {UserBudget("mine", {{"app", "api"}})}, kCreated},
      {"nothing", {Selecting(mine, std::nullopt)}, kCreated},
      {"expression excludes it",
       {Selecting(mine, LabelSelector{{{"app", "web"}}, {{"app", SelectorOp::kNotIn, {"web"}}}})},
       kCreated},
      {"another namespace", {InAnotherNamespace(mine)}, kCreated},
      {"on its way out", {BeingDeleted(mine)}, kCreated},
      {"two of them",
       {mine, UserBudget("second", {{"app", "web"}})},
       "step aside!: 2 budgets ('mine', 'second') cover its pods: Kubernetes refuses to evict a pod with more than "
       "one; "
       "keep one"},
  };
  for (const ForeignRow& row : rows) {
    ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
    for (const Pdb& budget : row.foreign) Put(snapshot, budget);
    EXPECT_THAT(ShownPlan(snapshot, OneDown()), ElementsAre(row.want)) << row.name;
  }
}

TEST(PlanBudgets, SteppingAsideRemovesOurs) {
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  const Pdb ours = OursFor(Chat().Build(), OneDown());
  Put(snapshot, ours);
  Put(snapshot, UserBudget("mine", {{"app", "web"}}));
  const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
  ASSERT_EQ(plan.rows.size(), 1U);
  EXPECT_EQ(plan.rows[0].existing, ours);
  EXPECT_TRUE(plan.rows[0].Deletes());
}

TEST(PlanBudgets, ANameThatIsTakenIsNotTakenAway) {
  const Workload web = Chat().Build();
  const WorkloadId id{web.api_version, web.kind, web.namespace_name, web.name, web.uid};
  ClusterSnapshot snapshot = ClusterWith({web});
  Put(snapshot, UserBudget(BudgetName(id), {{"app", "elsewhere"}}));
  const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
  ASSERT_EQ(plan.rows[0].step, BudgetStep::kCreate);
  EXPECT_EQ(plan.rows[0].desired->name, SecondBudgetName(id));

  Put(snapshot, UserBudget(SecondBudgetName(id), {{"app", "elsewhere"}}));
  EXPECT_THAT(ShownPlan(snapshot, OneDown()),
              ElementsAre("none!: budgets that are not Podium's have the names 'podium-deployment-web' and '" +
                          SecondBudgetName(id) + "'; rename one of them"));
}

TEST(PlanBudgets, ASecondNameStaysWhenTheFirstBecomesFree) {
  const Workload web = Chat().Build();
  const WorkloadId id{web.api_version, web.kind, web.namespace_name, web.name, web.uid};
  ClusterSnapshot snapshot = ClusterWith({web});
  Pdb ours = OursFor(web, OneDown());
  ours.name = SecondBudgetName(id);
  Put(snapshot, ours);
  EXPECT_THAT(ShownPlan(snapshot, OneDown()),
              ElementsAre("keep: workload type 'interactive' asks for maxUnavailable 1"));
}

// --- budgets of other workloads -------------------------------------------------------------------------------------

TEST(PlanBudgets, TwoWorkloadsWithOneSelectorGetOneBudget) {
  const Workload api = Deployed("api").Type("interactive").PodLabel("app", "web").Build();
  const Workload wide = Deployed("wide").Type("interactive").Selects(LabelSelector{{{"app", "web"}}, {}}).Build();
  const Workload web = Chat().Build();
  const Workload apart = Deployed("web").In("other").Type("interactive").Build();
  EXPECT_THAT(
      ShownPlan(ClusterWith({api, wide, web, apart}), OneDown()),
      ElementsAre(kCreated,
                  "none!: its pods and those of Deployment 'api' are selected by one selector, and a pod may have one "
                  "budget only; make the selectors distinct",
                  "none!: its pods and those of Deployment 'api' are selected by one selector, and a pod may have one "
                  "budget only; make the selectors distinct",
                  kCreated));
}

TEST(PlanBudgets, AWorkloadWithoutABudgetIsNoRival) {
  const Workload batch = Deployed("api").Type("batch").PodLabel("app", "web").Build();
  EXPECT_THAT(ShownPlan(ClusterWith({batch, Chat().Build()}), OneDown()),
              ElementsAre("none: workload type 'batch' has no budget", kCreated));
}

// --- budgets without a workload -------------------------------------------------------------------------------------

struct OrphanCase {
  const char* name;
  std::map<std::string, SourceState> sources;
  std::vector<OwnerReference> owners;
  const char* want;
};

// However sure the snapshot looks: the kinds in it are not of one moment.
TEST(PlanBudgets, ABudgetWithAnOwnerIsLeftToGarbageCollection) {
  const SourceState read{true, kNow, 1, 0};
  const OwnerReference deployment{"apps/v1", "Deployment", "web", false, "uid-web"};
  const OwnerReference rollout{"argoproj.io/v1alpha1", "Rollout", "web", false, "uid-web"};
  const char* unseen =
      "keep: Podium does not see Deployment 'web': garbage collection removes the budget when it is gone";
  const OrphanCase rows[] = {
      {"from a file", {}, {deployment}, unseen},
      {"synced", {{"deployments.apps", read}}, {deployment}, unseen},
      {"custom resource",
       {{"deployments.apps", read}},
       {rollout},
       "keep: Podium does not see Rollout 'web': garbage collection removes the budget when it is gone"},
      {"no owner", {{"deployments.apps", read}}, {}, "remove: budget 'podium-deployment-web' belongs to no workload"},
  };
  for (const OrphanCase& row : rows) {
    ClusterSnapshot snapshot = ClusterWith({});
    snapshot.sources = row.sources;
    Pdb ours = OursFor(Chat().Build(), OneDown());
    ours.owners = row.owners;
    Put(snapshot, ours);
    EXPECT_THAT(ShownPlan(snapshot, OneDown()), ElementsAre(row.want)) << row.name;
  }
}

// A workload that was made anew: of which of the two the snapshot's workload and budget are cannot be told.
TEST(PlanBudgets, TheUidOfAnotherWorkloadIsNotWrittenOver) {
  const char* waits =
      "keep: budget 'podium-deployment-web' belongs to another Deployment of this name (its uid differs): garbage "
      "collection removes it when that one is gone";
  Pdb ours = OursFor(Chat().Build(), OneDown());
  ours.owners[0].uid = "uid-another";
  for (const Workload& workload : {Chat().Build(), Chat().Replicas(0).Build()}) {
    ClusterSnapshot snapshot = ClusterWith({workload});
    Put(snapshot, ours);
    const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
    ASSERT_EQ(plan.rows.size(), 1U);
    EXPECT_EQ(Shown(plan.rows[0]), waits);
    EXPECT_EQ(plan.rows[0].existing, ours);
  }
  ours.deleting = true;
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  Put(snapshot, ours);
  EXPECT_THAT(ShownPlan(snapshot, OneDown()), ElementsAre("none: the budget it had is still being deleted"));
}

TEST(PlanBudgets, TheBudgetOfAnotherUidCountsForItsNeighboursToo) {
  const Workload api = Deployed("api").Type("interactive").PodLabel("app", "web").Build();
  Pdb ours = OursFor(Chat().Build(), OneDown());
  ours.owners[0].uid = "uid-another";
  ClusterSnapshot snapshot = ClusterWith({api, Chat().Build()});
  Put(snapshot, ours);
  EXPECT_EQ(ShownPlan(snapshot, OneDown()).at(0), "step aside: budget 'podium-deployment-web' covers its pods already");
}

TEST(PlanBudgets, ABudgetThatIsLeftAloneStillCountsAsOne) {
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  snapshot.sources["deployments.apps"] = {true, kNow, 1, 0};
  Pdb other = OursFor(Chat().Build(), OneDown());
  other.name = "podium-rollout-web-0123456789";
  other.owners = {{"argoproj.io/v1alpha1", "Rollout", "unseen", false, "uid-unseen"}};
  Put(snapshot, other);
  EXPECT_EQ(ShownPlan(snapshot, OneDown()).at(0),
            "step aside: budget 'podium-rollout-web-0123456789' covers its pods already");
}

}  // namespace
}  // namespace podium
