// The examples on the pages of the rules do what the pages say: the first one meets its rule, the second does not, and
// the exemption is one that the loader takes.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "admission/apiserver.h"
#include "admission/codec.h"
#include "admission/decide.h"
#include "core/text.h"
#include "policy/compile.h"
#include "rules/catalog.h"
#include "wire/yaml.h"

namespace podium {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

CompiledPolicy Compile(const std::string& text) {
  return CompilePolicy({{"policy.yaml", text}}, *ParseDate("2026-11-29"));
}

const Policy& ShippedPolicy() {
  static const Policy policy = *Compile(ReadFile(PODIUM_SOURCE_DIR "/policies/default.yaml")).policy;
  return policy;
}

// The first YAML block below a heading of the page. A page without it is a failure, not an empty block.
std::string BlockBelow(const std::string& page, const std::string& heading) {
  const std::size_t section = page.find("\n" + heading + "\n");
  const std::size_t fence = page.find("```yaml\n", section);
  const std::size_t end = page.find("\n```", fence);
  const bool found = section != std::string::npos && fence != std::string::npos && end != std::string::npos;
  EXPECT_TRUE(found && page.find("\n## ", section + 1) > fence) << heading << " has no example";
  return found ? page.substr(fence + 8, end - fence - 7) : std::string();
}

// Rules that validate are shown on what is about to be stored, as nothing has changed it on the way.
Decision DecideOnManifest(const std::string& yaml, RulePhase phase) {
  const YamlParse parsed = ParseYaml("page.md", yaml, {});
  EXPECT_TRUE(parsed.problems.empty());
  const ClassView classes(ShippedPolicy(), nullptr);
  const Result<std::string> review = AsAdmissionReview(YamlToJson(parsed.documents.at(0)), "default", classes);
  EXPECT_TRUE(review.ok());
  Result<AdmissionRequest> request = ReviewDecoder().Decode(*review);
  request->endpoint = phase == RulePhase::kInject ? Endpoint::kMutate : Endpoint::kValidate;
  return Decide(*request, ShippedPolicy(), nullptr, {}, TimePoint());
}

bool Meets(const Decision& decision, std::string_view rule) {
  for (const Finding& finding : decision.findings)
    if (finding.rule == rule) return true;
  for (const Edit& edit : decision.edits)
    if (edit.rule == rule) return true;
  return false;
}

TEST(RulePages, TheFirstExampleMeetsTheRuleAndTheSecondDoesNot) {
  for (const RuleRow& row : Catalog()) {
    const std::string page = ReadFile(PODIUM_SOURCE_DIR "/policies/rules/" + std::string(row.id) + ".md");
    const Decision refused = DecideOnManifest(BlockBelow(page, "## Refused"), row.phase);
    EXPECT_TRUE(Meets(refused, row.id)) << row.id;
    const bool refuses = row.phase == RulePhase::kValidate && row.default_mode == Mode::kEnforce;
    EXPECT_EQ(refused.verdict == Verdict::kRefuse, refuses) << row.id << ": " << refused.message;
    const Decision fixed = DecideOnManifest(BlockBelow(page, "## Fixed"), row.phase);
    EXPECT_FALSE(Meets(fixed, row.id)) << row.id;
    EXPECT_EQ(fixed.verdict, Verdict::kAllow) << row.id << ": " << fixed.message;
  }
}

std::string Indented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
}

TEST(RulePages, TheExemptionIsOneThatTheLoaderTakes) {
  for (const RuleRow& row : Catalog()) {
    const std::string page = ReadFile(PODIUM_SOURCE_DIR "/policies/rules/" + std::string(row.id) + ".md");
    const CompiledPolicy compiled =
        Compile("apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: page}\nspec:\n" +
                Indented(BlockBelow(page, "## Exempt")));
    ASSERT_TRUE(compiled.policy.has_value()) << row.id << ": " << FormatDiagnostic(compiled.diagnostics.at(0));
    ASSERT_EQ(compiled.policy->exemptions.size(), 1U) << row.id;
    EXPECT_EQ(compiled.policy->exemptions[0].rules, std::vector<std::string>{std::string(row.id)});
  }
}

}  // namespace
}  // namespace podium
