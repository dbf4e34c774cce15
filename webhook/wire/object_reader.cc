#include "wire/object_reader.h"

#include <algorithm>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::string_view kOwnAnnotations = "podium.gpu/";

Labels ReadOwnAnnotations(FieldReader& in, JsonElement json, const At& at) {
  Labels annotations;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key.starts_with(kOwnAnnotations)) annotations.insert_or_assign(std::string(key), in.Text(value, here));
  });
  return annotations;
}

// What ObjectMeta does not hold.
Object ReadRest(FieldReader& in, JsonElement json, const At& at) {
  Object object;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "uid")
      object.uid = in.Text(value, here);
    else if (key == "resourceVersion")
      object.resource_version = in.Text(value, here);
    else if (key == "annotations")
      object.own_annotations = ReadOwnAnnotations(in, value, here);
  });
  return object;
}

SelectorOp ReadOperator(FieldReader& in, JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    if (text == "In") return SelectorOp::kIn;
    if (text == "NotIn") return SelectorOp::kNotIn;
    if (text == "Exists") return SelectorOp::kExists;
    if (text == "DoesNotExist") return SelectorOp::kDoesNotExist;
  }
  in.FailType(at, json, "\"In\", \"NotIn\", \"Exists\" or \"DoesNotExist\"");
  return SelectorOp::kIn;
}

SelectorRequirement ReadRequirement(FieldReader& in, JsonElement json, const At& at) {
  SelectorRequirement requirement;
  bool has_operator = false;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "key") {
      requirement.key = in.Text(value, here);
    } else if (key == "operator") {
      requirement.op = ReadOperator(in, value, here);
      has_operator = true;
    } else if (key == "values") {
      requirement.values = in.Texts(value, here);
    }
  });
  const bool wants_values = requirement.op == SelectorOp::kIn || requirement.op == SelectorOp::kNotIn;
  if (!has_operator || wants_values == requirement.values.empty())
    in.FailType(at, json, "an operator, with values for In and NotIn and without for the others");
  return requirement;
}

bool IsPercentage(std::string_view text) {
  return text.size() > 1 && text.size() <= 5 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

LabelSelector ReadSelector(FieldReader& in, JsonElement json, const At& at) {
  LabelSelector selector;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "matchLabels")
      selector.match_labels = in.TextMap(value, here);
    else if (key == "matchExpressions")
      selector.match_expressions =
          in.List(value, here, [&](JsonElement item, const At& place) { return ReadRequirement(in, item, place); });
  });
  return selector;
}

std::string ReadAmountOrPercentage(FieldReader& in, JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS && IsPercentage(text)) return std::string(text);
  std::int64_t number = 0;
  if (json.is_int64() && json.get(number) == simdjson::SUCCESS) return std::to_string(number);
  in.FailType(at, json, "a whole number or a percentage");
  return {};
}

ObjectKind ReadKind(FieldReader& in, JsonElement json, const At& at) {
  ObjectKind kind;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "apiVersion")
      kind.api_version = in.Text(value, here);
    else if (key == "kind")
      kind.kind = in.Text(value, here);
  });
  return kind;
}

std::string ReadUid(FieldReader& in, JsonElement metadata, const At& at) {
  std::string uid;
  in.EachMember(metadata, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "uid") uid = in.Text(value, here);
  });
  return uid;
}

Error NameIsMissing(std::string_view pointer) {
  return {ErrorKind::kInvalidInput, std::string(pointer) + "/metadata/name: is missing; every object needs a name"};
}

Result<Object> DecodeObject(JsonElement json, std::string_view pointer) {
  const std::string place = std::string(pointer) + "/metadata";
  JsonElement metadata;
  if (json["metadata"].get(metadata) != simdjson::SUCCESS) return NameIsMissing(pointer);
  Result<ObjectMeta> meta = DecodeObjectMeta(metadata, place);
  if (!meta) return meta.error();
  if (meta->name.empty()) return NameIsMissing(pointer);
  for (const std::string* name : {&meta->name, &meta->namespace_name})
    if (name->find('/') != std::string::npos)
      return Error{ErrorKind::kInvalidInput, place + ": found " + Quoted(*name) + "; no name has a '/' in it"};
  Result<Object> object = Decode(metadata, place, ReadRest);
  if (object) object->meta = std::move(*meta);
  return object;
}

Result<ObjectName> DecodeObjectName(JsonElement json, std::string_view pointer) {
  Result<ObjectKind> kind = Decode(json, pointer, ReadKind);
  if (!kind) return kind.error();
  Result<Object> object = DecodeObject(json, pointer);
  if (!object) return object.error();
  return ObjectName{std::move(*kind), std::move(object->meta.namespace_name), std::move(object->meta.name)};
}

Result<LabelSelector> DecodeLabelSelector(JsonElement json, std::string_view pointer) {
  return Decode(json, pointer, ReadSelector);
}

}  // namespace podium
