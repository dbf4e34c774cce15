// A thousand generated pods, as an API server would send them, through the webhook and on through the Priority step and
// a second call: no patch that does not apply, no priority that is refused, nothing more to change (faults D43, D44).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "conformance/ask.h"
#include "conformance/protocol.h"

namespace podium::conformance {
namespace {

using ::testing::IsEmpty;

constexpr int kPods = 1000;
constexpr int kDeployments = 300;

// The same sequence everywhere: the engine is specified to the bit, the standard distributions are not.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::size_t Below(std::size_t bound) { return engine_() % bound; }
  bool Chance(std::size_t percent) { return Below(100) < percent; }
  Json Pick(const std::vector<Json>& values) { return values[Below(values.size())]; }

 private:
  std::mt19937 engine_;
};

// --- generators: null stands for "absent", so that a null in the object is the string "null"
// ---------------------------

void Put(Json& object, const char* key, const Json& value) {
  if (value == "null") object[key] = nullptr;
  if (value != "null" && !value.is_null()) object[key] = value;
}

Json AnyLabels(Dice& dice) {
  if (dice.Chance(10)) return dice.Pick({nullptr, "null", Json::object()});
  Json labels = {{"app", "a"}, {"example.com/a~b", "c"}};
  Put(labels, "podium.gpu/workload-type",
      dice.Pick({nullptr, "interactive", "training", "batch", "batch", "no-such-type"}));
  return labels;
}

Json AnyAnnotations(Dice& dice) {
  return dice.Pick({nullptr,
                    "null",
                    Json::object(),
                    {{"team.example.com/owner", "vision"}},
                    {{"podium.gpu/injected-by", "someone/else"}, {"a~/b", "c"}}});
}

Json AnyContainer(Dice& dice, const std::string& name) {
  const std::vector<Json> limits = {nullptr,
                                    "null",
                                    {{"cpu", "2"}},
                                    {{"nvidia.com/gpu", "1"}},
                                    {{"nvidia.com/gpu", 1}},
                                    {{"nvidia.com/gpu", "1000m"}, {"memory", "1Gi"}},
                                    {{"nvidia.com/mig-1g.10gb", "1"}}};
  Json container = {{"name", name}, {"image", "registry.example.com/a:1"}};
  Json resources = Json::object();
  Put(resources, "limits", dice.Pick(limits));
  if (dice.Chance(80)) container["resources"] = resources;
  return container;
}

// `classes`: what the author may write as class, wrong names among them.
Json AnySpec(Dice& dice) {
  Json spec = {{"containers", Json::array({AnyContainer(dice, "main")})}, {"restartPolicy", "Never"}};
  if (dice.Chance(25)) spec["containers"].push_back(AnyContainer(dice, "second"));
  if (dice.Chance(25)) spec["initContainers"] = Json::array({AnyContainer(dice, "init")});
  if (dice.Chance(10)) spec["initContainers"] = Json::array({AnyContainer(dice, "sidecar")});
  Put(spec, "priorityClassName",
      dice.Pick({nullptr, nullptr, nullptr, nullptr, "", "null", "cluster-default", "inference-batch",
                 "training-queue-jumper", "inference-interactive", "system-node-critical", "no-such-class"}));
  Put(spec, "priority",
      dice.Pick({nullptr, nullptr, nullptr, nullptr, nullptr, "null", 0, 100, 1000, 500000, 1000000}));
  Put(spec, "preemptionPolicy",
      dice.Pick({nullptr, nullptr, nullptr, nullptr, nullptr, "null", "Never", "PreemptLowerPriority"}));
  return spec;
}

Json AnyOwner(Dice& dice) {
  const std::vector<std::pair<const char*, const char*>> owners = {{"batch/v1", "Job"}, {"apps/v1", "ReplicaSet"}};
  const auto& [version, kind] = owners[dice.Below(owners.size())];
  return Json::array({{{"apiVersion", version}, {"kind", kind}, {"name", "o"}, {"uid", "1"}, {"controller", true}}});
}

Json AnyMetadata(Dice& dice) {
  Json metadata = {{dice.Chance(50) ? "name" : "generateName", "pod-a"}, {"namespace", "team"}};
  Put(metadata, "labels", AnyLabels(dice));
  Put(metadata, "annotations", AnyAnnotations(dice));
  if (dice.Chance(40)) metadata["ownerReferences"] = AnyOwner(dice);
  return metadata;
}

// A cluster that may have drifted from the policy's ladder: other values, another policy, another global default.
ClusterSnapshot AnyCluster(Dice& dice) {
  ClusterSnapshot cluster = Cluster(dice.Pick({"cluster-default", "cluster-default", "", "inference-batch"}));
  const Table<PriorityClass> as_in_the_ladder = cluster.classes;
  for (auto [name, each] : as_in_the_ladder) {
    if (dice.Chance(20)) each.value += 7;
    if (dice.Chance(10)) each.preemption_policy = PreemptionPolicy::kNever;
    cluster.classes.Put(name, each);
  }
  return cluster;
}

std::string ReviewOf(const char* group, const char* kind, const Json& object) {
  Json request = {{"uid", "0b0f4d3e-0000-4000-8000-000000000001"},
                  {"kind", {{"group", group}, {"version", "v1"}, {"kind", kind}}},
                  {"namespace", "team"},
                  {"operation", "CREATE"},
                  {"object", object}};
  return Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}.dump();
}

