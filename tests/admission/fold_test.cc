#include "admission/fold.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Finding Found(const std::string& rule, Mode mode, const std::string& message) {
  return {rule, mode, false, "spec", message};
}

Decision Folded(std::vector<Finding> findings) {
  Decision decision;
  decision.edits.emplace_back();
  decision.findings = std::move(findings);
  Fold(decision);
  return decision;
}

TEST(Fold, OnlyEnforcedFindingsRefuse) {
  for (const Mode mode : {Mode::kAudit, Mode::kWarn}) {
    const Decision decision = Folded({Found("multi-gpu-preemptible", mode, "two")});
    EXPECT_EQ(decision.verdict, Verdict::kAllow);
    EXPECT_EQ(decision.code, 200);
    EXPECT_THAT(decision.edits, SizeIs(1));
    EXPECT_EQ(decision.warnings.size(), mode == Mode::kWarn ? 1U : 0U);
  }
  const Decision refused = Folded({Found("multi-gpu-preemptible", Mode::kEnforce, "two")});
  EXPECT_EQ(refused.verdict, Verdict::kRefuse);
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message, "[multi-gpu-preemptible] spec: two");
  EXPECT_THAT(refused.edits, IsEmpty());
  EXPECT_THAT(refused.warnings, IsEmpty());
}

TEST(Fold, AnExemptedFindingIsOnlyRecorded) {
  for (const Mode mode : {Mode::kEnforce, Mode::kWarn}) {
    Finding finding = Found("multi-gpu-preemptible", mode, "two");
    finding.exempted = true;
    const Decision decision = Folded({finding});
    EXPECT_EQ(decision.verdict, Verdict::kAllow);
    EXPECT_THAT(decision.warnings, IsEmpty());
    EXPECT_THAT(decision.findings, ElementsAre(finding));
  }
}

TEST(Fold, TheCodeIs422OnlyWhenKubernetesWouldRefuseForEveryReason) {
  EXPECT_EQ(Folded({Found("unknown-priority-class", Mode::kEnforce, "a")}).code, 422);
  const Decision mixed =
      Folded({Found("unknown-priority-class", Mode::kEnforce, "a"), Found("multi-gpu-preemptible", Mode::kEnforce, "b"),
              Found("inconsistent-priority", Mode::kWarn, "c")});
  EXPECT_EQ(mixed.code, 403);
  EXPECT_EQ(mixed.message, "[unknown-priority-class] spec: a; [multi-gpu-preemptible] spec: b");
  EXPECT_THAT(mixed.warnings, ElementsAre("c [inconsistent-priority]"));
}

TEST(Fold, ARefusalDoesNotTellOfInjections) {
  const Finding note = Found("inject-priority-class", Mode::kWarn, "replaced");
  EXPECT_THAT(Folded({note}).warnings, ElementsAre("replaced [inject-priority-class]"));
  EXPECT_THAT(Folded({note, Found("multi-gpu-preemptible", Mode::kEnforce, "two")}).warnings, IsEmpty());
}

TEST(Fold, ALongListOfReasonsIsCounted) {
  const std::vector<Finding> many(12, Found("multi-gpu-preemptible", Mode::kEnforce, "x"));
  const std::string message = Folded(many).message;
  EXPECT_EQ(message.substr(message.size() - 26), "tible] spec: x; and 2 more");
}

TEST(Fold, WarningsAreAtMostThreeAndDifferFromEachOther) {
  const auto warn = [](const std::string& text) { return Found("unknown-workload-type", Mode::kWarn, text); };
  EXPECT_THAT(Folded({warn("a"), warn("a"), warn("b"), warn("c")}).warnings, SizeIs(3));
  EXPECT_THAT(Folded({warn("a"), warn("b"), warn("c"), warn("d")}).warnings,
              ElementsAre("a [unknown-workload-type]", "b [unknown-workload-type]",
                          "and 2 more warnings; the audit log has them all"));
}

TEST(Fold, ALongWarningGivesUpItsRuleAndThenItsEnd) {
  const auto warning = [](std::size_t length) {
    return Folded({Found("uncharged-quota-key", Mode::kWarn, std::string(length, 'x'))}).warnings.at(0);
  };
  EXPECT_EQ(warning(98), std::string(98, 'x') + " [uncharged-quota-key]");
  EXPECT_EQ(warning(99), std::string(99, 'x'));
  EXPECT_EQ(warning(120), std::string(120, 'x'));
  EXPECT_EQ(warning(121), std::string(117, 'x') + "...");
}

TEST(OneLine, HasNoControlCharactersAndCutsBetweenCharacters) {
  EXPECT_EQ(OneLine("a\nb\tc\x7f", 10), "a?b?c?");
  EXPECT_EQ(OneLine("a\u0085b\u00e9", 10), "a?b\u00e9") << "next line is a control character, e acute is not";
  EXPECT_EQ(OneLine(std::string("a\0b", 3), 10), "a?b");
  EXPECT_EQ(OneLine("1234567890", 10), "1234567890");
  EXPECT_EQ(OneLine("12345678901", 10), "1234567...");
  EXPECT_EQ(OneLine("123456\u00e98901", 10), "123456...");
  EXPECT_EQ(OneLine("", 10), "");
}

TEST(FoldInternalError, FollowsThePosture) {
  Decision allowed;
  allowed.edits.emplace_back();
  FoldInternalError(allowed, "out\nof memory", Posture::kAllow);
  EXPECT_EQ(allowed.verdict, Verdict::kAllow);
  EXPECT_EQ(allowed.internal_error, "out?of memory");
  EXPECT_THAT(allowed.warnings, ElementsAre("podium did not apply its policy: out?of memory"));
  EXPECT_THAT(allowed.edits, IsEmpty());

  Decision refused;
  FoldInternalError(refused, "out of memory", Posture::kRefuse);
  EXPECT_EQ(refused.verdict, Verdict::kRefuse);
  EXPECT_EQ(refused.code, 500);
  EXPECT_EQ(refused.message, "podium cannot decide: out of memory");
  EXPECT_THAT(refused.warnings, IsEmpty());
}

}  // namespace
}  // namespace podium
