// Private to codec.cc: typed reading of the envelope, and what its messages are made of.
#pragma once

#include <simdjson.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/result.h"
#include "wire/decode.h"

namespace podium::codec {

inline Error Invalid(std::string message) { return {ErrorKind::kInvalidInput, std::move(message)}; }

inline std::string Join(std::string_view pointer, std::string_view segment) {
  return std::string(pointer).append("/").append(segment);
}

inline std::string_view TypeName(JsonElement json) {
  using Type = simdjson::dom::element_type;
  switch (json.type()) {
    case Type::ARRAY: return "an array";
    case Type::OBJECT: return "an object";
    case Type::STRING: return "a string";
    case Type::BOOL: return "a boolean";
    case Type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

inline Error WrongType(std::string_view pointer, JsonElement json, std::string_view expected) {
  const std::string_view place = pointer.empty() ? "the document" : pointer;
  return Invalid(std::string(place).append(": found ").append(TypeName(json)).append("; expected ").append(expected));
}

using Field = std::optional<JsonElement>;  // absent or null: nothing

// Reads typed fields and keeps the first thing that was wrong, so that the reading code has no branches: after an error
// every answer is empty.
class Reader {
 public:
  // The named members of an object, in one pass over it. A name that is written twice has two meanings (Go takes the
  // last one, other readers the first), so neither is taken. Unknown members are skipped: each release adds some.
  template <std::size_t N>
  std::array<Field, N> Members(const Field& json, const std::array<std::string_view, N>& names,
                               std::string_view pointer) {
    std::array<Field, N> found;
    std::array<bool, N> seen{};
    simdjson::dom::object object;
    if (error_ || !json) return found;
    if (json->get(object) != simdjson::SUCCESS) {
      Fail(WrongType(pointer, *json, "an object"));
      return found;
    }
    std::size_t next = 0;  // the API server writes members in the order of `names`: the first look mostly hits
    for (const auto [key, value] : object) {
      const std::size_t at = IndexOf(names, key, next);
      if (at == N) continue;
      next = at + 1;
      if (std::exchange(seen[at], true)) Fail(Invalid(Join(pointer, key) + " is given twice; expected once"));
      if (!value.is_null()) found[at] = value;
    }
    return found;
  }

  // A view into the document.
  std::string_view Text(const Field& json, std::string_view pointer) {
    std::string_view text;
    if (!error_ && json && json->get(text) != simdjson::SUCCESS) Fail(WrongType(pointer, *json, "a string"));
    return text;
  }

  bool Flag(const Field& json, std::string_view pointer) {
    bool flag = false;
    if (!error_ && json && json->get(flag) != simdjson::SUCCESS) Fail(WrongType(pointer, *json, "a boolean"));
    return flag;
  }

  std::vector<std::string> Texts(const Field& json, std::string_view pointer) {
    std::vector<std::string> texts;
    simdjson::dom::array array;
    if (error_ || !json) return texts;
    if (json->get(array) != simdjson::SUCCESS) {
      Fail(WrongType(pointer, *json, "an array of strings"));
      return texts;
    }
    texts.reserve(array.size());
    for (const JsonElement item : array) texts.emplace_back(Text(item, pointer));
    return texts;
  }

  void Fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  // N when `key` is none of the names.
  template <std::size_t N>
  static std::size_t IndexOf(const std::array<std::string_view, N>& names, std::string_view key, std::size_t first) {
    for (std::size_t at = first; at < N; ++at)
      if (names[at] == key) return at;
    for (std::size_t at = 0; at < first; ++at)
      if (names[at] == key) return at;
    return N;
  }

  std::optional<Error> error_;
};

}  // namespace podium::codec
