// Commands that look at a cluster, with a file in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kCluster = R"(---
apiVersion: v1
kind: List
items:
- {kind: Namespace, metadata: {name: serving}}
- {kind: PriorityClass, metadata: {name: inference-interactive}, value: 900000}
- {kind: PriorityClass, metadata: {name: training-queue-jumper}, value: 500000, preemptionPolicy: Never}
- {kind: PriorityClass, metadata: {name: cluster-default}, value: 100, globalDefault: true}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: chat, namespace: serving, uid: u-1}
  spec:
    replicas: 3
    selector: {matchLabels: {app: chat}}
    template:
      metadata: {labels: {app: chat, podium.gpu/workload-type: interactive}}
      spec: {containers: [{name: main}]}
)";

class ClusterCommands : public testing::Test {
 protected:
  TempDir dir;
  const std::string file = dir.Write("cluster.yaml", kCluster);
};

TEST_F(ClusterCommands, ClassesDiffNamesWhatDiffers) {
  const CliRun run = RunPodium({"classes", "diff", "--cluster", file});
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_EQ(
      run.out,
      "class 'inference-interactive' has value 900000 in the cluster and 1000000 in the policy; it cannot be changed "
      "in place: give the class a new name in the policy, or delete and create it while no pod uses it\n"
      "class 'inference-batch' is in the policy and not in the cluster: nothing can get it; 'podium classes apply' "
      "creates it\n");
}

TEST_F(ClusterCommands, ClassesApplyWantsALiveCluster) {
  const CliRun run = RunPodium({"classes", "apply", "--cluster", file});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.err, "podium classes: apply changes a live cluster: give --kubeconfig or --in-cluster, not a file\n");
}

TEST_F(ClusterCommands, ClassesOfTheSampleClusterAreThePolicys) {
  const CliRun run = RunPodium({"classes", "diff", "--snapshot", "sample"});
  EXPECT_EQ(run.code, kExitOk);
  EXPECT_EQ(run.out, "the cluster has the policy's 4 classes\n");
}

TEST_F(ClusterCommands, PdbPlanIsATable) {
  const CliRun run = RunPodium({"pdb", "plan", "--cluster", file});
  EXPECT_EQ(run.code, kExitOk);
  EXPECT_EQ(
      run.out,
      "NAMESPACE  WORKLOAD         STEP    LIMIT             REASON\n"
      "serving    Deployment/chat  create  maxUnavailable 1  workload type 'interactive' asks for maxUnavailable 1\n");
}

TEST_F(ClusterCommands, PdbPlanIsJson) {
  const CliRun run = RunPodium({"pdb", "plan", "--cluster", file, "-o", "json", "-n", "serving"});
  EXPECT_EQ(run.code, kExitOk);
  EXPECT_THAT(run.out, HasSubstr("\"kind\": \"BudgetPlan\""));
  EXPECT_THAT(run.out, HasSubstr("\"budget\": \"podium-deployment-chat\""));
  EXPECT_THAT(RunPodium({"pdb", "plan", "--cluster", file, "-o", "json", "-n", "other"}).out,
              Not(HasSubstr("podium-deployment-chat")));
}

TEST_F(ClusterCommands, StatusPutsBothTogether) {
  const CliRun run = RunPodium({"status", "--cluster", file});
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_THAT(run.out,
              HasSubstr("cluster  3 classes, 1 namespaces, 1 workloads\nclasses  differ from the policy's:\n"));
  EXPECT_THAT(run.out, HasSubstr("budgets  1 create\n"));
  EXPECT_THAT(RunPodium({"status", "--cluster", file, "-o", "json"}).out,
              HasSubstr("\"class\": \"inference-batch\",\n      \"difference\": \"missing\""));
}

TEST_F(ClusterCommands, SnapshotIsReadBack) {
  const CliRun first = RunPodium({"snapshot", "--cluster", file});
  EXPECT_EQ(first.code, kExitOk);
  const std::string again = dir.Write("again.json", first.out);
  EXPECT_EQ(RunPodium({"snapshot", "--snapshot", again}).out, first.out);
  const CliRun redacted = RunPodium({"snapshot", "--cluster", file, "--redact"});
  EXPECT_THAT(redacted.out, Not(HasSubstr("chat")));
  EXPECT_THAT(redacted.out, HasSubstr("inference-interactive"));
}

TEST_F(ClusterCommands, AFileExcludesALiveCluster) {
  const CliRun run = RunPodium({"status", "--cluster", file, "--in-cluster"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr("--cluster FILE, --kubeconfig or --context, and --in-cluster exclude each other"));
}

TEST_F(ClusterCommands, AKubeconfigThatIsNotThereIsNamed) {
  const CliRun run = RunPodium({"status", "--kubeconfig", dir.path() + "/none"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr(dir.path() + "/none"));
}

}  // namespace
}  // namespace podium
