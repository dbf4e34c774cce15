#include "cli/expect.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text.h"
#include "wire/manifest.h"
#include "wire/yaml.h"

namespace podium {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"object", "verdict", "class", "rule", "says"};
constexpr YamlLimits kLimits = {};

std::string VerdictText(Verdict verdict) { return verdict == Verdict::kAllow ? "allow" : "refuse"; }

class Parser {
 public:
  explicit Parser(Expectation& expectation) : expectation_(expectation) {}

  void Item(const YamlNode& node) {
    if (node.kind != YamlKind::kMapping) return Tell(node.span, "wanted: a mapping with object and verdict");
    for (const auto& [key, value] : node.members) CheckMember(key, value);
    ExpectedItem item;
    item.span = node.span;
    item.object = Text(node, "object").value_or("");
    item.class_name = Text(node, "class");
    item.rule = Text(node, "rule");
    item.says = Text(node, "says");
    if (item.object.find('/') == std::string::npos)
      Tell(node.span, "'object' is '" + item.object + "'; wanted: kind/name, for example Deployment/chat");
    const std::string verdict = Text(node, "verdict").value_or("");
    if (verdict != "allow" && verdict != "refuse")
      Tell(node.span, "'verdict' is '" + verdict + "'; allowed: allow, refuse");
    item.verdict = verdict == "refuse" ? Verdict::kRefuse : Verdict::kAllow;
    expectation_.items.push_back(std::move(item));
  }

  void Tell(const SourceSpan& span, std::string message) {
    expectation_.problems.push_back(FormatProblem({span, std::move(message)}));
  }

 private:
  void CheckMember(const YamlNode& key, const YamlNode& value) {
    if (value.kind != YamlKind::kScalar) Tell(value.span, "'" + key.scalar + "' must be text");
    if (std::find(kKeys.begin(), kKeys.end(), key.scalar) != kKeys.end()) return;
    std::string message = "unknown key '" + key.scalar + "'; allowed: object, verdict, class, rule, says";
    if (const auto nearest = NearestName(key.scalar, kKeys))
      message += "; did you mean '" + std::string(*nearest) + "'?";
    Tell(key.span, std::move(message));
  }

  static std::optional<std::string> Text(const YamlNode& node, std::string_view key) {
    const YamlNode* value = node.Find(key);
    if (value == nullptr || value->kind != YamlKind::kScalar) return std::nullopt;
    return value->scalar;
  }

  Expectation& expectation_;
};

std::string ObjectOf(const ReviewItem& item) { return item.manifest.kind + "/" + item.manifest.name; }

std::string ClassOf(const ReviewItem& item) {
  return item.templates.empty() ? "none" : item.templates[0].after.class_name.value_or("none");
}

bool Says(const ReviewItem& item, const std::string& words) {
  const auto has_words = [&](const std::string& text) { return text.find(words) != std::string::npos; };
  return has_words(item.message) || std::any_of(item.warnings.begin(), item.warnings.end(), has_words);
}

bool Names(const ReviewItem& item, const std::string& rule) {
  const auto is_rule = [&](const Finding& finding) { return finding.rule == rule; };
  return Says(item, "[" + rule + "]") || std::any_of(item.findings.begin(), item.findings.end(), is_rule);
}

void Compare(const ExpectedItem& expected, const ReviewItem& item, std::vector<std::string>& differences) {
  const auto differs = [&](const std::string& what) {
    differences.push_back(FormatProblem({expected.span, expected.object + ": " + what}));
  };
  if (item.verdict != expected.verdict) {
    differs("expected " + VerdictText(expected.verdict) + ", got " + VerdictText(item.verdict) +
            (item.message.empty() ? "" : " (" + item.message + ")"));
  }
  if (expected.class_name && ClassOf(item) != *expected.class_name)
    differs("expected class " + *expected.class_name + ", got " + ClassOf(item));
  if (expected.rule && !Names(item, *expected.rule)) differs("expected rule " + *expected.rule + ", it was not named");
  if (expected.says && !Says(item, *expected.says)) differs("expected the words '" + *expected.says + "'");
}

}  // namespace

Expectation ParseExpectation(const std::string& file, const std::string& text) {
  Expectation expectation;
  const YamlParse parse = ParseYaml(file, text, kLimits);
  for (const YamlProblem& problem : parse.problems) expectation.problems.push_back(FormatProblem(problem));
  if (!parse.problems.empty()) return expectation;
  Parser parser(expectation);
  if (parse.documents.empty() || parse.documents[0].kind != YamlKind::kSequence) {
    parser.Tell({file, 1, 1}, "wanted: a list of {object, verdict, class, rule, says}");
    return expectation;
  }
  for (const YamlNode& item : parse.documents[0].items) parser.Item(item);
  return expectation;
}

std::vector<std::string> Differences(const ReviewReport& report, const Expectation& expectation) {
  std::vector<std::string> differences;
  std::vector<bool> met(expectation.items.size(), false);
  for (const ReviewItem& item : report.items) {
    std::size_t i = 0;
    while (i < met.size() && (met[i] || expectation.items[i].object != ObjectOf(item))) ++i;
    if (i == met.size()) {
      differences.push_back(FormatProblem({item.manifest.span, ObjectOf(item) + ": no expectation is left for it"}));
      continue;
    }
    met[i] = true;
    Compare(expectation.items[i], item, differences);
  }
  for (std::size_t i = 0; i < met.size(); ++i)
    if (!met[i])
      differences.push_back(FormatProblem({expectation.items[i].span, expectation.items[i].object + ": not reviewed"}));
  return differences;
}

}  // namespace podium