// --- pods -----------------------------------------------------------------------------------------------------------

struct Tally {
  int patched = 0;
  int untouched = 0;
  int refused = 0;
};

// Three more calls with what is stored by then, and one after a rival took our annotation away: nothing to do.
void CheckNothingMoreToDo(const Answer& first, const Json& stored, const Scene& scene, const ClusterSnapshot& live) {
  Json object = stored;
  for (int call = 0; call < 3; ++call) {
    const Answer again = Ask(scene, ComesAgain(first, object), Endpoint::kMutate);
    ASSERT_TRUE(again.allowed()) << again.message();
    ASSERT_THAT(PatchOf(again), IsEmpty());
    ASSERT_EQ(again.response()["auditAnnotations"], first.response()["auditAnnotations"]);
    object = RunPriorityStep(Patched(again), live).pod;
    ASSERT_EQ(object, stored);
  }
  if (!object["metadata"].value("annotations", Json()).is_object()) return;
  object["metadata"]["annotations"].erase("podium.gpu/injected-by");
  ASSERT_THAT(PatchOf(Ask(scene, ComesAgain(first, object), Endpoint::kMutate)), IsEmpty());
}

void CheckPod(const Json& arrived, const Scene& scene, const ClusterSnapshot& live, Tally& tally) {
  const Answer answer = Ask(scene, ReviewOf("", "Pod", arrived), Endpoint::kMutate);
  ASSERT_THAT(ProtocolFaults(answer), IsEmpty());
  if (!answer.allowed()) {
    ++tally.refused;
    return;
  }
  ++(PatchOf(answer).empty() ? tally.untouched : tally.patched);
  const PriorityStep stored = RunPriorityStep(Patched(answer), live);
  ASSERT_EQ(stored.refusal, "");
  const Trio& after = answer.decision.templates.at(0).after;
  ASSERT_EQ(stored.pod["spec"].value("priorityClassName", ""), after.class_name.value_or(""));
  if (scene.cluster) {
    ASSERT_EQ(stored.pod["spec"]["priority"], after.priority.value_or(0));
  }
  CheckNothingMoreToDo(answer, stored.pod, scene, live);
}

