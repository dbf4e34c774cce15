// The query of POST /v1/feasibility. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "podium/outlook.h"
#include "podium/result.h"

namespace podium {

struct QueryParameters {
  std::optional<std::int64_t> replicas;  // instead of what the object says
  std::optional<Placing> placing;
  bool operator==(const QueryParameters&) const = default;
};

// "replicas=4&gang" , "gang=false", "". An error names every parameter that is wrong, and what is allowed.
Result<QueryParameters> ParseQueryParameters(std::string_view query, std::int64_t most_replicas);

}  // namespace podium
