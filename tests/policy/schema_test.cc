// policies/priority-policy.schema.json says the same as the loader: same keys, same words, same verdicts.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "policy/language.h"
#include "policy/lint_text.h"
#include "rules/catalog.h"
#include "wire/yaml.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Names = std::set<std::string>;

const Json& Schema() {
  static const Json schema = Json::parse(ReadText(PODIUM_SOURCE_DIR "/policies/priority-policy.schema.json"));
  return schema;
}

const valijson::Schema& ParsedSchema() {
  static const std::unique_ptr<const valijson::Schema> parsed = [] {
    auto schema = std::make_unique<valijson::Schema>();
    const valijson::adapters::NlohmannJsonAdapter adapter(Schema());
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, *schema);
    return schema;
  }();
  return *parsed;
}

// As an editor types a plain scalar: YAML 1.2's core schema, in which yes, no, on and off are texts.
Json ScalarToJson(const YamlNode& node) {
  if (node.quoted) return node.scalar;
  if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
  const Json number = Json::parse(node.scalar, nullptr, false);
  return number.is_number() ? number : Json(node.scalar);
}

Json ToJson(const YamlNode& node) {
  Json json;
  switch (node.kind) {
    case YamlKind::kNull: return nullptr;
    case YamlKind::kScalar: return ScalarToJson(node);
    case YamlKind::kSequence:
      json = Json::array();
      for (const YamlNode& item : node.items) json.push_back(ToJson(item));
      return json;
    case YamlKind::kMapping:
      json = Json::object();
      for (const auto& [key, value] : node.members) json[key.scalar] = ToJson(value);
      return json;
  }
  return json;
}

// What the schema says against the text; empty when it is content.
std::string SchemaErrors(const std::string& text) {
  const YamlParse parse = ParseYaml("p.yaml", text, {});
  if (!parse.problems.empty() || parse.documents.size() != 1) return "not a YAML document";
  const Json document = ToJson(parse.documents[0]);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(ParsedSchema(), valijson::adapters::NlohmannJsonAdapter(document), &results))
    return "";
  std::string errors = "refused";
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    errors += "\n  ";
    for (const std::string& step : error.context) errors += step;
    errors += ": " + error.description;
  }
  return errors;
}

bool LoaderRefuses(const std::string& text) { return !CompilePolicy({{"p.yaml", text}}, kNow).policy.has_value(); }

// --- the same verdicts ----------------------------------------------------------------------------------------------

TEST(Schema, TakesEveryGoodPolicy) {
  std::vector<fs::path> paths = {PODIUM_SOURCE_DIR "/policies/default.yaml"};
  for (const auto& entry : fs::directory_iterator(PODIUM_TEST_DIR "/cases/policy/good")) paths.push_back(entry.path());
  EXPECT_GE(paths.size(), 4U);
  for (const fs::path& path : paths) {
    const std::string text = ReadText(path.string());
    EXPECT_EQ(SchemaErrors(text), "") << path;
    EXPECT_EQ(LintText(text), "") << path;
  }
}

TEST(Schema, RefusesTheFaultsItCanSee) {
  for (const std::string name : {"052-values-out-of-range.yaml", "054-misspelt-field.yaml"}) {
    const std::string text = ReadText(PODIUM_TEST_DIR "/cases/policy/" + name);
    EXPECT_NE(SchemaErrors(text), "") << name;
    EXPECT_TRUE(LoaderRefuses(text)) << name;
  }
}

struct Row {
  std::string_view name;
  std::string_view text;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
std::string RowName(const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); }

class BadFileTest : public testing::TestWithParam<Row> {};
class BadSpecTest : public testing::TestWithParam<Row> {};

TEST_P(BadFileTest, IsRefusedByBoth) {
  const std::string text(GetParam().text);
  EXPECT_NE(SchemaErrors(text), "not a YAML document");
  EXPECT_NE(SchemaErrors(text), "");
  EXPECT_TRUE(LoaderRefuses(text));
}

