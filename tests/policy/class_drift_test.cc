#include "policy/class_drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders/policies.h"

namespace podium {
namespace {

using builders::ClusterOf;
using builders::ThreeTiers;
using testing::IsEmpty;

PriorityClass Live(const Policy& policy, const char* name) { return policy.FindInLadder(name)->priority_class; }

TEST(ClassDrift, IsNoneWhenTheClusterHasTheLadderAndMore) {
  const Policy policy = ThreeTiers();
  ClusterSnapshot cluster = ClusterOf(policy);
  cluster.classes.Put("of-somebody-else", {"of-somebody-else", 5});
  EXPECT_THAT(FindClassDrift(policy, cluster.classes), IsEmpty());
}

TEST(ClassDrift, NamesEachDifferenceInTheOrderOfTheLadder) {
  const Policy policy = ThreeTiers();
  Table<PriorityClass> live;
  PriorityClass interactive = Live(policy, "inference-interactive");
  interactive.value = 900'000;
  interactive.preemption_policy = PreemptionPolicy::kNever;
  live.Put(interactive.name, interactive);
  PriorityClass batch = Live(policy, "inference-batch");
  batch.global_default = true;
  live.Put(batch.name, batch);
  live.Put("cluster-default", Live(policy, "cluster-default"));
  const std::string fixed =
      "; it cannot be changed in place: give the class a new name in the policy, or delete and create it while no pod "
      "uses it";
  const std::vector<ClassDrift> want = {
      {ClassDriftKind::kValue, "inference-interactive",
       "class 'inference-interactive' has value 900000 in the cluster and 1000000 in the policy" + fixed},
      {ClassDriftKind::kPolicy, "inference-interactive",
       "class 'inference-interactive' has preemptionPolicy Never in the cluster and PreemptLowerPriority in the "
       "policy" +
           fixed},
      {ClassDriftKind::kMissing, "training-queue-jumper",
       "class 'training-queue-jumper' is in the policy and not in the cluster: nothing can get it; 'podium classes "
       "apply' creates it"},
      {ClassDriftKind::kGlobalDefault, "inference-batch",
       "class 'inference-batch' has globalDefault true in the cluster and false in the policy; 'podium classes apply' "
       "sets it"},
      {ClassDriftKind::kManyDefaults, "cluster-default",
       "the cluster has 2 global default classes: 'cluster-default', 'inference-batch'; pods without a class get the "
       "lowest value, 'cluster-default'. Set globalDefault: false on the others"},
  };
  EXPECT_EQ(FindClassDrift(policy, live), want);
}

TEST(ClassDrift, RendersARow) {
  LadderClass row;
  row.priority_class = {"train", -5, PreemptionPolicy::kNever, true};
  row.description = "First in line.";
  EXPECT_EQ(RenderPriorityClass(row),
            R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"train"},"value":-5,)"
            R"("preemptionPolicy":"Never","globalDefault":true,"description":"First in line."})");
}

}  // namespace
}  // namespace podium
