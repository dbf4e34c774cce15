// The policy files of tests/cases/policy: one fault each, what we must say about it at least, and how soon.
#include <gtest/gtest.h>

#include <chrono>

#include "policy/lint_text.h"

namespace podium {
namespace {

std::string LintCase(const std::string& name) {
  return Lint({{name, ReadText(PODIUM_TEST_DIR "/cases/policy/" + name)}});
}

TEST(PolicyCase, SameKeyTwice) {
  EXPECT_EQ(LintCase("050-same-key-twice.yaml"),
            "050-same-key-twice.yaml:13:7: error: duplicate key 'value': it is already written at line 11, column 7; "
            "remove one of the two\n");
}

TEST(PolicyCase, SameKeyTwiceAsItCame) {
  const std::string lines = LintCase("050-same-key-twice.original.yaml");
  EXPECT_NE(lines.find("050-same-key-twice.original.yaml:9:5: error: duplicate key 'value'"), std::string::npos)
      << lines;
}

TEST(PolicyCase, AliasesThatExplode) {
  for (const std::string name : {"051-aliases-that-explode.yaml", "051-aliases-that-explode.original.yaml"}) {
    const auto start = std::chrono::steady_clock::now();
    const std::string lines = LintCase(name);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << name;
    EXPECT_NE(lines.find("error: the anchor '&a' is not allowed"), std::string::npos) << lines;
    EXPECT_NE(lines.find("error: an alias ('*name') is not allowed"), std::string::npos) << lines;
    EXPECT_LT(lines.size(), 20'000U) << name;
  }
}

TEST(PolicyCase, ValuesOutOfRange) {
  const std::string file = "052-values-out-of-range.yaml";
  const std::string allowed = "; allowed: a whole number from -2147483648 to 1000000000\n";
  EXPECT_EQ(LintCase(file), file + ":13:14: error: spec.classes[0].value is 1000000001" + allowed +  //
                                file + ":15:14: error: spec.classes[1].value is 5000000000" + allowed + file +
                                ":17:14: error: spec.classes[2].value is 1000.5" + allowed + file +
                                ":19:14: warning: spec.classes[3].value is -50; below -10 the cluster autoscaler's "
                                "default neither adds nodes for such pods nor keeps nodes because of them "
                                "(--expendable-pods-priority-cutoff)\n");
}

TEST(PolicyCase, TwoGlobalDefaults) {
  EXPECT_EQ(
      LintCase("053-two-global-defaults.yaml"),
      "053-two-global-defaults.yaml:15:22: error: two global defaults: 'inference-batch' here and "
      "'cluster-default' at 053-two-global-defaults.yaml:12:22; allowed: at most one, the class of pods that name "
      "none\n");
}

TEST(PolicyCase, MisspeltField) {
  EXPECT_EQ(LintCase("054-misspelt-field.yaml"),
            "054-misspelt-field.yaml:12:7: error: unknown key 'preemptionPolciy'; allowed: name, value, tier, "
            "preemptionPolicy, globalDefault, description; did you mean 'preemptionPolicy'?\n");
}

TEST(PolicyCase, RuleInASecondDocument) {
  EXPECT_EQ(LintCase("055-rule-in-a-second-document.yaml"),
            "055-rule-in-a-second-document.yaml:16:1: error: a second document begins here; only one document is "
            "allowed in a file: move it to a file of its own\n");
  const std::string lines = LintCase("055-rule-in-a-second-document.original.yaml");
  EXPECT_NE(lines.find("error: a second document begins here"), std::string::npos) << lines;
}

// Case 022: a percentage budget for a Job; the shipped policy, changed as the case asks.
TEST(PolicyCase, PercentageBudgetForAJob) {
  std::string text = ReadText(PODIUM_SOURCE_DIR "/policies/default.yaml");
  const std::string before = "      class: inference-batch\n";
  const std::size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "      budget: {maxUnavailable: 25%}\n");
  const std::string lines = LintText(text);
  EXPECT_NE(lines.find("warning: workload type 'batch' matches Jobs"), std::string::npos) << lines;
}

}  // namespace
}  // namespace podium
