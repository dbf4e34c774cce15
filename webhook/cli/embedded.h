// Files that are part of the binary (made by cli/embed.cmake).
#pragma once

#include <string_view>

namespace podium {

extern const std::string_view kEmbeddedPolicy;   // policies/default.yaml
extern const std::string_view kEmbeddedCluster;  // policies/samples/cluster.yaml

}  // namespace podium
