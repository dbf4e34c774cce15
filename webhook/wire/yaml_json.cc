#include "wire/json.h"
#include "wire/yaml.h"
#include "wire/yaml_scalar.h"

namespace podium {
namespace {

void Write(JsonWriter& out, const YamlNode& node);

void WriteScalar(JsonWriter& out, const YamlNode& node) {
  const PlainScalar plain = node.quoted ? PlainScalar{} : ResolvePlain(node.scalar);
  if (plain.type == PlainType::kString)
    out.String(node.scalar);
  else
    out.Raw(plain.json);
}

void WriteMapping(JsonWriter& out, const YamlNode& node) {
  out.BeginObject();
  for (const auto& [key, value] : node.members) {
    out.Key(key.quoted ? key.scalar : PlainKey(key.scalar));
    Write(out, value);
  }
  out.EndObject();
}

void WriteSequence(JsonWriter& out, const YamlNode& node) {
  out.BeginArray();
  for (const YamlNode& item : node.items) Write(out, item);
  out.EndArray();
}

void Write(JsonWriter& out, const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull: out.Null(); return;
    case YamlKind::kScalar: WriteScalar(out, node); return;
    case YamlKind::kSequence: WriteSequence(out, node); return;
    case YamlKind::kMapping: WriteMapping(out, node); return;
  }
}

}  // namespace

std::string YamlToJson(const YamlNode& node) {
  std::string text;
  JsonWriter out(text);
  Write(out, node);
  return text;
}

}  // namespace podium
