// The cases 030-039 and 048 (tests/cases/feasibility): clusters with one waiting pod, the preemptor, and all that is to
// be said about it. The header of each file says what it is about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "conformance/protocol.h"
#include "feasibility/evaluations.h"
#include "feasibility/outlook.h"
#include "wire/decode.h"

namespace podium::conformance {
namespace {

constexpr const char* kFolder = PODIUM_TEST_DIR "/cases/feasibility/";
// After every start time in the cases.
const TimePoint kNow = TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 5 / 4) + std::chrono::hours(12));

struct SnapshotCase {
  std::string file;
  std::string verdict;
  std::string plan = {};                     // "gpu-a: nlp-batch/embed-4; 0 violations; 30 s"
  std::vector<std::string> candidates = {};  // all nodes where evictions make room
  std::vector<std::string> refused = {};     // why each node was refused
  std::vector<std::string> tried = {};       // why evictions do not help on a node where they were tried
  std::vector<std::string> changes = {};
  std::string after_preemption = {};  // the end of the scheduler's message, about preemption
};

const std::string kNoGpu = ": Unschedulable NodeResourcesFit [Insufficient nvidia.com/gpu]";
const std::string kNeverGpu = ": Unresolvable NodeResourcesFit [Insufficient nvidia.com/gpu]";
const std::string kNoVictims = ": Unresolvable  [No preemption victims found for incoming pod]";

