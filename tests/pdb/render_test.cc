#include "pdb/render.h"

#include <gtest/gtest.h>

#include <string>

#include "pdb/plans.h"

namespace podium {
namespace {

WorkloadId Named(const std::string& api_version, const std::string& kind, const std::string& name) {
  return {api_version, kind, "chat", name, "uid-" + name};
}

TEST(BudgetName, SaysKindAndName) {
  EXPECT_EQ(BudgetName(Named("apps/v1", "StatefulSet", "kv")), "podium-statefulset-kv");
  EXPECT_EQ(BudgetName(Named("v1", "ReplicationController", "kv")), "podium-replicationcontroller-kv");
}

TEST(BudgetName, TellsGroupsApartAndIgnoresTheVersion) {
  const std::string rollout = BudgetName(Named("argoproj.io/v1alpha1", "Rollout", "web"));
  EXPECT_EQ(rollout, BudgetName(Named("argoproj.io/v1", "Rollout", "web")));
  EXPECT_EQ(rollout.substr(0, 19), "podium-rollout-web-");
  EXPECT_EQ(rollout.size(), 29U);
  EXPECT_NE(rollout, BudgetName(Named("example.com/v1", "Rollout", "web")));
}

TEST(BudgetName, IsNeverTooLong) {
  const std::string name = std::string(229, 'a') + "." + std::string(23, 'b');  // cut right behind the dot
  const std::string cut = BudgetName(Named("apps/v1", "Deployment", name));
  EXPECT_LE(cut.size(), 253U);
  EXPECT_NE(cut, BudgetName(Named("apps/v1", "Deployment", name + "c")));
  EXPECT_EQ(cut.find(".-"), std::string::npos);
  EXPECT_LE(SecondBudgetName(Named("apps/v1", "Deployment", name)).size(), 253U);
}

TEST(RenderBudget, OnlyWhatPodiumOwns) {
  Pdb budget = OursFor(Chat().Build(), OneDown());
  budget.uid.clear();
  budget.selector->match_expressions = {{"track", SelectorOp::kNotIn, {"a", "b"}}, {"gpu", SelectorOp::kExists, {}}};
  budget.disruptions_allowed = 4;
  EXPECT_EQ(RenderBudget(budget),
            R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"podium-deployment-web",)"
            R"("namespace":"chat","labels":{"app.kubernetes.io/managed-by":"podium",)"
            R"("podium.gpu/workload-type":"interactive"},"annotations":{"podium.gpu/reason":)"
            R"("workload type 'interactive' asks for maxUnavailable 1"},"ownerReferences":[{"apiVersion":"apps/v1",)"
            R"("kind":"Deployment","name":"web","uid":"uid-web"}]},"spec":{"maxUnavailable":1,"selector":)"
            R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"track","operator":"NotIn","values":["a","b"]},)"
            R"({"key":"gpu","operator":"Exists"}]},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}})");
}

TEST(RenderBudget, TheUidOfTheOneToChange) {
  Pdb budget;
  budget.uid = "uid-1";
  EXPECT_EQ(RenderBudget(budget),
            R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"","namespace":"",)"
            R"("uid":"uid-1","labels":{},"annotations":{},"ownerReferences":[]},"spec":{}})");
}

TEST(RenderBudget, APercentageIsAString) {
  Pdb budget;
  budget.min_available = "50%";
  EXPECT_EQ(
      RenderBudget(budget),
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"","namespace":"","labels":{},)"
      R"("annotations":{},"ownerReferences":[]},"spec":{"minAvailable":"50%"}})");
}

TEST(RenderEvent, SaysWhatHappenedToWhich) {
  const BudgetEvent event{Named("apps/v1", "Deployment", "web"), EventType::kWarning, "BudgetsOverlap", "keep one"};
  EXPECT_EQ(RenderEvent(event, "podium-7d9f", TimePoint{} + std::chrono::seconds(1'795'000'000)),
            R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":")" + EventName(event) +
                R"(","namespace":"chat"},"eventTime":"2026-11-18T11:06:40.000000Z","type":"Warning",)"
                R"("reason":"BudgetsOverlap","action":"Budget","note":"keep one",)"
                R"("reportingController":"podium.gpu/budgets","reportingInstance":"podium-7d9f","regarding":)"
                R"({"apiVersion":"apps/v1","kind":"Deployment","namespace":"chat","name":"web","uid":"uid-web"}})");
}

TEST(EventName, IsTheSameForTheSameEventOnly) {
  const BudgetEvent event{Named("apps/v1", "Deployment", "web"), EventType::kNormal, "BudgetCreated", "note"};
  BudgetEvent other = event;
  EXPECT_EQ(EventName(event), EventName(other));
  other.note = "another";
  EXPECT_NE(EventName(event), EventName(other));
  EXPECT_EQ(EventName(event).substr(0, 4), "web-");
}

}  // namespace
}  // namespace podium
