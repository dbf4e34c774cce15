// How kubectl types a plain YAML scalar. Only for wire's own sources.
// Source: sigs.k8s.io/yaml goyaml.v2/resolve.go (YAML 1.1 with go-yaml's additions), yaml.go for mapping keys.
#pragma once

#include <string>
#include <string_view>

namespace podium {

enum class PlainType { kString, kNull, kBool, kInteger, kFloat };

struct PlainScalar {
  PlainType type = PlainType::kString;
  std::string json;  // the JSON text of everything but a string
};

// ResolvePlain("yes") -> true;  ("0o17") and ("017") -> 15;  ("1_000") -> 1000;  ("1e3") -> 1000;  ("2026-11-29") and
// (".inf") -> string (JSON has no infinity). Whole numbers beyond 64 bits become the nearest double, written with an
// exponent: simdjson takes no longer integers.
PlainScalar ResolvePlain(std::string_view text);

// The member name a plain mapping key becomes: `on: x` is {"true": x}, `0x10: x` is {"16": x}.
std::string PlainKey(std::string_view text);

}  // namespace podium
