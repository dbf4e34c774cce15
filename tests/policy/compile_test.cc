// What a good policy compiles to: whole values, defaults, several files, the shipped policy.
#include "policy/compile.h"

#include <gtest/gtest.h>

#include "core/digest.h"
#include "policy/lint_text.h"
#include "rules/catalog.h"

namespace podium {
namespace {

Policy MustCompile(const std::vector<PolicyFile>& files) {
  CompiledPolicy compiled = CompilePolicy(files, kNow);
  EXPECT_EQ(Lint(files), "");
  return compiled.policy.value_or(Policy{});
}

Policy MustCompile(const std::string& text) { return MustCompile({{"p.yaml", text}}); }

Policy CompileDefault() {
  return MustCompile({{"default.yaml", ReadText(PODIUM_SOURCE_DIR "/policies/default.yaml")}});
}

// Says something about everything there is.
std::string FullPolicy() { return ReadText(PODIUM_TEST_DIR "/cases/policy/good/full.yaml"); }

LadderClass Class(PriorityClass priority_class, Tier tier, int line, std::string description = "") {
  return {std::move(priority_class), tier, std::move(description), {"p.yaml", line, 7}};
}

TEST(CompilePolicy, FillsEveryField) {
  const Policy policy = MustCompile(FullPolicy());
  EXPECT_EQ(policy.name, "t");
  EXPECT_EQ(policy.revision, Sha256Hex(FullPolicy()));
  EXPECT_EQ(policy.gpus, (std::vector<GpuResource>{{"nvidia.com/mig-*", GpuUnit::kSlice}}));
  EXPECT_EQ(policy.on_internal_error, Posture::kRefuse);
  EXPECT_EQ(policy.on_stale_cluster, StaleCluster::kLadder);
  EXPECT_EQ(policy.stale_after, std::chrono::seconds(600));
  EXPECT_EQ(policy.advice, Mode::kAudit);
}

TEST(CompilePolicy, SortsTheLadderHighestFirst) {
  using enum PreemptionPolicy;
  const std::vector<LadderClass> want = {
      Class({"top", 1'000'000'000, kPreemptLowerPriority, false}, Tier::kHigh, 9, "Users wait for it."),
      Class({"train", 500, kNever, false}, Tier::kStandard, 14),
      Class({"low", -10, kPreemptLowerPriority, false}, Tier::kPreemptible, 8),
  };
  EXPECT_EQ(MustCompile(FullPolicy()).ladder, want);
}

TEST(CompilePolicy, KeepsWorkloadTypesInTheirOrder) {
  const MatchClause chat{.labels = {{"app", "*"}, {"example.com/team", "serving"}},
                         .namespaces = {"team-*", "prod"},
                         .namespace_labels = {{"gpu", "true"}},
                         .kinds = {"Deployment", "StatefulSet"},
                         .owner_kinds = {"ReplicaSet"},
                         .service_accounts = {"ci:*"},
                         .gpus = GpuMatch{{1, INT64_MAX}, std::nullopt, "*"}};
  MatchClause slices;
  slices.gpus = GpuMatch{{2, 4}, GpuUnit::kSlice, "nvidia.com/*"};
  MatchClause jobs;
  jobs.kinds = {"Job", "CronJob"};
  const std::vector<WorkloadType> want = {
      {.name = "chat",
       .any = {chat, slices},
       .priority_class = "top",
       .respect = Respect::kUser,
       .budget = BudgetTemplate{"25%", std::nullopt, true},
       .advice = Mode::kAudit,
       .span = {"p.yaml", 16, 7}},
      {.name = "nightly",
       .any = {jobs},
       .priority_class = "low",
       .respect = Respect::kCeiling,
       .budget = BudgetTemplate{"1", std::nullopt, false},
       .advice = Mode::kEnforce,
       .span = {"p.yaml", 30, 7}},
  };
  EXPECT_EQ(MustCompile(FullPolicy()).workload_types, want);
}

TEST(CompilePolicy, BindsEveryRuleOfTheCatalog) {
  const Policy policy = MustCompile(FullPolicy());
  std::map<std::string, RuleBinding> want;
  for (const RuleRow& row : Catalog()) {
    RuleBinding binding{.rule = std::string(row.id), .mode = row.default_mode, .settings = {}, .span = {}};
    for (const SettingRow& setting : row.settings) binding.settings.emplace(setting.name, setting.default_value);
    want.emplace(row.id, binding);
  }
  RuleBinding& multi_gpu = want.at("multi-gpu-preemptible");
  multi_gpu.mode = Mode::kAudit;
  multi_gpu.settings["limit"] = std::int64_t{2};
  multi_gpu.settings["sliceLimit"] = std::int64_t{0};
  multi_gpu.span = {"p.yaml", 37, 5};
  want.at("uncharged-quota-key").mode = Mode::kOff;
  want.at("uncharged-quota-key").span = {"p.yaml", 38, 5};
  EXPECT_EQ(policy.rules, want);
}

TEST(CompilePolicy, AnExemptionCountsToTheEndOfItsDay) {
  const Exemption want{.rules = {"multi-gpu-preemptible", "inconsistent-priority"},
                       .namespace_pattern = "research",
                       .name_pattern = "llm-eval-*",
                       .kinds = {"Pod"},
                       .owner = "eval-team",
                       .reason = "needs pairs",
                       .expires_at = std::chrono::sys_days(std::chrono::year(2027) / 2 / 1),
                       .span = {"p.yaml", 40, 7}};
  EXPECT_EQ(MustCompile(FullPolicy()).exemptions, std::vector<Exemption>{want});
}

TEST(CompilePolicy, AnEmptySpecIsAPolicyOfDefaults) {
  const Policy policy = MustCompile("apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: t}\nspec: {}\n");
  EXPECT_EQ(policy.gpus, CompileDefault().gpus);
  EXPECT_EQ(policy.ladder, std::vector<LadderClass>{});
  EXPECT_EQ(policy.workload_types, std::vector<WorkloadType>{});
  EXPECT_EQ(policy.rules.size(), Catalog().size());
  EXPECT_EQ(policy.on_internal_error, Posture::kAllow);
}

TEST(CompilePolicy, NoGpusIsNotTheSameAsGpusLeftOut) {
  EXPECT_EQ(MustCompile(WithSpec("  gpus: []\n")).gpus, std::vector<GpuResource>{});
}

TEST(CompilePolicy, OptionalKeysOfATypeHaveDefaults) {
  const Policy policy = MustCompile(
      WithSpec("  classes: [{name: a, value: 0}]\n  workloadTypes: [{name: x, match: {gpus: 1}, class: a}]\n"));
  MatchClause one_gpu;
  one_gpu.gpus = GpuMatch{{1, 1}, std::nullopt, "*"};
  const WorkloadType want{"x", {one_gpu}, "a", Respect::kPolicy, std::nullopt, Mode::kWarn, {"p.yaml", 6, 19}};
  EXPECT_EQ(policy.workload_types, std::vector<WorkloadType>{want});
  EXPECT_EQ(policy.ladder,
            (std::vector<LadderClass>{
                {{"a", 0, PreemptionPolicy::kPreemptLowerPriority, false}, Tier::kStandard, "", {"p.yaml", 5, 13}}}));
}

TEST(CompilePolicy, CountExpressions) {
  struct Row {
    std::string_view text;
    IntRange want;
  };
  constexpr Row kRows[] = {{"2", {2, 2}},
                           {"\"2\"", {2, 2}},
                           {"0", {0, 0}},
                           {"\">=1\"", {1, INT64_MAX}},
                           {"\"<=4\"", {0, 4}},
                           {"1-8", {1, 8}},
                           {"\"4-4\"", {4, 4}},
                           {"{unit: slice}", {1, INT64_MAX}},
                           {"{count: 1000000}", {1'000'000, 1'000'000}}};
  for (const Row& row : kRows) {
    const Policy policy =
        MustCompile(WithSpec("  classes: [{name: a, value: 0}]\n  workloadTypes: [{name: x, match: {gpus: " +
                             std::string(row.text) + "}, class: a}]\n"));
    ASSERT_EQ(policy.workload_types.size(), 1U) << row.text;
    EXPECT_EQ(policy.workload_types[0].any.at(0).gpus->count, row.want) << row.text;
  }
}

// --- several files --------------------------------------------------------------------------------------------------

constexpr std::string_view kHead = "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\n";

PolicyFile File(const std::string& name, std::string_view rest) {
  return {name, std::string(kHead) + std::string(rest)};
}

TEST(CompilePolicy, JoinsTheFilesOfADirectory) {
  const std::vector<PolicyFile> files = {
      File("a.yaml", "metadata: {name: joined}\nspec:\n  classes: [{name: a, value: 1}]\n  onInternalError: refuse\n"),
      File("b.yaml",
           "spec:\n  classes: [{name: b, value: 2}]\n  workloadTypes: [{name: x, match: {gpus: 1}, class: a}]\n"),
  };
  const Policy policy = MustCompile(files);
  EXPECT_EQ(policy.name, "joined");
  EXPECT_EQ(policy.revision, Sha256Hex(files[0].text + files[1].text));
  ASSERT_EQ(policy.ladder.size(), 2U);
  EXPECT_EQ(policy.ladder[0].priority_class.name, "b");
  EXPECT_EQ(policy.ladder[0].span, (SourceSpan{"b.yaml", 4, 13}));
  EXPECT_EQ(policy.ladder[1].priority_class.name, "a");
  EXPECT_EQ(policy.workload_types.size(), 1U);
  EXPECT_EQ(policy.on_internal_error, Posture::kRefuse);
}

TEST(CompilePolicy, SingleValuesAreGivenOnce) {
  const std::vector<PolicyFile> files = {
      File("b.yaml",
           "metadata: {name: one}\nspec:\n  onInternalError: allow\n"
           "  rules: {multi-gpu-preemptible: {limit: 1}}\n"),
      File("a.yaml",
           "metadata: {name: two}\nspec:\n  onInternalError: allow\n"
           "  rules: {multi-gpu-preemptible: {limit: 2}}\n"),
  };
  EXPECT_EQ(Lint(files),
            "a.yaml:3:18: error: metadata.name is given twice, first at b.yaml:3:18; keep one of them\n"
            "a.yaml:5:20: error: spec.onInternalError is given twice, first at b.yaml:5:20; keep one of them\n"
            "a.yaml:6:11: error: rule 'multi-gpu-preemptible' is set twice, first at b.yaml:6:11; keep one of them\n");
}

TEST(CompilePolicy, ProblemsComeInTheOrderOfTheFiles) {
  const std::vector<PolicyFile> files = {
      File("z.yaml", "metadata: {name: t}\nspec: {clases: []}\n"),
      File("a.yaml", "spec: {ruels: {}}\n"),
  };
  EXPECT_EQ(Lint(files),
            "z.yaml:4:8: error: unknown key 'clases'; allowed: gpus, classes, workloadTypes, rules, exemptions, "
            "onInternalError, onStaleCluster, staleAfterSeconds, advice; did you mean 'classes'?\n"
            "a.yaml:3:8: error: unknown key 'ruels'; allowed: gpus, classes, workloadTypes, rules, exemptions, "
            "onInternalError, onStaleCluster, staleAfterSeconds, advice; did you mean 'rules'?\n");
}

TEST(CompilePolicy, OneBrokenFileHidesNothingOfTheOthers) {
  const std::vector<PolicyFile> files = {
      File("a.yaml", "metadata: {name: t}\nspec: {classes: [\n"),
      File("b.yaml", "spec:\n  workloadTypes: [{name: X, match: {gpus: 1}, class: in-a}]\n"),
  };
  const std::string lines = Lint(files);
  EXPECT_TRUE(lines.starts_with("a.yaml:")) << lines;
  // Class in-a may be in the file that cannot be read, so nothing is said of it.
  EXPECT_TRUE(
      lines.ends_with("b.yaml:4:26: error: spec.workloadTypes[0].name is 'X'; allowed: 1 to 63 lower-case "
                      "letters, digits and '-', with a letter or digit at both ends\n"))
      << lines;
}

// --- the shipped policy ---------------------------------------------------------------------------------------------

TEST(DefaultPolicy, HasThreeTiersAndNeedsNoSnapshot) {
  const Policy policy = CompileDefault();
  EXPECT_EQ(policy.name, "gpu-tiers");
  std::vector<std::string> types;
  for (const WorkloadType& type : policy.workload_types) {
    types.push_back(type.name + " -> " + type.priority_class);
    for (const MatchClause& clause : type.any) EXPECT_EQ(clause.namespace_labels, Labels{});
  }
  EXPECT_EQ(types, (std::vector<std::string>{"interactive -> inference-interactive",
                                             "training -> training-queue-jumper", "batch -> inference-batch"}));
}

TEST(DefaultPolicy, TheLadderIsTheOneTheClustersHave) {
  std::vector<std::tuple<std::string, int, PreemptionPolicy, bool, Tier>> ladder;
  for (const LadderClass& row : CompileDefault().ladder)
    ladder.emplace_back(row.priority_class.name, row.priority_class.value, row.priority_class.preemption_policy,
                        row.priority_class.global_default, row.tier);
  using enum PreemptionPolicy;
  const std::vector<std::tuple<std::string, int, PreemptionPolicy, bool, Tier>> want = {
      {"inference-interactive", 1'000'000, kPreemptLowerPriority, false, Tier::kHigh},
      {"training-queue-jumper", 500'000, kNever, false, Tier::kStandard},
      {"inference-batch", 1000, kPreemptLowerPriority, false, Tier::kPreemptible},
      {"cluster-default", 100, kPreemptLowerPriority, true, Tier::kPreemptible},
  };
  EXPECT_EQ(ladder, want);
}

}  // namespace
}  // namespace podium
