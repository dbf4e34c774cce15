#include <map>
#include <string_view>

#include "wire/decode.h"

namespace podium {
namespace {

using simdjson::dom::element_type;
using Members = std::map<std::string_view, JsonElement>;

bool IsNumber(element_type type) {
  return type == element_type::INT64 || type == element_type::UINT64 || type == element_type::DOUBLE;
}

// Wide enough to hold every int64, uint64 and double exactly (64 bits of mantissa or more).
long double Number(JsonElement json) {
  switch (json.type()) {
    case element_type::INT64: return static_cast<long double>(std::int64_t(json));
    case element_type::UINT64: return static_cast<long double>(std::uint64_t(json));
    default: return double(json);
  }
}

bool SameArray(simdjson::dom::array a, simdjson::dom::array b) {
  auto right = b.begin();
  for (const JsonElement item : a) {
    if (right == b.end() || !SameJson(item, *right)) return false;
    ++right;
  }
  return right == b.end();
}

// Of duplicate keys the last one counts.
Members Collect(simdjson::dom::object object) {
  Members members;
  for (const auto [key, value] : object) members.insert_or_assign(key, value);
  return members;
}

bool SameMembers(const Members& a, const Members& b) {
  if (a.size() != b.size()) return false;
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right)
    if (left->first != right->first || !SameJson(left->second, right->second)) return false;
  return true;
}

// Two versions of one object nearly always have their members in the same order: then nothing is collected.
bool SameObject(simdjson::dom::object a, simdjson::dom::object b) {
  auto right = b.begin();
  for (const auto [key, value] : a) {
    if (right == b.end() || key != right.key()) return SameMembers(Collect(a), Collect(b));
    if (!SameJson(value, right.value())) return false;
    ++right;
  }
  return right == b.end() || SameMembers(Collect(a), Collect(b));
}

}  // namespace

bool SameJson(JsonElement a, JsonElement b) {
  const element_type type = a.type();
  if (IsNumber(type)) return IsNumber(b.type()) && Number(a) == Number(b);
  if (type != b.type()) return false;
  switch (type) {
    case element_type::ARRAY: return SameArray(simdjson::dom::array(a), simdjson::dom::array(b));
    case element_type::OBJECT: return SameObject(simdjson::dom::object(a), simdjson::dom::object(b));
    case element_type::STRING: return std::string_view(a) == std::string_view(b);
    case element_type::BOOL: return bool(a) == bool(b);
    default: return true;  // null
  }
}

}  // namespace podium
