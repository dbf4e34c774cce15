// Typed reading of simdjson elements, with one place for every complaint. Only for wire's own sources.
#pragma once

#include <simdjson.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/objects.h"
#include "podium/result.h"
#include "wire/decode.h"

namespace podium {

// Where the reader stands: a chain on the stack, so that a good object never pays for a pointer's text.
struct At {
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

  const At* parent = nullptr;
  std::string_view key;  // of the outermost link: the finished pointer
  std::size_t index = kNoIndex;

  [[nodiscard]] std::string Pointer() const;
};

// Reads one object. The first problem is kept, and reading goes on with a default in the field's place: no function has
// to pass failure on. Members that are null are skipped. Of duplicate members the last one wins, as in the API server.
class FieldReader {
 public:
  // Calls visit(key, value, at) for every member that is not null.
  template <typename Visit>
  void EachMember(JsonElement json, const At& at, Visit visit) {
    simdjson::dom::object object;
    if (json.get(object) != simdjson::SUCCESS) {
      if (!json.is_null()) FailType(at, json, "an object");
      return;
    }
    for (const auto [key, value] : object)
      if (!value.is_null()) visit(key, value, At{&at, key});
  }

  // read(item, at) makes each item.
  template <typename Read>
  auto List(JsonElement json, const At& at, Read read) {
    std::vector<decltype(read(json, at))> items;
    simdjson::dom::array array;
    if (json.get(array) != simdjson::SUCCESS) {
      FailType(at, json, "an array");
      return items;
    }
    items.reserve(array.size());
    for (const JsonElement item : array) items.push_back(read(item, At{&at, {}, items.size()}));
    return items;
  }

  std::string Text(JsonElement json, const At& at);
  std::vector<std::string> Texts(JsonElement json, const At& at);
  Labels TextMap(JsonElement json, const At& at);
  bool Boolean(JsonElement json, const At& at);
  std::int64_t Integer(JsonElement json, const At& at);
  std::int32_t Integer32(JsonElement json, const At& at);
  bool HasMember(JsonElement json, const At& at, std::string_view wanted);
  ResourceList Resources(JsonElement json, const At& at);

  void FailType(const At& at, JsonElement found, std::string_view expected);

  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  void Fail(const At& at, const std::string& message);
  Quantity Amount(JsonElement json, const At& at);
  Quantity AmountFromDouble(double number, const At& at);
  Quantity AmountFromText(std::string_view text, const At& at);

  std::optional<Error> problem_;
};

}  // namespace podium