std::vector<SnapshotCase> Cases() {
  return {
      {.file = "030-two-gpus-wanted-single-gpu-nodes.yaml",
       .verdict = "ShapeNeverFits",
       .refused = {"gpu-s0" + kNeverGpu, "gpu-s1" + kNeverGpu, "gpu-s2" + kNeverGpu, "gpu-s3" + kNeverGpu},
       .changes = {"FewerGpus: ask for 1 nvidia.com/gpu instead of 2"},
       .after_preemption = "0/4 nodes are available: 4 Preemption is not helpful for scheduling."},
      {.file = "031-equal-priority-is-no-victim.yaml",
       .verdict = "PreemptionCannotHelp",
       .refused = {"gpu-a" + kNoGpu},
       .tried = {"gpu-a" + kNoVictims},
       .changes = {"DrainNode: move 1 pod away from gpu-a (serving/rerank-5c2): no place elsewhere was found for 1"},
       .after_preemption = "0/1 nodes are available: 1 No preemption victims found for incoming pod."},
      {.file = "032-never-policy-does-not-preempt.yaml",
       .verdict = "PreemptionForbidden, PreemptionPolicyNever",
       .refused = {"gpu-a" + kNoGpu},
       .changes = {"MayPreempt: let it preempt: a class like training-queue-jumper, with preemptionPolicy "
                   "PreemptLowerPriority",
                   "DrainNode: move 1 pod away from gpu-a (nlp-batch/asr-3): no place elsewhere was found for 1"},
       .after_preemption = "not eligible due to preemptionPolicy=Never."},
      {.file = "033-victims-on-unusable-nodes.yaml",
       .verdict = "PreemptionCannotHelp",
       .refused = {"gpu-cordoned: Unresolvable NodeUnschedulable [node(s) were unschedulable]",
                   "gpu-other-model: Unresolvable NodeAffinity [node(s) didn't match Pod's node affinity/selector]",
                   "gpu-right" + kNoGpu,
                   "gpu-tainted: Unresolvable TaintToleration [node(s) had untolerated taint(s)]"},
       .tried = {"gpu-right" + kNoVictims},
       .changes = {"OtherLabel: select gpu-model=t4 instead of h100",
                   "DrainNode: move 1 pod away from gpu-right (serving/chat-5a): no place elsewhere was found for 1"},
       .after_preemption = "0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is "
                           "not helpful for scheduling."},
      {.file = "034-finished-pods-hold-no-gpu.yaml", .verdict = "FitsNow"},
      {.file = "035-pdb-count-comes-before-priority.yaml",
       .verdict = "FitsAfterPreemption",
       .plan = "gpu-b: research/finetune-0; 0 violations; 30 s",
       .candidates = {"gpu-a: nlp-batch/embed-0; 1 violations", "gpu-b: research/finetune-0; 0 violations"},
       .refused = {"gpu-a" + kNoGpu, "gpu-b" + kNoGpu}},
      {.file = "036-smallest-set-of-victims.yaml",
       .verdict = "FitsAfterPreemption",
       .plan = "gpu-a: nlp-batch/eval-new, lab/notebook-3; 0 violations; 30 s",
       .candidates = {"gpu-a: nlp-batch/eval-new, lab/notebook-3; 0 violations"},
       .refused = {"gpu-a" + kNoGpu}},
      {.file = "037-capacity-is-not-allocatable.yaml",
       .verdict = "ShapeNeverFits",
       .refused = {"gpu-a" + kNeverGpu},
       .changes = {"FewerGpus: ask for 7 nvidia.com/gpu instead of 8"},
       .after_preemption = "0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
      {.file = "038-priority-is-frozen-on-the-pod.yaml",
       .verdict = "FitsAfterPreemption",
       .plan = "gpu-a: nlp-batch/embed-4; 0 violations; 30 s",
       .candidates = {"gpu-a: nlp-batch/embed-4; 0 violations"},
       .refused = {"gpu-a" + kNoGpu}},
      {.file = "039-grace-period-delays-the-start.yaml",
       .verdict = "FitsAfterPreemption",
       .plan = "gpu-a: nlp-batch/train-ckpt-0; 0 violations; 300 s",
       .candidates = {"gpu-a: nlp-batch/train-ckpt-0; 0 violations", "gpu-b: research/finetune-9; 0 violations"},
       .refused = {"gpu-a" + kNoGpu, "gpu-b" + kNoGpu}},
      {.file = "048-slices-do-not-free-a-whole-gpu.yaml",
       .verdict = "PreemptionCannotHelp",
       .refused = {"gpu-mig" + kNoGpu},
       .tried = {"gpu-mig" + kNoGpu},
       .changes = {"DrainNode: move 1 pod away from gpu-mig (serving/chat-8h): no place elsewhere was found for 1"},
       .after_preemption = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."},
  };
}

std::string NamesOf(const std::vector<const Pod*>& pods) {
  std::string names;
  for (const Pod* pod : pods) names += (names.empty() ? "" : ", ") + *pod->namespace_name + '/' + pod->name;
  return names;
}

std::string PlanText(const Outlook& outlook) {
  if (!outlook.plan) return "";
  std::vector<const Pod*> victims;
  for (const VictimCost& victim : outlook.plan->victims) victims.push_back(victim.pod);
  return outlook.report.NodeName(outlook.plan->node) + ": " + NamesOf(victims) + "; " +
         std::to_string(outlook.plan->budget_violations) + " violations; " +
         std::to_string(outlook.plan->wait_at_most.count()) + " s";
}

// The outcome as a row states it.
SnapshotCase OutcomeOf(const std::string& file, const Outlook& outlook) {
  const FeasibilityReport& report = outlook.report;
  SnapshotCase outcome{.file = file, .verdict = std::string(ToString(report.verdict)), .plan = PlanText(outlook)};
  if (report.ineligible) outcome.verdict += ", " + std::string(ToString(*report.ineligible));
  for (const Candidate& candidate : report.candidates)
    outcome.candidates.push_back(report.NodeName(candidate.node) + ": " + NamesOf(candidate.victims) + "; " +
                                 std::to_string(candidate.budget_violations) + " violations");
  outcome.refused = RefusedText(report);
  for (const NodeOutcome& failed : report.dry_run) outcome.tried.push_back(OutcomeText(report, failed));
  for (const Change& change : outlook.changes)
    outcome.changes.push_back(std::string(ToString(change.kind)) + ": " + change.text);
  const std::string mark = "preemption: ";
  const std::size_t at = report.message.find(mark);
  if (at != std::string::npos) outcome.after_preemption = report.message.substr(at + mark.size());
  return outcome;
}

ClusterSnapshot Load(const std::string& file) {
  return DecodeClusterFile(file, ReadText(kFolder + file), kNow).value();
}

const Pod& PreemptorOf(const ClusterSnapshot& snapshot) {
  const auto is_preemptor = [](const auto& pod) {
    const auto role = pod->labels->find("case-role");
    return role != pod->labels->end() && role->second == "preemptor";
  };
  EXPECT_EQ(std::count_if(snapshot.waiting.begin(), snapshot.waiting.end(), is_preemptor), 1);
  return **std::find_if(snapshot.waiting.begin(), snapshot.waiting.end(), is_preemptor);
}

OutlookOptions Options() {
  return {.evaluate = {.version = {1, 36}},
          .now = kNow,
          .gpus = {{"nvidia.com/gpu", GpuUnit::kDevice}, {"nvidia.com/mig-*", GpuUnit::kSlice}}};
}

Outlook LookAt(const ClusterSnapshot& snapshot) {
  const OutlookOptions options = Options();
  return LookAhead(Prepare(snapshot, RulesOf(options.evaluate.version)), snapshot, PreemptorOf(snapshot), options);
}

class SnapshotCases : public ::testing::TestWithParam<SnapshotCase> {};

TEST_P(SnapshotCases, HasItsRightOutcome) {
  const SnapshotCase& want = GetParam();
  const ClusterSnapshot snapshot = Load(want.file);
  const SnapshotCase outcome = OutcomeOf(want.file, LookAt(snapshot));
  EXPECT_EQ(outcome.verdict, want.verdict);
  EXPECT_EQ(outcome.plan, want.plan);
  EXPECT_EQ(outcome.candidates, want.candidates);
  EXPECT_EQ(outcome.refused, want.refused);
  EXPECT_EQ(outcome.tried, want.tried);
  EXPECT_EQ(outcome.changes, want.changes);
  EXPECT_EQ(outcome.after_preemption, want.after_preemption);
}

std::string TestName(const ::testing::TestParamInfo<SnapshotCase>& row) {
  std::string name = row.param.file.substr(0, row.param.file.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, SnapshotCases, ::testing::ValuesIn(Cases()), TestName);

TEST(SnapshotFiles, EachHasARow) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.insert(entry.path().filename());
  std::set<std::string> rows;
  for (const SnapshotCase& row : Cases()) rows.insert(row.file);
  EXPECT_EQ(files, rows);
}

// "Were gpu-b not there, the right answer would be gpu-a with 1 violation": a budget is best effort.
TEST(SnapshotFiles, Case035TakesTheBrokenBudgetWhenThereIsNoOtherNode) {
  ClusterSnapshot snapshot = Load("035-pdb-count-comes-before-priority.yaml");
  snapshot.nodes = Table<NodeState>({snapshot.nodes.rows()[0]});
  const Outlook outlook = LookAt(snapshot);
  EXPECT_EQ(PlanText(outlook), "gpu-a: nlp-batch/embed-0; 1 violations; 30 s");
  EXPECT_TRUE(outlook.plan->victims[0].breaks_budget);
}

}  // namespace
}  // namespace podium::conformance
