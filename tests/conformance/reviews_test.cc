// Every request a real API server (1.36) was recorded to send, answered on both endpoints and checked against a table,
// against what the API server refuses in an answer, and against its Priority step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/ask.h"
#include "conformance/protocol.h"

namespace podium::conformance {
namespace {

using ::testing::IsEmpty;

constexpr const char* kFolder = PODIUM_TEST_DIR "/conformance/admissionreview-1.36/";

// What is to come of a request: nothing, a class, or a refusal by a rule.
struct Outcome {
  std::string injected;  // class
  std::string path;      // of the pod or template that gets it
  std::string rule;      // that refuses
};

const Outcome kUntouched = {};
Outcome Pod(const char* class_name) { return {class_name, "", ""}; }
Outcome Template(const char* class_name) { return {class_name, "/spec/template", ""}; }
Outcome CronTemplate(const char* class_name) { return {class_name, "/spec/jobTemplate/spec/template", ""}; }
Outcome Refused(const char* rule) { return {"", "", rule}; }

constexpr const char* kMultiGpu = "multi-gpu-preemptible";
constexpr const char* kUnscoped = "unscoped-high-priority-quota";
constexpr const char* kInteractive = "inference-interactive";
constexpr const char* kBatch = "inference-batch";

struct Recorded {
  int first;  // file numbers, inclusive; the recordings of one object in both phases
  int last;
  const char* what;  // every file name of the row contains it
  Outcome shipped;   // with policies/default.yaml, which knows none of the team's labels
  Outcome team;      // with the team's own policy
};

const std::vector<Recorded>& Table() {
  static const std::vector<Recorded> rows = {
      {1, 4, "create-priorityclass", kUntouched, kUntouched},
      {5, 6, "create-namespace", kUntouched, kUntouched},
      {7, 10, "create-configmap", kUntouched, kUntouched},
      {11, 12, "create-deployment-chat", kUntouched, Template(kInteractive)},
      // A ReplicaSet of a Deployment keeps the Deployment's template, or the controller makes another one, without end.
      {13, 13, "create-replicaset-chat", kUntouched, kUntouched},
      {14, 15, "create-statefulset-embedder", kUntouched, Template(kBatch)},
      {16, 16, "create-replicaset-chat", kUntouched, kUntouched},
      {17, 17, "create-job-asr-nightly", Refused(kMultiGpu), Refused(kMultiGpu)},
      {18, 18, "create-pod-embedder-0", kUntouched, Pod(kBatch)},
      {19, 19, "create-job-asr-nightly", Refused(kMultiGpu), Refused(kMultiGpu)},
      {20, 20, "create-pod-chat", kUntouched, Pod(kInteractive)},
      {21, 21, "create-pod-embedder-0", kUntouched, Pod(kBatch)},
      {22, 22, "create-pod-chat", kUntouched, Pod(kInteractive)},
      {23, 23, "create-pod-asr-nightly", Refused(kMultiGpu), Refused(kMultiGpu)},
      {24, 24, "create-cronjob-reindex", CronTemplate(kBatch), kUntouched},
      {25, 25, "create-pod-asr-nightly", Refused(kMultiGpu), Refused(kMultiGpu)},
      {26, 26, "create-pod-chat", kUntouched, Pod(kInteractive)},
      {27, 27, "create-cronjob-reindex", CronTemplate(kBatch), kUntouched},
      {28, 28, "create-pod-chat", kUntouched, Pod(kInteractive)},
      {29, 30, "create-daemonset-gpu-agent", kUntouched, kUntouched},
      {31, 32, "create-resourcequota-gpu-interactive", kUntouched, kUntouched},
      {33, 34, "create-resourcequota-gpu-all", Refused(kUnscoped), Refused(kUnscoped)},
      {35, 36, "create-poddisruptionbudget", kUntouched, kUntouched},
      {37, 38, "update-deployment-chat", kUntouched, kUntouched},  // replicas only
      {39, 40, "update-scale", kUntouched, kUntouched},
      {41, 42, "update-replicaset-chat", kUntouched, kUntouched},
      {43, 44, "update-deployment-chat", kUntouched, kUntouched},  // the author sets the class the type has
      {45, 46, "create-replicaset-chat", kUntouched, kUntouched},  // and its ReplicaSet has it
      {47, 48, "update-pod-embedder-0", kUntouched, kUntouched},
      {49, 49, "create-job-dryrun-x", kUntouched, kUntouched},  // "containers": null
      {50, 53, "delete-pod", kUntouched, kUntouched},
      {54, 55, "delete-job", kUntouched, kUntouched},
      {56, 57, "update-pod-asr-nightly", kUntouched, kUntouched},  // two GPUs, but stored already
      {58, 59, "delete-deployment", kUntouched, kUntouched},
      {60, 63, "delete-replicaset", kUntouched, kUntouched},
      {64, 65, "create-statefulset-dryrun-embedder2", kUntouched, Template(kBatch)},
      {66, 67, "create-statefulset-embedder2", kUntouched, Template(kBatch)},
      {68, 69, "update-resourcequota-gpu-interactive", kUntouched, kUntouched},
      {70, 71, "update-poddisruptionbudget", kUntouched, kUntouched},
      {72, 73, "update-priorityclass", kUntouched, kUntouched},
      {74, 75, "update-pod-ephemeralcontainers", kUntouched, kUntouched},
  };
  return rows;
}

int NumberOf(const std::string& file) { return std::stoi(file.substr(0, 3)); }

const Recorded* RowOf(const std::string& file) {
  for (const Recorded& row : Table())
    if (NumberOf(file) >= row.first && NumberOf(file) <= row.last) return &row;
  return nullptr;
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Recordings, AreAllThereAndInTheTable) {
  EXPECT_EQ(Files().size(), 73U);
  for (const std::string& file : Files()) {
    const Recorded* row = RowOf(file);
    ASSERT_NE(row, nullptr) << file;
    EXPECT_NE(file.find(row->what), std::string::npos) << file << " is not " << row->what;
  }
}

// --- one recording, one policy, one endpoint ------------------------------------------------------------------------

// The recording cluster: its classes, and the one namespace with its label.
Scene RecordedScene(Policy policy) {
  Scene scene{.policy = std::move(policy), .cluster = Cluster()};
  scene.cluster->namespaces.Put("ai-lab", {.name = "ai-lab", .labels = {{"team", "search"}}});
  return scene;
}

void CheckRefused(const Answer& answer, const Outcome& wanted) {
  EXPECT_FALSE(answer.allowed());
  EXPECT_NE(answer.message().find("[" + wanted.rule + "]"), std::string::npos) << answer.message();
  EXPECT_EQ(answer.response().at("/status/code"_json_pointer), 403);
}

void CheckUntouched(const Answer& answer) {
  EXPECT_TRUE(answer.allowed()) << answer.message();
  EXPECT_THAT(PatchOf(answer), IsEmpty());
  EXPECT_THAT(answer.decision.edits, IsEmpty()) << "the validating endpoint decides alike";
}

// The object as it is stored after the mutating webhooks: a Pod goes through the Priority step once more.
Json Stored(const Answer& answer, const Scene& scene) {
  const Json object = Patched(answer);
  if (answer.request.kind.kind != "Pod") return object;
  const PriorityStep step = RunPriorityStep(object, *scene.cluster);
  EXPECT_EQ(step.refusal, "");
  return step.pod;
}

void CheckInjected(const Answer& answer, const Scene& scene, const Outcome& wanted) {
  EXPECT_TRUE(answer.allowed()) << answer.message();
  if (answer.endpoint == Endpoint::kValidate) return;  // no patch: among the protocol's faults
  const Json stored = Stored(answer, scene);
  const Json& spec = stored.at(Json::json_pointer(wanted.path + "/spec"));
  EXPECT_EQ(spec.value("priorityClassName", ""), wanted.injected);
  const PriorityClass& given = *scene.cluster->classes.Find(wanted.injected);
  if (wanted.path.empty()) {
    EXPECT_EQ(spec.value("priority", -1), given.value);
    EXPECT_EQ(spec.value("preemptionPolicy", ""), ToString(given.preemption_policy));
    EXPECT_EQ(stored.at("/metadata/annotations/podium.gpu~1injected-by"_json_pointer),
              scene.policy.name + "/" + answer.decision.templates.at(0).classification.workload_type);
  }
  const Answer again = Ask(scene, ComesAgain(answer, stored), Endpoint::kMutate);
  EXPECT_TRUE(again.allowed()) << again.message();
  EXPECT_THAT(PatchOf(again), IsEmpty());
  EXPECT_EQ(again.response()["auditAnnotations"], answer.response()["auditAnnotations"]);
}

void CheckOutcome(const Answer& answer, const Scene& scene, const Outcome& wanted) {
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  if (!wanted.rule.empty()) return CheckRefused(answer, wanted);
  if (wanted.injected.empty()) return CheckUntouched(answer);
  CheckInjected(answer, scene, wanted);
}

class Review : public ::testing::TestWithParam<std::string> {
 protected:
  static void CheckBothEndpoints(const Scene& scene, const Outcome& wanted) {
    for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate}) {
      SCOPED_TRACE(ToString(endpoint));
      CheckOutcome(Ask(scene, ReadText(kFolder + GetParam()), endpoint), scene, wanted);
    }
  }
};

