#include "kube/server_version.h"

#include "wire/manifest.h"

namespace podium {
namespace {

constexpr std::size_t kMostBytes = 100;  // of a version: "v1.36.2-gke.1234000+abcdef"

}  // namespace

Result<std::string> ReadServerVersion(ApiClient& api) {
  const Result<ApiReply> reply = api.Call({.path = "/version"});
  if (!reply) return reply.error().WithContext("GET /version");
  if (reply->status != 200)
    return Error{ErrorKind::kUnavailable, "GET /version: HTTP " + std::to_string(reply->status)};
  const Result<std::string> quoted = JsonAt(reply->body, "/gitVersion");
  if (!quoted || quoted->size() < 3 || quoted->front() != '"' || quoted->size() > kMostBytes)
    return Error{ErrorKind::kUnavailable, "GET /version: the answer has no gitVersion"};
  return quoted->substr(1, quoted->size() - 2);
}

}  // namespace podium
