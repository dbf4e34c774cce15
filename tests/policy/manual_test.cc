// policies/README.md: its examples work, and it leaves no key out.
#include <gtest/gtest.h>

#include "policy/language.h"
#include "policy/lint_text.h"
#include "rules/catalog.h"

namespace podium {
namespace {

std::string Manual() { return ReadText(PODIUM_SOURCE_DIR "/policies/README.md"); }

// The bodies of all ```yaml blocks, each line two columns further in: they belong below `spec:`.
std::string Examples(const std::string& page) {
  const std::string fence = "\n```yaml\n";
  std::string examples;
  for (std::size_t begin = page.find(fence); begin != std::string::npos; begin = page.find(fence, begin)) {
    begin += fence.size();
    const std::size_t end = page.find("```", begin);
    for (std::size_t line = begin; line < end; line = page.find('\n', line) + 1)
      examples += "  " + page.substr(line, page.find('\n', line) + 1 - line);
    begin = end;
  }
  return examples;
}

TEST(Manual, ItsExamplesAreOnePolicy) {
  const std::string text = WithSpec(Examples(Manual()));
  EXPECT_EQ(LintText(text), "");
  const Policy policy = CompilePolicy({{"p.yaml", text}}, kNow).policy.value_or(Policy{});
  EXPECT_EQ(policy.gpus.size(), 4U);
  EXPECT_EQ(policy.ladder.size(), 4U);
  EXPECT_EQ(policy.workload_types.size(), 3U);
  EXPECT_EQ(policy.rules.at("unknown-workload-type").mode, Mode::kOff);
  EXPECT_EQ(policy.exemptions.size(), 1U);
  EXPECT_EQ(policy.on_internal_error, Posture::kRefuse);
  EXPECT_EQ(policy.on_stale_cluster, StaleCluster::kLadder);
}

TEST(Manual, NamesEveryKeyWordRuleAndSetting) {
  const std::string page = Manual();
  const auto expect_named = [&page](std::string_view name) {
    EXPECT_NE(page.find("`" + std::string(name) + "`"), std::string::npos) << name;
  };
  for (const MappingInfo& mapping : PolicyLanguage()) {
    for (const KeyInfo& key : mapping.keys) {
      expect_named(key.name);
      for (const std::string_view word : key.words) expect_named(word);
    }
  }
  for (const std::string_view word : ModeWords()) expect_named(word);
  for (const RuleRow& row : Catalog()) {
    expect_named(row.id);
    for (const SettingRow& setting : row.settings) expect_named(setting.name);
  }
}

}  // namespace
}  // namespace podium
