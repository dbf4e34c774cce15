#include "kube/api_status.h"

#include <algorithm>

#include "kube/json_scan.h"

namespace podium {
namespace {

// One line of printable text, of a length that a log can bear.
std::string Readable(std::string_view text) {
  constexpr std::size_t kLongest = 300;
  std::string readable(text.substr(0, kLongest));
  std::replace_if(
      readable.begin(), readable.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kLongest ? readable + "..." : readable;
}

// Old servers have only the text. Source: client-go tools/cache/reflector.go, isTooLargeResourceVersionError.
bool IsTooLarge(const ApiError& error, std::string_view details) {
  if (details.find("\"ResourceVersionTooLarge\"") != std::string_view::npos) return true;
  return error.message.find("Too large resource version") != std::string::npos;
}

ErrorKind KindOf(int code) {
  switch (code) {
    case 401:
    case 403: return ErrorKind::kPermission;
    case 404: return ErrorKind::kNotFound;
    case 409: return ErrorKind::kConflict;
    case 504: return ErrorKind::kTimeout;
    case 410:
    case 429: return ErrorKind::kUnavailable;
    default: return code >= 500 ? ErrorKind::kUnavailable : ErrorKind::kInvalidInput;
  }
}

}  // namespace

ApiError ReadApiError(int status, std::string_view body, std::optional<std::chrono::seconds> retry_after) {
  ApiError error;
  error.code = status;
  error.retry_after = retry_after;
  if (MemberText(body, "kind") != "Status") {
    error.message = "the reply has no Status object";
    return error;
  }
  const std::optional<std::int64_t> code = IntegerOf(MemberOf(body, "code").value_or(""));
  if (code && *code >= 100 && *code <= 599) error.code = static_cast<int>(*code);
  error.reason = Readable(MemberText(body, "reason"));
  error.message = Readable(MemberText(body, "message"));
  const std::string_view details = MemberOf(body, "details").value_or("");
  const std::optional<std::int64_t> seconds = IntegerOf(MemberOf(details, "retryAfterSeconds").value_or(""));
  constexpr std::int64_t kLongest = 86'400;
  if (!error.retry_after && seconds && *seconds > 0)
    error.retry_after = std::chrono::seconds(std::min(*seconds, kLongest));
  error.resource_version_too_large = IsTooLarge(error, details);
  return error;
}

Error ToError(const ApiError& error, std::string_view what) {
  std::string text(what);
  text += error.code == 0 ? ": an error without a code" : ": HTTP " + std::to_string(error.code);
  if (!error.reason.empty()) text += " " + error.reason;
  if (!error.message.empty()) text += ": " + error.message;
  return {KindOf(error.code), text};
}

}  // namespace podium
