// The policy language as the loader knows it, for tests and tools: which keys each mapping has. The rules section is
// not in here, its keys come from rules/catalog.h.
#pragma once

#include <string_view>
#include <vector>

namespace podium {

struct KeyInfo {
  std::string_view name;
  bool required = false;
  std::vector<std::string_view> words;  // of a fixed choice
};

struct MappingInfo {
  std::string_view name;  // of the definition in policies/priority-policy.schema.json; "policy" is its root
  std::vector<KeyInfo> keys;
};

std::vector<MappingInfo> PolicyLanguage();

// The words of `mode`, the same for every rule.
std::vector<std::string_view> ModeWords();

}  // namespace podium
