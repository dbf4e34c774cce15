// The `gpus` condition of a clause: a count expression, or count, unit and resource.
#pragma once

#include <optional>
#include <string_view>

#include "policy/draft.h"

namespace podium {

// ParseCount("2") -> 2..2;  ">=1" -> 1..;  "<=4" -> 0..4;  "1-8" -> 1..8;  "4-2" -> nothing.
std::optional<IntRange> ParseCount(std::string_view text);

bool ReadGpuMatch(MatchClause& clause, const Field& value);

MappingInfo GpuMatchLanguage();

}  // namespace podium
