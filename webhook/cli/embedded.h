// Files that are part of the binary (made by cli/embed.cmake).
#pragma once

#include <string_view>

namespace podium {

// NOLINTBEGIN(readability-identifier-naming): constants that are defined elsewhere
extern const std::string_view kEmbeddedPolicy;   // policies/default.yaml
extern const std::string_view kEmbeddedCluster;  // policies/samples/cluster.yaml
// NOLINTEND(readability-identifier-naming)

}  // namespace podium
