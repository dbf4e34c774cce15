// What only the policy as a whole shows: contradictions, things that never count, things that would surprise.
#include <gtest/gtest.h>

#include "policy/lint_text.h"

namespace podium {
namespace {

struct Row {
  std::string_view name;
  std::string_view spec;  // begins at line 5
  std::string_view want;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class CheckTest : public testing::TestWithParam<Row> {};

TEST_P(CheckTest, Says) { EXPECT_EQ(LintSpec(GetParam().spec), GetParam().want); }

std::string RowName(const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); }

constexpr Row kLadder[] = {
    {"SameName",
     R"(  classes:
    - {name: a, value: 1}
    - {name: a, value: 2}
)",
     "p.yaml:7:14: error: class 'a' is listed twice, first at p.yaml:6:14; keep one of them\n"},
    {"SameValue",
     R"(  classes:
    - {name: a, value: 5}
    - {name: b, value: 7}
    - {name: c, value: 5}
)",
     "p.yaml:8:24: warning: classes 'a' and 'c' have the same value 5; neither can preempt the other: leave a gap "
     "between them\n"},
    {"ThreeGlobalDefaults",
     R"(  classes:
    - {name: a, value: 1, globalDefault: true}
    - {name: b, value: 2, globalDefault: false}
    - {name: c, value: 3, globalDefault: true}
    - {name: d, value: 4, globalDefault: true}
)",
     "p.yaml:8:42: error: two global defaults: 'c' here and 'a' at p.yaml:6:42; allowed: at most one, the class of "
     "pods "
     "that name none\n"
     "p.yaml:9:42: error: two global defaults: 'd' here and 'a' at p.yaml:6:42; allowed: at most one, the class of "
     "pods "
     "that name none\n"},
    {"HighGlobalDefault", "  classes: [{name: a, value: 1, tier: high, globalDefault: true}]\n",
     "p.yaml:5:60: warning: class 'a' is the global default and of tier high; every pod that names no class, also "
     "without GPUs, could evict others\n"},
    {"HighThatNeverEvicts", "  classes: [{name: a, value: 1, tier: high, preemptionPolicy: Never}]\n",
     "p.yaml:5:63: warning: class 'a' is of tier high but its preemptionPolicy is Never; it waits in front of the "
     "queue "
     "and evicts nothing: use tier standard\n"},
    {"PreemptibleAboveHigh",
     R"(  classes:
    - {name: chat, value: 1000, tier: high}
    - {name: batch, value: 2000, tier: preemptible}
)",
     "p.yaml:7:28: warning: preemptible class 'batch' (2000) is above the high class 'chat' (1000), which therefore "
     "cannot preempt it\n"},
    {"DefaultAboveChosen",
     R"(  classes:
    - {name: default, value: 2000, globalDefault: true}
    - {name: batch, value: 1000, tier: preemptible}
)",
     "p.yaml:6:30: warning: global default 'default' (2000) is above the preemptible class 'batch' (1000); a pod that "
     "names no class would outrank one that does\n"},
    {"ADefaultBelowIsFine",
     R"(  classes:
    - {name: default, value: 100, tier: preemptible, globalDefault: true}
    - {name: batch, value: 1000, tier: preemptible}
)",
     ""},
};
INSTANTIATE_TEST_SUITE_P(Ladder, CheckTest, testing::ValuesIn(kLadder), RowName);

