#include "kube/server_version.h"

#include "kube/api_status.h"
#include "kube/json_scan.h"

namespace podium {

Result<std::string> ReadServerVersion(ApiClient& api) {
  const Result<ApiReply> reply = api.Call({.path = "/version"});
  if (!reply) return reply.error().WithContext("reading /version");
  if (reply->status != 200)
    return ToError(ReadApiError(reply->status, reply->body, reply->retry_after), "reading /version");
  std::string version = MemberText(reply->body, "gitVersion");
  if (version.empty()) return Error{ErrorKind::kCorrupt, "reading /version: the answer names no gitVersion"};
  return version;
}

}  // namespace podium