TEST_P(Review, IsAnsweredByTheShippedPolicy) {
  CheckBothEndpoints(RecordedScene(ShippedPolicy()), RowOf(GetParam())->shipped);
}

TEST_P(Review, IsAnsweredByTheTeamsOwnPolicy) {
  const std::string text = ReadText(PODIUM_TEST_DIR "/conformance/recorded-team-policy.yaml");
  CheckBothEndpoints(RecordedScene(PolicyOf("recorded-team-policy.yaml", text)), RowOf(GetParam())->team);
}

// Without a synced cluster the ladder of the policy stands in, and it is what the recording cluster has.
TEST_P(Review, IsAnsweredAlikeWithoutAClusterToLookAt) {
  const Scene synced = RecordedScene(ShippedPolicy());
  Scene unsynced = synced;
  unsynced.cluster.reset();
  const std::string body = ReadText(kFolder + GetParam());
  const Answer with = Ask(synced, body, Endpoint::kMutate);
  const Answer without = Ask(unsynced, body, Endpoint::kMutate);
  EXPECT_EQ(with.decision.verdict, without.decision.verdict);
  EXPECT_EQ(with.decision.edits, without.decision.edits);
}

std::string TestName(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param.substr(0, file.param.size() - std::string(".json").size());
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Review, ::testing::ValuesIn(Files()), TestName);

}  // namespace
}  // namespace podium::conformance