constexpr Row kGpus[] = {
    {"NeverReached",
     R"(  gpus:
    - {resource: nvidia.com/*, unit: device}
    - {resource: nvidia.com/mig-*, unit: slice}
    - {resource: amd.com/gpu, unit: device}
    - {resource: amd.com/gpu, unit: shared}
)",
     "p.yaml:7:18: warning: GPU resource 'nvidia.com/mig-*' is never reached; 'nvidia.com/*' at p.yaml:6:18 matches "
     "first: move the narrower one up\n"
     "p.yaml:9:18: warning: GPU resource 'amd.com/gpu' is never reached; 'amd.com/gpu' at p.yaml:8:18 matches first: "
     "move the narrower one up\n"},
    {"TheNarrowerFirstIsFine",
     R"(  gpus:
    - {resource: nvidia.com/mig-*, unit: slice}
    - {resource: nvidia.com/*, unit: device}
)",
     ""},
};
INSTANTIATE_TEST_SUITE_P(Gpus, CheckTest, testing::ValuesIn(kGpus), RowName);

// Two types, the first before the second; {0} and {1} are their matches.
std::string TwoTypes(std::string_view first, std::string_view second) {
  return WithSpec("  classes: [{name: a, value: 1}]\n  workloadTypes:\n    - {name: one, class: a, match: " +
                  std::string(first) + "}\n    - {name: two, class: a, match: " + std::string(second) + "}\n");
}

struct Pair {
  std::string_view first;
  std::string_view second;
};

TEST(Reachable, ATypeThatAnEarlierOneTakesWhole) {
  constexpr Pair kPairs[] = {
      {"{gpus: 1}", "{gpus: 1}"},
      {"{gpus: \">=1\"}", "{gpus: 2-4}"},
      {"{gpus: \">=1\"}", "{gpus: {unit: slice, count: 2}, kinds: [Job]}"},
      {"{labels: {app: x}}", "{labels: {app: x, tier: y}}"},
      {"{labels: {app: \"*\"}}", "{labels: {app: x}}"},
      {"{kinds: [Job, Deployment]}", "{kinds: [Job]}"},
      {"{ownerKinds: [Job]}", "{ownerKinds: [Job], kinds: [Pod]}"},
      {"{namespaces: [team-*]}", "{namespaces: [team-a, team-b*]}"},
      {"{namespaceLabels: {a: b}}", "{namespaceLabels: {a: b}, gpus: 1}"},
      {"{serviceAccounts: [\"ci:*\"]}", "{serviceAccounts: [\"ci:bot\"]}"},
      {"{any: [{gpus: 1}, {kinds: [Job]}]}", "{any: [{kinds: [Job], gpus: 2}]}"},
  };
  for (const Pair& pair : kPairs) {
    const std::string lines = LintText(TwoTypes(pair.first, pair.second));
    EXPECT_TRUE(lines.starts_with("p.yaml:8:7: warning: workload type 'two' is never reached; 'one' at p.yaml:7:"))
        << pair.first << " before " << pair.second << ": " << lines;
  }
}

TEST(Reachable, ATypeThatStillMatchesSomething) {
  constexpr Pair kPairs[] = {
      {"{gpus: 1}", "{gpus: 2}"},
      {"{gpus: 2-4}", "{gpus: \">=2\"}"},
      {"{gpus: \">=1\"}", "{kinds: [Job]}"},
      {"{gpus: {count: \"<=4\"}}", "{gpus: {count: 2, unit: slice}}"},
      {"{gpus: {unit: slice}}", "{gpus: {unit: shared}}"},
      {"{gpus: {resource: nvidia.com/*}}", "{gpus: \">=1\"}"},
      {"{labels: {app: x, tier: y}}", "{labels: {app: x}}"},
      {"{labels: {app: x}}", "{labels: {app: \"*\"}}"},
      {"{kinds: [Job]}", "{kinds: [Job, Pod]}"},
      {"{kinds: [Job]}", "{ownerKinds: [Job]}"},
      {"{namespaces: [team-a]}", "{namespaces: [team-*]}"},
      {"{namespaces: [team-a]}", "{gpus: 1}"},
      {"{namespaceLabels: {a: b}}", "{gpus: 1}"},
      {"{serviceAccounts: [\"ci:bot\"]}", "{serviceAccounts: [\"ci:*\"]}"},
  };
  for (const Pair& pair : kPairs)
    EXPECT_EQ(LintText(TwoTypes(pair.first, pair.second)), "") << pair.first << " before " << pair.second;
}

TEST(Reachable, OneClauseOfSeveral) {
  EXPECT_EQ(LintText(TwoTypes("{gpus: 1}", "{any: [{gpus: 2}, {gpus: 1, kinds: [Job]}]}")),
            "p.yaml:8:54: warning: this clause of workload type 'two' is never reached; 'one' at p.yaml:7:36 takes all "
            "that it matches: move the narrower one up\n");
}

constexpr Row kTypes[] = {
    {"SameName",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: x, class: a, match: {gpus: 1}}
    - {name: x, class: a, match: {gpus: 2}}
)",
     "p.yaml:8:14: error: workload type 'x' is listed twice, first at p.yaml:7:14; keep one of them\n"},
    {"ClassOutsideTheLadder",
     R"(  classes: [{name: inference-batch, value: 1}, {name: inference-chat, value: 2}]
  workloadTypes:
    - {name: x, class: inference-bach, match: {gpus: 1}}
    - {name: y, class: system-node-critical, match: {gpus: 2}}
)",
     "p.yaml:7:24: error: class 'inference-bach' is not in spec.classes; allowed: inference-batch, inference-chat; did "
     "you mean 'inference-batch'?\n"
     "p.yaml:8:24: error: class 'system-node-critical' is not in spec.classes; allowed: inference-batch, "
     "inference-chat\n"},
    {"NoLadderAtAll", "  workloadTypes: [{name: x, class: a, match: {gpus: 1}}]\n",
     "p.yaml:5:36: error: class 'a' is not in spec.classes; allowed: none\n"},
    {"LabelOfNoType",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: interactive, class: a, match: {labels: {podium.gpu/workload-type: interactve}}}
    - {name: batch, class: a, match: {labels: {podium.gpu/workload-type: "*"}}}
)",
     "p.yaml:7:53: warning: label podium.gpu/workload-type: interactve names no workload type of this policy; types: "
     "interactive, batch; did you mean 'interactive'?\n"},
    {"PercentageForJobs",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: x, class: a, match: {kinds: [Job, CronJob]}, budget: {minAvailable: 25%}}
    - {name: y, class: a, match: {any: [{gpus: 1}, {ownerKinds: [Job]}]}, budget: {maxUnavailable: 1}}
    - {name: z, class: a, match: {kinds: [Job], gpus: 4}, budget: {minAvailable: 1}}
)",
     "p.yaml:7:67: warning: workload type 'x' matches Jobs (p.yaml:7:34), for which Kubernetes cannot count "
     "maxUnavailable or a percentage; such a budget would block every eviction: use a whole number as minAvailable\n"
     "p.yaml:8:83: warning: workload type 'y' matches Jobs (p.yaml:8:52), for which Kubernetes cannot count "
     "maxUnavailable or a percentage; such a budget would block every eviction: use a whole number as minAvailable\n"
     "p.yaml:9:7: warning: workload type 'z' is never reached; 'x' at p.yaml:7:34 takes all that it matches: move the "
     "narrower one up\n"},
    {"Kinds",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - name: x
      class: a
      match:
        any:
          - {kinds: [Deploymnet, RayJob, deployment, Zeppelin]}
          - {kinds: [CronJob]}
          - {ownerKinds: [Deployment, Job]}
)",
     "p.yaml:11:22: warning: kind 'Deploymnet' is not one that Podium knows; it is compared as written; did you mean "
     "'Deployment'?\n"
     "p.yaml:11:42: warning: kind 'deployment' is not one that Podium knows; it is compared as written; did you mean "
     "'Deployment'?\n"
     "p.yaml:11:54: warning: kind 'Zeppelin' is not one that Podium knows; it is compared as written\n"
     "p.yaml:12:21: warning: spec.workloadTypes[0].match.any[1].kinds names CronJob without Job; pods of a CronJob are "
     "owned by its Jobs and cannot be told from those of any other Job: add Job\n"
     "p.yaml:13:26: warning: spec.workloadTypes[0].match.any[2].ownerKinds names Deployment, which owns no pods "
     "itself; "
     "write ReplicaSet here, or Deployment under kinds\n"},
};
INSTANTIATE_TEST_SUITE_P(Types, CheckTest, testing::ValuesIn(kTypes), RowName);

// Now is 2026-11-29T00:00:00Z.
constexpr Row kExemptions[] = {
    {"Expired",
     R"(  exemptions:
    - {rules: [multi-gpu-preemptible], namespace: a, owner: eval-team, reason: r, expires: 2026-11-28}
    - {rules: [multi-gpu-preemptible], namespace: a, owner: eval-team, reason: r, expires: 2026-11-29}
)",
     "p.yaml:6:92: warning: this exemption expired at the end of 2026-11-28 (UTC) and no longer counts; remove it, or "
     "let 'eval-team' renew it\n"},
    {"Everything",
     R"(  exemptions:
    - {rules: [multi-gpu-preemptible], owner: o, reason: r, expires: 2027-01-31}
    - {rules: [multi-gpu-preemptible], kinds: [Pod], owner: o, reason: r, expires: 2027-01-31}
)",
     "p.yaml:6:7: warning: this exemption holds for every object in every namespace; name a namespace, a name or "
     "kinds, "
     "or change the mode of the rule\n"},
};
INSTANTIATE_TEST_SUITE_P(Exemptions, CheckTest, testing::ValuesIn(kExemptions), RowName);

TEST(Sizes, AThousandEntriesAreTheMost) {
  std::string spec = "  gpus:\n";
  for (int i = 0; i <= 1000; ++i) spec += "    - {resource: example.com/g" + std::to_string(i) + ", unit: device}\n";
  EXPECT_EQ(LintSpec(spec), "p.yaml:1006:7: error: spec.gpus has 1001 entries; allowed: at most 1000\n");
}

TEST(Sizes, ALongLadderIsNotPrintedWhole) {
  std::string spec = "  classes:\n";
  for (int i = 0; i < 20; ++i) spec += "    - {name: c" + std::to_string(i) + ", value: " + std::to_string(i) + "}\n";
  spec += "  workloadTypes: [{name: x, class: nothing, match: {gpus: 1}}]\n";
  EXPECT_EQ(LintSpec(spec),
            "p.yaml:26:36: error: class 'nothing' is not in spec.classes; allowed: c0, c1, c2, c3, c4, "
            "c5, c6, c7, c8, c9, c10, c11, ... (20 in all)\n");
}

}  // namespace
}  // namespace podium