TEST_P(BadSpecTest, IsRefusedByBoth) {
  const std::string text = WithSpec("  " + std::string(GetParam().text) + "\n");
  EXPECT_NE(SchemaErrors(text), "not a YAML document");
  EXPECT_NE(SchemaErrors(text), "");
  EXPECT_TRUE(LoaderRefuses(text));
}

constexpr Row kBadFiles[] = {
    {"List", "[]"},
    {"Empty", "{}"},
    {"OtherVersion", "{apiVersion: podium.gpu/v2, kind: PriorityPolicy, metadata: {name: t}, spec: {}}"},
    {"OtherKind", "{apiVersion: podium.gpu/v1, kind: Policy, metadata: {name: t}, spec: {}}"},
    {"NoSpec", "{apiVersion: podium.gpu/v1, kind: PriorityPolicy, metadata: {name: t}}"},
    {"NoName", "{apiVersion: podium.gpu/v1, kind: PriorityPolicy, metadata: {}, spec: {}}"},
    {"BadName", "{apiVersion: podium.gpu/v1, kind: PriorityPolicy, metadata: {name: A b}, spec: {}}"},
    {"Status", "{apiVersion: podium.gpu/v1, kind: PriorityPolicy, metadata: {name: t}, spec: {}, status: {}}"},
};
INSTANTIATE_TEST_SUITE_P(Schema, BadFileTest, testing::ValuesIn(kBadFiles), RowName);

constexpr Row kBadSpecs[] = {
    {"UnknownKey", "clases: []"},
    {"GpusMapping", "gpus: {resource: nvidia.com/gpu, unit: device}"},
    {"GpuWithoutUnit", "gpus: [{resource: nvidia.com/gpu}]"},
    {"GpuUnit", "gpus: [{resource: nvidia.com/gpu, unit: whole}]"},
    {"GpuWithoutDomain", "gpus: [{resource: \"*\", unit: device}]"},
    {"GpuQuotaKey", "gpus: [{resource: requests.nvidia.com/gpu, unit: device}]"},
    {"GpuExtraKey", "gpus: [{resource: nvidia.com/gpu, unit: device, count: 1}]"},
    {"ClassWithoutValue", "classes: [{name: a}]"},
    {"ClassValueText", "classes: [{name: a, value: \"1\"}]"},
    {"ClassValueFraction", "classes: [{name: a, value: 1.5}]"},
    {"ClassValueLarge", "classes: [{name: a, value: 1000000001}]"},
    {"ClassValueSmall", "classes: [{name: a, value: -2147483649}]"},
    {"ClassSystemName", "classes: [{name: system-a, value: 1}]"},
    {"ClassUpperName", "classes: [{name: A, value: 1}]"},
    {"ClassNumberName", "classes: [{name: 1, value: 1}]"},
    {"ClassTier", "classes: [{name: a, value: 1, tier: system}]"},
    {"ClassPolicy", "classes: [{name: a, value: 1, preemptionPolicy: never}]"},
    {"ClassDefaultText", "classes: [{name: a, value: 1, globalDefault: \"true\"}]"},
    {"ClassDefaultYes", "classes: [{name: a, value: 1, globalDefault: yes}]"},
    {"ClassDescription", "classes: [{name: a, value: 1, description: 5}]"},
    {"TypeWithoutMatch", "{classes: [{name: a, value: 1}], workloadTypes: [{name: x, class: a}]}"},
    {"TypeWithoutClass", "workloadTypes: [{name: x, match: {gpus: 1}}]"},
    {"RuleUnknown", "rules: {multi-gpu: {mode: warn}}"},
    {"RuleMode", "rules: {multi-gpu-preemptible: {mode: deny}}"},
    {"RuleWord", "rules: {multi-gpu-preemptible: warn}"},
    {"RuleSettingUnknown", "rules: {uncharged-quota-key: {limit: 1}}"},
    {"RuleSettingRange", "rules: {multi-gpu-preemptible: {limit: 1025}}"},
    {"RuleSettingNegative", "rules: {multi-gpu-preemptible: {sliceLimit: -1}}"},
    {"RuleSettingText", "rules: {multi-gpu-preemptible: {limit: \"1\"}}"},
    {"RulesList", "rules: [multi-gpu-preemptible]"},
    {"RuleEmpty", "rules: {multi-gpu-preemptible: }"},
    {"ExemptionWithoutEnd", "exemptions: [{rules: [inconsistent-priority], owner: o, reason: r}]"},
    {"ExemptionWithoutOwner", "exemptions: [{rules: [inconsistent-priority], reason: r, expires: 2027-01-31}]"},
    {"ExemptionWithoutRules", "exemptions: [{owner: o, reason: r, expires: 2027-01-31}]"},
    {"ExemptionNoRules", "exemptions: [{rules: [], owner: o, reason: r, expires: 2027-01-31}]"},
    {"ExemptionRule", "exemptions: [{rules: [none], owner: o, reason: r, expires: 2027-01-31}]"},
    {"ExemptionDate", "exemptions: [{rules: [inconsistent-priority], owner: o, reason: r, expires: 31.1.2027}]"},
    {"ExemptionReason", "exemptions: [{rules: [inconsistent-priority], owner: o, reason: \"\", expires: 2027-01-31}]"},
    {"ExemptionLines",
     "exemptions: [{rules: [inconsistent-priority], owner: \"a\\nb\", reason: r, expires: 2027-01-31}]"},
    {"ExemptionNamespace",
     "exemptions: [{rules: [inconsistent-priority], namespace: A, owner: o, reason: r, expires: 2027-01-31}]"},
    {"ExemptionKinds",
     "exemptions: [{rules: [inconsistent-priority], kinds: [], owner: o, reason: r, expires: 2027-01-31}]"},
    {"Posture", "onInternalError: deny"},
    {"StaleCluster", "onStaleCluster: ignore"},
    {"StaleSoon", "staleAfterSeconds: 119"},
    {"StaleNever", "staleAfterSeconds: 86401"},
};
INSTANTIATE_TEST_SUITE_P(Schema, BadSpecTest, testing::ValuesIn(kBadSpecs), RowName);

