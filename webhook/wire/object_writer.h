// The pieces of Kubernetes objects that more than one writer of JSON needs. The other way round: wire/object_reader.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/objects.h"
#include "wire/json.h"

namespace podium {

// "key":"value".
void WriteText(JsonWriter& json, std::string_view key, std::string_view value);

// "key":["a","b"].
void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values);

// "key":{"app":"web"}, also when it is empty.
void WriteLabels(JsonWriter& json, std::string_view key, const Labels& labels);

// "key":{"matchLabels":...}: {} selects everything.
void WriteSelector(JsonWriter& json, std::string_view key, const LabelSelector& selector);

// "ownerReferences":[...], also when it is empty. Members of an owner that are empty are left out, `controller` when it
// is false.
void WriteOwners(JsonWriter& json, const std::vector<OwnerReference>& owners);

// "key":1 or "key":"25%" (intstr.IntOrString); nothing when it is absent.
void WriteIntOrString(JsonWriter& json, std::string_view key, const std::optional<std::string>& value);

}  // namespace podium
