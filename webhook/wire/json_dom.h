// JSON text as an nlohmann tree that is safe to copy, compare and dump. Only for wire's own sources.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "podium/result.h"

namespace podium {

// Refused with line and column: no JSON, over kMaxJsonBytes or kMaxJsonDepth, a number beyond double, NUL, invalid
// UTF-8, and a text that would grow beyond 64 MiB when indented. Of duplicate keys the last one wins, as in Go.
// Never throws.
Result<nlohmann::json> ParseJsonDom(std::string_view text);

}  // namespace podium