class BadTypeTest : public testing::TestWithParam<Row> {};

// The rest of a workload type that has its name and class.
TEST_P(BadTypeTest, IsRefusedByBoth) {
  const std::string text = WithSpec("  classes: [{name: a, value: 1}]\n  workloadTypes: [{name: x, class: a, " +
                                    std::string(GetParam().text) + "}]\n");
  EXPECT_NE(SchemaErrors(text), "not a YAML document");
  EXPECT_NE(SchemaErrors(text), "");
  EXPECT_TRUE(LoaderRefuses(text));
}

constexpr Row kBadTypes[] = {
    {"UnknownKey", "match: {gpus: 1}, gracePeriodAtMost: 60s"},
    {"Respect", "match: {gpus: 1}, respect: author"},
    {"Advice", "match: {gpus: 1}, advice: deny"},
    {"EmptyMatch", "match: {}"},
    {"EmptyAny", "match: {any: []}"},
    {"AnyAndMore", "match: {any: [{gpus: 1}], gpus: 1}"},
    {"AnyMapping", "match: {any: {gpus: 1}}"},
    {"EmptyClause", "match: {any: [{}]}"},
    {"UnknownCondition", "match: {image: x}"},
    {"LabelNumber", "match: {labels: {app: 1}}"},
    {"LabelKey", "match: {labels: {-app: x}}"},
    {"LabelValue", "match: {labels: {app: \"a b\"}}"},
    {"NoLabels", "match: {labels: {}}"},
    {"NoNamespaces", "match: {namespaces: []}"},
    {"Namespace", "match: {namespaces: [A]}"},
    {"KindsText", "match: {kinds: Job}"},
    {"Kind", "match: {kinds: [batch/v1]}"},
    {"ServiceAccount", "match: {serviceAccounts: [bot]}"},
    {"GpusMore", "match: {gpus: \">1\"}"},
    {"GpusNegative", "match: {gpus: -1}"},
    {"GpusLarge", "match: {gpus: 1000001}"},
    {"GpusLargeText", "match: {gpus: \">=1000001\"}"},
    {"GpusLeadingZero", "match: {gpus: \"01\"}"},
    {"GpusFraction", "match: {gpus: 0.5}"},
    {"GpusUnit", "match: {gpus: {unit: mig}}"},
    {"GpusResource", "match: {gpus: {resource: \"\"}}"},
    {"GpusKey", "match: {gpus: {min: 1}}"},
    {"BudgetEmpty", "match: {gpus: 1}, budget: {}"},
    {"BudgetBoth", "match: {gpus: 1}, budget: {minAvailable: 1, maxUnavailable: 1}"},
    {"BudgetQuoted", "match: {gpus: 1}, budget: {minAvailable: \"1\"}"},
    {"BudgetPercent", "match: {gpus: 1}, budget: {minAvailable: 101%}"},
    {"BudgetNegative", "match: {gpus: 1}, budget: {maxUnavailable: -1}"},
    {"BudgetUnhealthy", "match: {gpus: 1}, budget: {maxUnavailable: 1, unhealthyPods: true}"},
};
INSTANTIATE_TEST_SUITE_P(Schema, BadTypeTest, testing::ValuesIn(kBadTypes), RowName);

