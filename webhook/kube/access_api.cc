#include "kube/access_api.h"

#include <utility>

#include "kube/api_status.h"
#include "wire/access_review.h"

namespace podium {
namespace {

constexpr int kCreated = 201;
constexpr int kOk = 200;  // some proxies in front of API servers
constexpr int kForbidden = 403;

// A refusal of the request itself is made before its body is read. Any other message may repeat a part of the body, and
// the token is in there.
Error Failure(const ApiReply& reply, const std::string& doing) {
  ApiError error = ReadApiError(reply.status, reply.body, reply.retry_after);
  if (error.code != kForbidden) error.message.clear();
  return ToError(error, doing);
}

}  // namespace

Result<std::string> KubeAccessReviewer::Create(const std::string& path, std::string body, const std::string& doing) {
  Result<ApiReply> reply =
      api_.Call({.method = "POST", .path = path, .content_type = "application/json", .body = std::move(body)});
  if (!reply) return reply.error().WithContext(doing);
  if (reply->status != kCreated && reply->status != kOk) return Failure(*reply, doing);
  return std::move(reply->body);
}

Result<std::optional<Caller>> KubeAccessReviewer::WhoIs(std::string_view token) {
  const Result<std::string> body = Create("/apis/authentication.k8s.io/v1/tokenreviews",
                                          EncodeTokenReview(token, audiences_), "reviewing a caller's token");
  if (!body) return body.error();
  return DecodeTokenReview(*body, audiences_);
}

Result<bool> KubeAccessReviewer::May(const Caller& caller, const AccessQuestion& question) {
  const Result<std::string> body = Create("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                          EncodeAccessReview(caller, question), "reviewing a caller's rights");
  if (!body) return body.error();
  return DecodeAccessReview(*body);
}

}  // namespace podium
