// What the decoders of whole objects share. Only for wire's own sources.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "wire/decode_cluster.h"
#include "wire/field_reader.h"

namespace podium {

struct Object {
  ObjectMeta meta;
  std::string uid;
  std::string resource_version;
  Labels own_annotations;  // podium.gpu/
};

// metadata of the object `json`; kInvalidInput when it has no name.
Result<Object> DecodeObject(JsonElement json, std::string_view pointer);

std::string ReadUid(FieldReader& in, JsonElement metadata, const At& at);
LabelSelector ReadSelector(FieldReader& in, JsonElement json, const At& at);
ObjectKind ReadKind(FieldReader& in, JsonElement json, const At& at);

// intstr.IntOrString as text: "3" or "25%".
std::string ReadAmountOrPercentage(FieldReader& in, JsonElement json, const At& at);

Error NameIsMissing(std::string_view pointer);

// read(reader, json, at), or the first problem it found.
template <typename Read>
auto Decode(JsonElement json, std::string_view pointer, const Read& read) {
  FieldReader in;
  Result result = read(in, json, At{nullptr, pointer});
  if (in.problem()) result = *in.problem();
  return result;
}

}  // namespace podium