void CheckPods(std::uint32_t seed, bool synced, Tally& tally) {
  Dice dice(seed);
  for (int sent = 0; sent < kPods / 2;) {
    const ClusterSnapshot live = AnyCluster(dice);
    const PriorityStep arrived = RunPriorityStep(
        {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", AnyMetadata(dice)}, {"spec", AnySpec(dice)}}, live);
    if (!arrived.refusal.empty()) continue;  // such a pod never reaches a webhook
    ++sent;
    SCOPED_TRACE(arrived.pod.dump());
    Scene scene;
    if (synced) scene.cluster = live;
    CheckPod(arrived.pod, scene, live, tally);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GeneratedPods, ArePatchedOnceAndPassThePriorityStep) {
  Tally tally;
  CheckPods(1, true, tally);
  CheckPods(2, false, tally);
  EXPECT_EQ(tally.patched + tally.untouched + tally.refused, kPods);
  EXPECT_GT(tally.patched, kPods / 5) << "the generator makes too few pods that get a class";
  EXPECT_GT(tally.untouched, kPods / 5);
  EXPECT_GT(tally.refused, kPods / 50);
}

// --- deployments ----------------------------------------------------------------------------------------------------

// The pod the ReplicaSet controller makes from the stored template.
Json PodFrom(const Json& deployment) {
  Json pod = deployment["spec"]["template"];
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  Json& metadata = pod["metadata"];
  metadata.erase("name");
  metadata["generateName"] = "d-";
  metadata["namespace"] = "team";
  if (!metadata.value("labels", Json()).is_object()) metadata["labels"] = Json::object();
  metadata["labels"]["pod-template-hash"] = "5bf4965fdc";
  metadata["ownerReferences"] = Json::array(
      {{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "d-5bf4965fdc"}, {"controller", true}}});
  return pod;
}

void CheckDeployment(const Json& deployment, const Scene& scene, Tally& tally) {
  const Answer answer = Ask(scene, ReviewOf("apps", "Deployment", deployment), Endpoint::kMutate);
  ASSERT_THAT(ProtocolFaults(answer), IsEmpty());
  if (!answer.allowed()) {
    ++tally.refused;
    return;
  }
  ++(PatchOf(answer).empty() ? tally.untouched : tally.patched);
  ASSERT_THAT(PatchOf(Ask(scene, ComesAgain(answer, Patched(answer)), Endpoint::kMutate)), IsEmpty());

  const PriorityStep arrived = RunPriorityStep(PodFrom(Patched(answer)), *scene.cluster);
  ASSERT_EQ(arrived.refusal, "") << "allowed as a Deployment, and no pod can be made of it";
  const Answer pod = Ask(scene, ReviewOf("", "Pod", arrived.pod), Endpoint::kMutate);
  ASSERT_TRUE(pod.allowed()) << "allowed as a Deployment, refused as a pod: " << pod.message();
  ASSERT_EQ(pod.decision.templates.at(0).classification, answer.decision.templates.at(0).classification);
  const std::string announced = answer.decision.templates.at(0).after.class_name.value_or("");
  if (announced.empty()) return;
  ASSERT_EQ(Patched(pod)["spec"].value("priorityClassName", ""), announced);
}

// A Deployment and its pods are judged alike: what passes at apply time does not fail hours later.
TEST(GeneratedDeployments, ThatPassGetTheirPods) {
  Dice dice(3);
  Tally tally;
  for (int i = 0; i < kDeployments; ++i) {
    Json metadata = {{"name", "d"}, {"namespace", "team"}};
    Put(metadata, "labels", AnyLabels(dice));
    Json pod = {{"metadata", AnyMetadata(dice)}, {"spec", AnySpec(dice)}};
    pod["metadata"].erase("ownerReferences");
    const Json deployment = {
        {"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", metadata}, {"spec", {{"template", pod}}}};
    SCOPED_TRACE(deployment.dump());
    CheckDeployment(deployment, {.cluster = AnyCluster(dice)}, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.patched, kDeployments / 5);
  EXPECT_GT(tally.untouched, kDeployments / 10);
  EXPECT_GT(tally.refused, kDeployments / 10);
}

}  // namespace
}  // namespace podium::conformance
