#include "wire/manifest.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "wire/decode.h"
#include "wire/json_dom.h"

namespace podium {
namespace {

using Json = nlohmann::json;

constexpr YamlLimits kManifestLimits = {
    .bytes = kMaxJsonBytes, .depth = static_cast<int>(kMaxJsonDepth), .nodes = 1'000'000, .documents = 10'000};
constexpr int kMaxListDepth = 8;

bool IsList(std::string_view kind) { return kind.size() >= 4 && kind.substr(kind.size() - 4) == "List"; }

constexpr std::string_view kNoApiVersion =
    "this is no Kubernetes object: 'apiVersion' is missing; wanted: an object with apiVersion and kind";
constexpr std::string_view kNoKind =
    "this is no Kubernetes object: 'kind' is missing; wanted: an object with apiVersion and kind";
constexpr std::string_view kNoMapping = "this is no Kubernetes object; wanted: a mapping with apiVersion and kind";

// --- YAML -----------------------------------------------------------------------------------------------------------

std::string TextAt(const YamlNode& node, std::string_view key) {
  const YamlNode* member = node.kind == YamlKind::kMapping ? node.Find(key) : nullptr;
  return member == nullptr || member->kind != YamlKind::kScalar ? std::string() : member->scalar;
}

std::optional<std::string_view> ShapeProblem(const YamlNode& node) {
  if (node.kind != YamlKind::kMapping) return kNoMapping;
  if (TextAt(node, "apiVersion").empty()) return kNoApiVersion;
  if (TextAt(node, "kind").empty()) return kNoKind;
  return std::nullopt;
}

void AddYaml(const YamlNode& node, int depth, ManifestParse& parse) {
  if (const auto problem = ShapeProblem(node)) {
    parse.problems.push_back({node.span, std::string(*problem)});
    return;
  }
  const YamlNode* items = node.Find("items");
  const std::string kind = TextAt(node, "kind");
  if (IsList(kind) && depth < kMaxListDepth && items != nullptr && items->kind == YamlKind::kSequence) {
    for (const YamlNode& item : items->items) AddYaml(item, depth + 1, parse);
    return;
  }
  const YamlNode* metadata = node.Find("metadata");
  const YamlNode nothing;
  const YamlNode& meta = metadata == nullptr ? nothing : *metadata;
  const std::string name = TextAt(meta, "name");
  parse.manifests.push_back({node.span, YamlToJson(node), TextAt(node, "apiVersion"), kind,
                             name.empty() ? TextAt(meta, "generateName") : name, TextAt(meta, "namespace")});
}

ManifestParse FromYaml(std::string_view file, std::string_view text) {
  ManifestParse parse;
  YamlParse yaml = ParseYaml(file, text, kManifestLimits);
  parse.problems = std::move(yaml.problems);
  if (!parse.problems.empty()) return parse;
  for (const YamlNode& document : yaml.documents) AddYaml(document, 0, parse);
  return parse;
}

// --- JSON -----------------------------------------------------------------------------------------------------------

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

std::optional<std::string_view> ShapeProblem(const Json& object) {
  if (!object.is_object()) return kNoMapping;
  if (TextAt(object, "apiVersion").empty()) return kNoApiVersion;
  if (TextAt(object, "kind").empty()) return kNoKind;
  return std::nullopt;
}

void AddJson(const Json& object, const SourceSpan& span, int depth, ManifestParse& parse) {
  if (const auto problem = ShapeProblem(object)) {
    parse.problems.push_back({span, std::string(*problem)});
    return;
  }
  const auto items = object.find("items");
  const std::string kind = TextAt(object, "kind");
  if (IsList(kind) && depth < kMaxListDepth && items != object.end() && items->is_array()) {
    for (const Json& item : *items) AddJson(item, span, depth + 1, parse);
    return;
  }
  const auto metadata = object.find("metadata");
  const Json meta = metadata == object.end() ? Json::object() : *metadata;
  const std::string name = TextAt(meta, "name");
  parse.manifests.push_back({span, object.dump(-1, ' ', false, Json::error_handler_t::replace),
                             TextAt(object, "apiVersion"), kind, name.empty() ? TextAt(meta, "generateName") : name,
                             TextAt(meta, "namespace")});
}

// "line 3, column 5: this is no JSON" -> position and the rest.
YamlProblem JsonProblem(std::string_view file, const std::string& message) {
  SourceSpan span{std::string(file), 0, 0};
  int length = 0;
  if (std::sscanf(message.c_str(), "line %d, column %d: %n", &span.line, &span.column, &length) != 2 || length == 0)
    return {SourceSpan{std::string(file), 0, 0}, message};
  return {span, message.substr(static_cast<std::size_t>(length))};
}

// A brace and then a quote or the other brace: JSON is meant. "{apiVersion: v1}" is YAML.
bool LooksLikeJson(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t brace = text.find_first_not_of(kBlank);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t next = text.find_first_not_of(kBlank, brace + 1);
  return next != std::string_view::npos && (text[next] == '"' || text[next] == '}');
}

}  // namespace

ManifestParse ParseManifests(std::string_view file, std::string_view text) {
  if (!LooksLikeJson(text)) return FromYaml(file, text);
  const Result<Json> json = ParseJsonDom(text);
  if (!json) {
    // {"a": b} is YAML, and kubectl takes it; of anything else JSON's problem is the one to tell.
    ManifestParse yaml = FromYaml(file, text);
    if (!yaml.problems.empty()) yaml = {{}, {JsonProblem(file, json.error().message)}};
    return yaml;
  }
  ManifestParse parse;
  AddJson(*json, {std::string(file), 1, 1}, 0, parse);
  return parse;
}

std::string FormatProblem(const YamlProblem& problem) {
  const SourceSpan& span = problem.span;
  if (span.line == 0) return span.file + ": " + problem.message;
  return span.file + ":" + std::to_string(span.line) + ":" + std::to_string(span.column) + ": " + problem.message;
}

Result<std::string> JsonAt(std::string_view document, std::string_view pointer) {
  Result<Json> json = ParseJsonDom(document);
  if (!json) return json.error();
  try {
    return json->at(Json::json_pointer(std::string(pointer))).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception&) {
    return Error{ErrorKind::kNotFound, "there is nothing at '" + std::string(pointer) + "'"};
  }
}

}  // namespace podium
