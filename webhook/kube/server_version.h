// Which Kubernetes the API server is.
#pragma once

#include <string>

#include "kube/api_client.h"
#include "podium/result.h"

namespace podium {

// GET /version: its gitVersion, "v1.36.3". kCorrupt: an answer without one.
Result<std::string> ReadServerVersion(ApiClient& api);

}  // namespace podium