// --- the same keys --------------------------------------------------------------------------------------------------

Names KeysOf(const Json& object) {
  Names names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

Names TextsIn(const Json& mapping, const std::string& key) {
  return mapping.contains(key) ? mapping.at(key).get<Names>() : Names{};
}

TEST(Schema, HasADefinitionForEachMappingOfTheLanguage) {
  Names language = {"rules"};
  for (const MappingInfo& mapping : PolicyLanguage())
    if (mapping.name != "policy") language.emplace(mapping.name);
  EXPECT_EQ(KeysOf(Schema().at("definitions")), language);
}

TEST(Schema, HasTheKeysTheLoaderKnows) {
  for (const MappingInfo& mapping : PolicyLanguage()) {
    const Json& definition =
        mapping.name == "policy" ? Schema() : Schema().at("definitions").at(std::string(mapping.name));
    Names keys;
    Names required;
    for (const KeyInfo& key : mapping.keys) {
      keys.emplace(key.name);
      if (key.required) required.emplace(key.name);
      const std::vector<std::string> words(key.words.begin(), key.words.end());
      const Json& property = definition.at("properties").value(std::string(key.name), Json::object());
      EXPECT_EQ(property.value("enum", std::vector<std::string>{}), words) << mapping.name << "." << key.name;
    }
    EXPECT_EQ(KeysOf(definition.at("properties")), keys) << mapping.name;
    EXPECT_EQ(TextsIn(definition, "required"), required) << mapping.name;
    EXPECT_EQ(definition.at("additionalProperties"), false) << mapping.name;
  }
}

TEST(Schema, HasTheRulesAndSettingsOfTheCatalog) {
  const std::map<Mode, std::string> kWords = {
      {Mode::kOff, "off"}, {Mode::kAudit, "audit"}, {Mode::kWarn, "warn"}, {Mode::kEnforce, "enforce"}};
  const std::vector<std::string_view> words = ModeWords();
  const Json& rules = Schema().at("definitions").at("rules");
  Names ids;
  for (const RuleRow& row : Catalog()) {
    ids.emplace(row.id);
    const Json rule = rules.at("properties").value(std::string(row.id), Json::object());
    const Json properties = rule.value("properties", Json::object());
    Names keys = {"mode"};
    for (const SettingRow& setting : row.settings) keys.emplace(setting.name);
    EXPECT_EQ(KeysOf(properties), keys) << row.id;
    EXPECT_EQ(rule.value("additionalProperties", true), false) << row.id;
    EXPECT_EQ(properties.at("mode").at("enum").get<std::vector<std::string>>(),
              std::vector<std::string>(words.begin(), words.end()));
    EXPECT_EQ(properties.at("mode").at("default"), kWords.at(row.default_mode)) << row.id;
  }
  EXPECT_EQ(KeysOf(rules.at("properties")), ids);
  EXPECT_EQ(rules.at("additionalProperties"), false);
  EXPECT_EQ(Schema().at("/definitions/exemption/properties/rules/items/enum"_json_pointer).get<Names>(), ids);
}

// The schema of one setting, as the catalog has it.
Json SettingSchema(const SettingRow& row) {
  if (const auto* number = std::get_if<std::int64_t>(&row.default_value))
    return {{"type", "integer"}, {"minimum", row.min}, {"maximum", row.max}, {"default", *number}};
  if (const auto* truth = std::get_if<bool>(&row.default_value)) return {{"type", "boolean"}, {"default", *truth}};
  return {{"type", "string"}, {"default", std::get<std::string>(row.default_value)}};
}

TEST(Schema, HasTheSettingsRangesAndDefaults) {
  for (const RuleRow& row : Catalog()) {
    for (const SettingRow& setting : row.settings) {
      Json property = Schema()
                          .at("definitions")
                          .at("rules")
                          .at("properties")
                          .at(std::string(row.id))
                          .at("properties")
                          .at(std::string(setting.name));
      EXPECT_TRUE(property.contains("description")) << row.id << "." << setting.name;
      property.erase("description");
      EXPECT_EQ(property, SettingSchema(setting)) << row.id << "." << setting.name;
    }
  }
}

// Writing out what the schema calls the default changes nothing.
TEST(Schema, DefaultsAreTheLoaders) {
  const auto with_defaults = [](const std::string& definition, const std::string& written) {
    std::string text = written;
    for (const auto& [key, property] : Schema().at("definitions").at(definition).at("properties").items())
      if (property.contains("default")) text += ", " + key + ": " + property.at("default").dump();
    return text;
  };
  const auto policy = [](const std::string& row, const std::string& type, const std::string& exemption,
                         const std::string& end) {
    Policy compiled = CompilePolicy({{"p.yaml", WithSpec("  classes: [{" + row + "}]\n  workloadTypes: [{" + type +
                                                         "}]\n  exemptions: [{" + exemption + "}]\n" + end)}},
                                    kNow)
                          .policy.value_or(Policy{});
    compiled.revision.clear();
    return compiled;
  };
  const std::string row = "name: a, value: 1";
  const std::string type = "name: x, class: a, match: {gpus: {count: 1}}, budget: {minAvailable: 1}";
  const std::string exemption = "rules: [inconsistent-priority], owner: o, reason: r, expires: 2027-01-31";
  const std::string full_type =
      with_defaults("workloadType", "name: x, class: a, match: {gpus: {" + with_defaults("gpuMatch", "count: 1") +
                                        "}}, budget: {" + with_defaults("budget", "minAvailable: 1") + "}");
  std::string end;
  for (const std::string key : {"onInternalError", "onStaleCluster", "staleAfterSeconds", "advice"})
    end += "  " + key + ": " + Schema().at("/definitions/spec/properties"_json_pointer).at(key).at("default").dump() +
           "\n";
  const Policy brief = policy(row, type, exemption, "");
  ASSERT_EQ(brief.name, "t");
  const Policy full = policy(with_defaults("class", row), full_type, with_defaults("exemption", exemption), end);
  EXPECT_EQ(full.ladder, brief.ladder);
  EXPECT_EQ(full.workload_types, brief.workload_types);
  EXPECT_EQ(full.exemptions, brief.exemptions);
  EXPECT_EQ(full.on_internal_error, brief.on_internal_error);
  EXPECT_EQ(full.on_stale_cluster, brief.on_stale_cluster);
  EXPECT_EQ(full.stale_after, brief.stale_after);
  EXPECT_EQ(full.advice, brief.advice);
}

TEST(Schema, TheShippedPolicyNamesItForEditors) {
  EXPECT_TRUE(ReadText(PODIUM_SOURCE_DIR "/policies/default.yaml")
                  .starts_with("# yaml-language-server: $schema=./priority-policy.schema.json\n"));
}

}  // namespace
}  // namespace podium
