#include "pdb/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pdb/plans.h"

namespace podium {
namespace {

using builders::Scales;

TEST(PlanBudgets, WritesTheWholeBudgetOfAWorkloadType) {
  LabelSelector selector{{{"app", "web"}}, {{"track", SelectorOp::kIn, {"stable", "canary"}}}};
  const Workload workload = Chat().PodLabel("track", "stable").Selects(selector).Build();
  Pdb want;
  want.namespace_name = "chat";
  want.name = "podium-deployment-web";
  want.labels = {{"app.kubernetes.io/managed-by", "podium"}, {"podium.gpu/workload-type", "interactive"}};
  want.annotations = {{"podium.gpu/reason", "workload type 'interactive' asks for maxUnavailable 1"}};
  want.owners = {{"apps/v1", "Deployment", "web", false, "uid-web"}};
  want.selector = selector;
  want.max_unavailable = "1";
  want.unhealthy_pod_eviction_policy = "AlwaysAllow";

  const BudgetPlan plan = PlanBudgets(ClusterWith({workload}), WithBudget({{}, "1", true}), kNow);

  EXPECT_EQ(plan, (BudgetPlan{7,
                              {{{"apps/v1", "Deployment", "chat", "web", "uid-web"},
                                BudgetStep::kCreate,
                                want,
                                {},
                                "workload type 'interactive' asks for maxUnavailable 1"}}}));
}

struct LimitRow {
  const char* name;
  BudgetTemplate budget;
  std::int64_t replicas;
  const char* want;
};

// Rounding and "never block for ever": docs/budgets.md, section Limits.
TEST(PlanBudgets, LimitsNeverBlockForEver) {
  const LimitRow rows[] = {
      {"whole number", AtLeast("2"), 3, "create minAvailable 2: workload type 'interactive' asks for minAvailable 2"},
      {"none may go", AtLeast("3"), 3,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 3, which would block every drain at "
       "3 replicas: maxUnavailable 1 instead"},
      {"more than there are", AtLeast("5"), 3,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 5, which would block every drain at "
       "3 replicas: maxUnavailable 1 instead"},
      {"70 % of 3 rounds up to 3", AtLeast("70%"), 3,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 70%, which would block every drain "
       "at 3 replicas: maxUnavailable 1 instead"},
      {"66 % of 3 is 2", AtLeast("66%"), 3,
       "create minAvailable 66%: workload type 'interactive' asks for minAvailable 66%"},
      {"1 % down of 3 rounds up to 1", AtMostDown("1%"), 3,
       "create maxUnavailable 1%: workload type 'interactive' asks for maxUnavailable 1%"},
      {"nothing down", AtMostDown("0"), 3,
       "create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 0, which would block every drain "
       "at 3 replicas: maxUnavailable 1 instead"},
      {"nothing down in percent", AtMostDown("0%"), 3,
       "create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 0%, which would block every drain "
       "at 3 replicas: maxUnavailable 1 instead"},
      {"one replica that must stay", AtLeast("1"), 1,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 1, which would block every drain at "
       "1 replica: maxUnavailable 1 instead"},
      {"one replica at 100 %", AtLeast("100%"), 1,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 100%, which would block every drain "
       "at 1 replica: maxUnavailable 1 instead"},
      {"one replica that may go", AtMostDown("1"), 1,
       "create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 1"},
      {"all may go", AtLeast("0"), 3, "create minAvailable 0: workload type 'interactive' asks for minAvailable 0"},
      {"no replicas", AtLeast("1"), 0, "none: it has no replicas"},
  };
  for (const LimitRow& row : rows)
    EXPECT_EQ(PlanOfOne(Chat().Replicas(row.replicas).Build(), WithBudget(row.budget)), row.want) << row.name;
}

struct ShapeRow {
  const char* name;
  Workload workload;
  const char* want;
};

TEST(PlanBudgets, OnlyWhatKubernetesCanCountGetsABudget) {
  const auto chat = [](const char* api_version, const char* kind) {
    return Stored(api_version, kind, "web").Type("interactive");
  };
  const char* one_down = "create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 1";
  const ShapeRow rows[] = {
      {"StatefulSet", chat("apps/v1", "StatefulSet").Build(), one_down},
      {"ReplicaSet of nobody", chat("apps/v1", "ReplicaSet").Build(), one_down},
      {"ReplicationController", chat("v1", "ReplicationController").Build(), one_down},
      {"custom resource", chat("argoproj.io/v1alpha1", "Rollout").Build(), one_down},
      {"custom resource without scale", chat("argoproj.io/v1alpha1", "Rollout").Replicas({}).Build(),
       "none: it says no number of replicas"},
      {"custom resource without selector", chat("argoproj.io/v1alpha1", "Rollout").Selects({}).Build(),
       "none: it says no selector for its pods"},
      {"unknown custom resource", chat("example.com/v1", "Fleet").Build(),
       "none: Podium does not know where the pods of a Fleet come from"},
      {"Job", chat("batch/v1", "Job").Build(),
       "none: a Job has no scale that Kubernetes could count a budget on, and its last pods could never be drained"},
      {"CronJob", chat("batch/v1", "CronJob").Build(),
       "none: a CronJob has no scale that Kubernetes could count a budget on, and its last pods could never be "
       "drained"},
      {"DaemonSet", chat("apps/v1", "DaemonSet").Build(),
       "none: a DaemonSet has no scale, and a drain leaves its pods where they are"},
      {"empty selector", Chat().Selects(LabelSelector{}).Build(),
       "none: its selector is empty: a budget would hold for every pod of the namespace"},
      {"deleting", Chat().Deleting().Build(), "none: it is being deleted"},
      {"revision of something unseen", chat("apps/v1", "ReplicaSet").OwnedBy("a.b/v1", "Rollout", "web").Build(),
       "none: it is one revision of Rollout 'web'"},
      {"made by an operator that is not watched", Chat().OwnedBy("serving.io/v1", "InferenceService", "web").Build(),
       one_down},
      {"no type", Deployed("web").Build(), "none: no workload type matches it"},
      {"type without a budget", Deployed("web").Type("training").Build(),
       "none: workload type 'training' has no budget"},
      {"refused", Chat().Class("no-such-class").Build(),
       "none: the policy would refuse it now, so it is not given a budget"},
      {"kube-system", Chat().In("kube-system").Build(), "none: Podium touches nothing in namespace kube-system"},
  };
  for (const ShapeRow& row : rows) EXPECT_EQ(PlanOfOne(row.workload, OneDown()), row.want) << row.name;
}

TEST(PlanBudgets, TheOwnerGetsTheBudgetNotItsReplicaSet) {
  const Workload revision =
      Stored("apps/v1", "ReplicaSet", "web-1").Type("interactive").OwnedBy("apps/v1", "Deployment", "web").Build();
  EXPECT_THAT(ShownPlan(ClusterWith({Chat().Build(), revision}), OneDown()),
              testing::ElementsAre("create maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 1",
                                   "none: it belongs to Deployment 'web', which a budget goes by"));
}

TEST(PlanBudgets, AnAutoscalersMinimumCountsWhenItIsLower) {
  struct Row {
    const char* name;
    std::int64_t minimum;
    const char* want;
  };
  const char* plain = "create minAvailable 2: workload type 'interactive' asks for minAvailable 2";
  const Row rows[] = {
      {"lower", 2,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 2, which would block every drain at "
       "2 replicas (the autoscaler's minimum): maxUnavailable 1 instead"},
      {"still enough", 3, plain},
      {"higher than the replicas of now", 50, plain},
      {"to zero", 0,
       "create maxUnavailable 1: workload type 'interactive' asks for minAvailable 2, which would block every drain at "
       "1 replica (the autoscaler's minimum): maxUnavailable 1 instead"},
  };
  for (const Row& row : rows) {
    ClusterSnapshot snapshot = ClusterWith({Chat().Replicas(10).Build()});
    snapshot.autoscalers.Put("chat/hpa-other", Scales("StatefulSet", "web", 1));
    snapshot.autoscalers.Put("chat/hpa-web", Scales("Deployment", "web", row.minimum));
    EXPECT_EQ(ShownPlan(snapshot, WithBudget(AtLeast("2"))).at(0), row.want) << row.name;
  }
}

TEST(PlanBudgets, ARolloutBelowTheBudgetIsNoted) {
  const std::string budget = "create minAvailable 9: workload type 'interactive' asks for minAvailable 9";
  const Policy policy = WithBudget(AtLeast("9"));
  EXPECT_EQ(PlanOfOne(Chat().Replicas(10).Rollout("0").Build(), policy), budget);
  EXPECT_EQ(PlanOfOne(Chat().Replicas(10).Rollout("19%").Build(), policy), budget) << "rounds down to 1";
  EXPECT_EQ(PlanOfOne(Chat().Replicas(10).Rollout("25%").Build(), policy),
            budget +
                "; a rollout may take 2 down at once and go below the 9 it keeps: evictions then wait for the "
                "rollout");
}

TEST(PlanBudgets, ABudgetThatIsRightIsKept) {
  ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
  Pdb ours = OursFor(Chat().Build(), OneDown());
  ours.labels["team"] = "chat";  // somebody else's label is theirs
  ours.resource_version = "99";
  ours.disruptions_allowed = 1;
  Put(snapshot, ours);
  const BudgetPlan plan = PlanBudgets(snapshot, OneDown(), kNow);
  ASSERT_EQ(plan.rows.size(), 1U);
  EXPECT_EQ(plan.rows[0].step, BudgetStep::kKeep);
  EXPECT_EQ(plan.rows[0].existing, ours);
  EXPECT_EQ(plan.rows[0].desired, std::nullopt);
}

TEST(PlanBudgets, EveryFieldOfOursIsSetRightAgain) {
  struct Row {
    const char* name;
    std::function<void(Pdb&)> change;
  };
  const Row rows[] = {
      {"selector", [](Pdb& budget) { budget.selector->match_labels["app"] = "other"; }},
      {"limit", [](Pdb& budget) { budget.max_unavailable = "2"; }},
      {"unhealthy pods", [](Pdb& budget) { budget.unhealthy_pod_eviction_policy.reset(); }},
      {"type label", [](Pdb& budget) { budget.labels["podium.gpu/workload-type"] = "batch"; }},
      {"reason", [](Pdb& budget) { budget.annotations.clear(); }},
      {"owner taken off", [](Pdb& budget) { budget.owners.clear(); }},
  };
  for (const Row& row : rows) {
    ClusterSnapshot snapshot = ClusterWith({Chat().Build()});
    Pdb ours = OursFor(Chat().Build(), OneDown());
    row.change(ours);
    Put(snapshot, ours);
    EXPECT_THAT(ShownPlan(snapshot, OneDown()),
                testing::ElementsAre("update maxUnavailable 1: workload type 'interactive' asks for maxUnavailable 1"))
        << row.name;
  }
}

}  // namespace
}  // namespace podium
