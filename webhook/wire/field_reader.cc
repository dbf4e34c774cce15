#include "wire/field_reader.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "wire/json.h"
#include "wire/patch.h"

namespace podium {
namespace {

using simdjson::dom::element_type;

std::string Describe(JsonElement json) {
  constexpr std::size_t kShown = 40;
  switch (json.type()) {
    case element_type::ARRAY: return "an array";
    case element_type::OBJECT: return "an object";
    case element_type::NULL_VALUE: return "null";
    case element_type::BOOL: return bool(json) ? "true" : "false";
    case element_type::STRING: {
      const std::string_view text(json);
      std::string described = "the string ";
      AppendJsonString(described, text.substr(0, kShown));
      return text.size() > kShown ? described + "..." : described;
    }
    default: return "the number " + simdjson::minify(json);
  }
}

std::string_view TrimBlanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

std::string At::Pointer() const {
  if (parent == nullptr) return std::string(key);
  return parent->Pointer() + '/' + (index == kNoIndex ? EscapePointerSegment(key) : std::to_string(index));
}

void FieldReader::Fail(const At& at, const std::string& message) {
  if (!problem_) problem_ = Error{ErrorKind::kInvalidInput, at.Pointer() + ": " + message};
}

void FieldReader::FailType(const At& at, JsonElement found, std::string_view expected) {
  Fail(at, "found " + Describe(found) + "; expected " + std::string(expected));
}

std::string FieldReader::Text(JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) FailType(at, json, "a string");
  return std::string(text);
}

std::vector<std::string> FieldReader::Texts(JsonElement json, const At& at) {
  return List(json, at, [this](JsonElement item, const At& here) { return Text(item, here); });
}

Labels FieldReader::TextMap(JsonElement json, const At& at) {
  Labels labels;
  EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    // Go writes maps sorted, so the end is where the next one belongs.
    labels.insert_or_assign(labels.end(), std::string(key), Text(value, here));
  });
  return labels;
}

bool FieldReader::Boolean(JsonElement json, const At& at) {
  bool value = false;
  if (json.get(value) != simdjson::SUCCESS) FailType(at, json, "true or false");
  return value;
}

std::int64_t FieldReader::Integer(JsonElement json, const At& at) {
  std::int64_t value = 0;
  if (!json.is_int64() || json.get(value) != simdjson::SUCCESS) FailType(at, json, "a whole number of 64 bits");
  return value;
}

std::int32_t FieldReader::Integer32(JsonElement json, const At& at) {
  const std::int64_t value = Integer(json, at);
  if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<std::int32_t>(value);
  FailType(at, json, "a whole number from -2147483648 to 2147483647");
  return 0;
}

bool FieldReader::HasMember(JsonElement json, const At& at, std::string_view wanted) {
  bool found = false;
  EachMember(json, at, [&](std::string_view key, JsonElement, const At&) { found = found || key == wanted; });
  return found;
}

ResourceList FieldReader::Resources(JsonElement json, const At& at) {
  ResourceList resources;
  EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    resources.insert_or_assign(resources.end(), std::string(key), Amount(value, here));
  });
  return resources;
}

Quantity FieldReader::Amount(JsonElement json, const At& at) {
  switch (json.type()) {
    // Blanks around a quantity are cut off by the API server too (Quantity.UnmarshalJSON).
    case element_type::STRING: return AmountFromText(TrimBlanks(std::string_view(json)), at);
    case element_type::INT64: return Quantity::FromUnits(std::int64_t(json));
    case element_type::UINT64: return AmountFromText(std::to_string(std::uint64_t(json)), at);
    case element_type::DOUBLE: return AmountFromDouble(double(json), at);
    default: FailType(at, json, "a quantity: a string or a number"); return {};
  }
}

// The shortest decimal that is this double is what was written, up to 15 digits.
Quantity FieldReader::AmountFromDouble(double number, const At& at) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number);
  return AmountFromText(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())), at);
}

Quantity FieldReader::AmountFromText(std::string_view text, const At& at) {
  const Result<Quantity> quantity = ParseQuantity(text);
  if (quantity) return *quantity;
  Fail(at, quantity.error().message);
  return {};
}

}  // namespace podium
