#include "rules/classes.h"

#include <gmock/gmock.h>

#include "builders/policies.h"

namespace podium {
namespace {

using builders::ClusterOf;
using builders::ThreeTiers;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClassView, IsTheLadderWhenThereIsNoSnapshot) {
  const Policy policy = ThreeTiers();
  const ClassView classes(policy, nullptr);
  EXPECT_EQ(classes.Find("training-queue-jumper"), &policy.ladder[1].priority_class);
  EXPECT_EQ(classes.Find("inference-realtime"), nullptr);
  EXPECT_EQ(classes.Find(""), nullptr);
  EXPECT_EQ(classes.GlobalDefault(), &policy.ladder[3].priority_class);
  EXPECT_THAT(classes.Names(),
              ElementsAre("inference-interactive", "training-queue-jumper", "inference-batch", "cluster-default"));
}

TEST(ClassView, IsTheClusterAloneWhenThereIsASnapshot) {
  const Policy policy = ThreeTiers();
  ClusterSnapshot snapshot;
  snapshot.classes.Put("b-live", {"b-live", 5, PreemptionPolicy::kNever, false});
  snapshot.classes.Put("a-live", {"a-live", 5, PreemptionPolicy::kNever, false});
  snapshot.classes.Put("top", {"top", 6, PreemptionPolicy::kNever, false});
  const ClassView classes(policy, &snapshot);
  EXPECT_EQ(classes.Find("top"), snapshot.classes.Find("top"));
  ASSERT_NE(classes.Find("top"), nullptr);
  EXPECT_EQ(classes.Find("inference-batch"), nullptr);
  EXPECT_EQ(classes.GlobalDefault(), nullptr);
  EXPECT_THAT(classes.Names(), ElementsAre("top", "a-live", "b-live"));
}

TEST(ClassView, TheLowestOfSeveralGlobalDefaultsCounts) {
  const Policy policy = ThreeTiers();
  ClusterSnapshot snapshot = ClusterOf(policy);
  PriorityClass second = *snapshot.classes.Find("inference-batch");
  second.global_default = true;
  snapshot.classes.Put("inference-batch", second);
  EXPECT_EQ(ClassView(policy, &snapshot).GlobalDefault()->name, "cluster-default");
  snapshot.classes.Put("newcomer", {"newcomer", -5, PreemptionPolicy::kNever, true});
  EXPECT_EQ(ClassView(policy, &snapshot).GlobalDefault()->name, "newcomer");
}

TEST(ClassView, KubernetesOwnClassesAlwaysExistAndAreNotListed) {
  const Policy policy = ThreeTiers();
  ClusterSnapshot snapshot;
  snapshot.classes.Put("system-node-critical", {"system-node-critical", 1});
  for (const ClusterSnapshot* each : {static_cast<const ClusterSnapshot*>(nullptr), &std::as_const(snapshot)}) {
    const ClassView classes(policy, each);
    EXPECT_EQ(
        *classes.Find("system-cluster-critical"),
        (PriorityClass{"system-cluster-critical", 2'000'000'000, PreemptionPolicy::kPreemptLowerPriority, false}));
    EXPECT_EQ(classes.Find("system-node-critical")->value, 2'000'001'000);
    EXPECT_EQ(classes.TierOf("system-node-critical"), Tier::kSystem);
  }
  EXPECT_THAT(ClassView(policy, &snapshot).Names(), IsEmpty());
}

TEST(ClassView, TiersComeFromTheLadderAndAreStandardElse) {
  const Policy policy = ThreeTiers();
  const ClassView classes(policy, nullptr);
  EXPECT_EQ(classes.TierOf("inference-interactive"), Tier::kHigh);
  EXPECT_EQ(classes.TierOf("inference-batch"), Tier::kPreemptible);
  EXPECT_EQ(classes.TierOf("nobody-knows-it"), Tier::kStandard);
}

}  // namespace
}  // namespace podium
