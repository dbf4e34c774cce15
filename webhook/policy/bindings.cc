// spec.rules and spec.exemptions. Which rules there are, and their settings, is the catalog's to say.
#include <algorithm>

#include "core/text.h"
#include "policy/draft.h"
#include "rules/catalog.h"

namespace podium {
namespace {

std::vector<std::string_view> RuleIds() {
  std::vector<std::string_view> ids;
  for (const RuleRow& row : Catalog()) ids.push_back(row.id);
  return ids;
}

void ReportUnknownRule(const Field& at, const std::string& id) {
  const std::vector<std::string_view> ids = RuleIds();
  at.Error("unknown rule " + InQuotes(id) + "; allowed: " + JoinNames(ids) + DidYouMean(id, ids));
}

std::optional<SettingValue> ReadSetting(const SettingRow& row, const Field& value) {
  if (std::holds_alternative<std::int64_t>(row.default_value)) return value.Integer({row.min, row.max});
  if (std::holds_alternative<bool>(row.default_value)) return value.Boolean();
  return value.Text(kOneLine);
}

// The binding of a rule of which the policy says nothing.
RuleBinding DefaultBinding(const RuleRow& row) {
  RuleBinding binding{.rule = std::string(row.id), .mode = row.default_mode, .settings = {}, .span = {}};
  for (const SettingRow& setting : row.settings) binding.settings.emplace(setting.name, setting.default_value);
  return binding;
}

std::optional<Draft<RuleBinding>> ReadRule(const RuleRow& row, const Field& value) {
  MappingShape shape{.what = "a rule", .keys = {{"mode", Presence::kOptional}}};
  for (const SettingRow& setting : row.settings) shape.keys.push_back({setting.name, Presence::kOptional});
  const std::optional<std::vector<FoundKey>> found = FindKeys(value, shape);
  if (!found) return std::nullopt;
  Draft<RuleBinding> draft{.value = DefaultBinding(row), .span = value.span()};
  for (const FoundKey& key : *found) {
    if (key.row == 0) {
      Set(draft.value.mode, key.value.OneOf(kModeWords));
      continue;
    }
    const SettingRow& setting = row.settings[key.row - 1];
    Set(draft.value.settings[std::string(setting.name)], ReadSetting(setting, key.value));
  }
  return draft;
}

// --- exemptions -----------------------------------------------------------------------------------------------------

bool ReadExemptedRules(Exemption& exemption, const Field& value) {
  const std::optional<std::vector<Field>> items = value.Items();
  if (!items) return false;
  if (items->empty()) value.Unfit("a list with at least one rule: " + JoinNames(RuleIds()));
  for (const Field& item : *items) {
    const std::optional<std::string> id = item.Text();
    if (!id) continue;
    if (FindRule(*id) == nullptr) ReportUnknownRule(item, *id);
    exemption.rules.push_back(*id);
  }
  return !items->empty();
}

bool ReadExpiry(Exemption& exemption, const Field& value) {
  const std::optional<std::string> text = value.Text();
  if (!text) return false;
  const Result<TimePoint> day = ParseDate(*text);
  if (!day) {
    value.Unfit("a date from 1970 to 2261 such as 2027-01-31; the exemption counts to the end of that day (UTC)");
    return false;
  }
  exemption.expires_at = *day + std::chrono::hours(24);
  return true;
}

constexpr KeyRow<Exemption> kExemptionRows[] = {
    {"rules", Presence::kRequired, ReadExemptedRules},
    {"namespace", Presence::kOptional,
     [](Exemption& exemption, const Field& value) {
       return Set(exemption.namespace_pattern, value.Text(kNamespacePattern));
     }},
    {"name", Presence::kOptional,
     [](Exemption& exemption, const Field& value) { return Set(exemption.name_pattern, value.Text(kNamePattern)); }},
    {"kinds", Presence::kOptional,
     [](Exemption& exemption, const Field& value) { return Set(exemption.kinds, ReadKinds(value)); }},
    {"owner", Presence::kRequired,
     [](Exemption& exemption, const Field& value) { return Set(exemption.owner, value.Text(kOneLine)); }},
    {"reason", Presence::kRequired,
     [](Exemption& exemption, const Field& value) { return Set(exemption.reason, value.Text(kOneLine)); }},
    {"expires", Presence::kRequired, ReadExpiry},
};
constexpr KeyTable<Exemption> kExemptionKeys{"exemption", "an exemption", kExemptionRows};

}  // namespace

std::map<std::string, RuleBinding> DefaultBindings() {
  std::map<std::string, RuleBinding> bindings;
  for (const RuleRow& row : Catalog()) bindings.emplace(row.id, DefaultBinding(row));
  return bindings;
}

bool ReadRules(PolicyDraft& draft, const Field& value) {
  const std::optional<std::vector<std::pair<Field, Field>>> members = value.Members();
  if (!members) return false;
  for (const auto& [key, body] : *members) {
    const std::string& id = key.node().scalar;
    const RuleRow* row = FindRule(id);
    if (row == nullptr) {
      ReportUnknownRule(key, id);
      continue;
    }
    std::optional<Draft<RuleBinding>> binding = ReadRule(*row, body);
    if (!binding) continue;
    binding->value.span = key.span();
    binding->span = key.span();
    const auto [first, added] = draft.rules.emplace(id, std::move(*binding));
    if (!added)
      key.Error("rule " + InQuotes(id) + " is set twice, first at " + ShowSpan(first->second.span) +
                "; keep one of them");
  }
  return true;
}

bool ReadExemptions(PolicyDraft& draft, const Field& value) {
  for (Draft<Exemption>& exemption : ReadList(value, kExemptionKeys)) draft.exemptions.push_back(std::move(exemption));
  return true;
}

std::vector<MappingInfo> BindingLanguage() { return {Describe(kExemptionKeys)}; }

std::vector<std::string_view> ModeWords() { return TextsOf<kModeWords>(); }

}  // namespace podium
