#include "wire/object_writer.h"

#include <charconv>
#include <cstdint>

namespace podium {
namespace {

std::string_view ToText(SelectorOp op) {
  switch (op) {
    case SelectorOp::kIn: return "In";
    case SelectorOp::kNotIn: return "NotIn";
    case SelectorOp::kExists: return "Exists";
    case SelectorOp::kDoesNotExist: return "DoesNotExist";
  }
  return "In";
}

void TextUnlessEmpty(JsonWriter& json, std::string_view key, std::string_view value) {
  if (!value.empty()) WriteText(json, key, value);
}

void WriteRequirement(JsonWriter& json, const SelectorRequirement& requirement) {
  json.BeginObject();
  WriteText(json, "key", requirement.key);
  WriteText(json, "operator", ToText(requirement.op));
  if (!requirement.values.empty()) WriteTexts(json, "values", requirement.values);
  json.EndObject();
}

void WriteOwner(JsonWriter& json, const OwnerReference& owner) {
  json.BeginObject();
  TextUnlessEmpty(json, "apiVersion", owner.api_version);
  TextUnlessEmpty(json, "kind", owner.kind);
  TextUnlessEmpty(json, "name", owner.name);
  TextUnlessEmpty(json, "uid", owner.uid);
  if (owner.controller) {
    json.Key("controller");
    json.Bool(true);
  }
  json.EndObject();
}

}  // namespace

void WriteText(JsonWriter& json, std::string_view key, std::string_view value) {
  json.Key(key);
  json.String(value);
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& value : values) json.String(value);
  json.EndArray();
}

void WriteLabels(JsonWriter& json, std::string_view key, const Labels& labels) {
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, value] : labels) WriteText(json, name, value);
  json.EndObject();
}

void WriteSelector(JsonWriter& json, std::string_view key, const LabelSelector& selector) {
  json.Key(key);
  json.BeginObject();
  if (!selector.match_labels.empty()) WriteLabels(json, "matchLabels", selector.match_labels);
  if (!selector.match_expressions.empty()) {
    json.Key("matchExpressions");
    json.BeginArray();
    for (const SelectorRequirement& each : selector.match_expressions) WriteRequirement(json, each);
    json.EndArray();
  }
  json.EndObject();
}

void WriteOwners(JsonWriter& json, const std::vector<OwnerReference>& owners) {
  json.Key("ownerReferences");
  json.BeginArray();
  for (const OwnerReference& owner : owners) WriteOwner(json, owner);
  json.EndArray();
}

void WriteIntOrString(JsonWriter& json, std::string_view key, const std::optional<std::string>& value) {
  if (!value) return;
  json.Key(key);
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error == std::errc() && stop == end)
    json.Int(number);
  else
    json.String(*value);
}

}  // namespace podium
