// What the API server says when it refuses. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

// A metav1.Status, or what could be made of a reply that has none. Source: apimachinery pkg/apis/meta/v1/types.go.
struct ApiError {
  int code = 0;  // of the Status, else of the reply; 0: neither
  std::string reason;
  std::string message;
  std::optional<std::chrono::seconds> retry_after;
  bool resource_version_too_large = false;  // the server's cache is behind the version that was asked for
  bool operator==(const ApiError&) const = default;
};

// `status`: of the reply, 0 for the object of an ERROR event. `retry_after`: the reply's header; it counts for more
// than what the Status says. The message is cut at 300 characters and has no control characters.
ApiError ReadApiError(int status, std::string_view body, std::optional<std::chrono::seconds> retry_after);

// As Podium's own error, for people: "listing pods: HTTP 403 Forbidden: pods is forbidden: ...".
Error ToError(const ApiError& error, std::string_view what);

}  // namespace podium
