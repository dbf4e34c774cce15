// Which Kubernetes an API server is.
#pragma once

#include <string>

#include "kube/api_client.h"
#include "podium/result.h"

namespace podium {

// "v1.36.2", from /version, which everybody may read. Errors: those of the client; kUnavailable for an answer that is
// none.
Result<std::string> ReadServerVersion(ApiClient& api);

}  // namespace podium
