// TokenReview (authentication.k8s.io/v1) and SubjectAccessReview (authorization.k8s.io/v1) as JSON. Source:
// k8s.io/api/authentication/v1/types.go and authorization/v1/types.go. Reading is strict: what is not exactly an answer
// of that kind is an error, because somebody's rights hang on it. None of these throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/ports.h"
#include "podium/result.h"

namespace podium {

// `audiences` empty: the API server's own.
std::string EncodeTokenReview(std::string_view token, const std::vector<std::string>& audiences);

// Who the token's holder is; nothing: the token is not good. A server that does not say that the token is for one of
// `audiences` did not look: kCorrupt, as everything that is no finished TokenReview.
Result<std::optional<Caller>> DecodeTokenReview(std::string_view json, const std::vector<std::string>& audiences);

std::string EncodeAccessReview(const Caller& caller, const AccessQuestion& question);

// status.allowed and not status.denied. kCorrupt for what is no finished SubjectAccessReview.
Result<bool> DecodeAccessReview(std::string_view json);

}  // namespace podium
