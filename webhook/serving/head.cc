#include "serving/head.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "wire/json.h"

namespace podium {
namespace {

constexpr std::size_t kMaxTargetBytes = 8 << 10;

struct Target {
  std::string_view path;
  std::string_view query;
};

Target SplitTarget(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "application/json; charset=utf-8" is application/json.
std::string_view MediaType(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

// Digits only: no sign, no blanks, no list.
std::optional<std::uint64_t> ParseLength(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsFor(const Route& route, std::string_view method) {
  return route.method == method || (method == "HEAD" && route.method == "GET");
}

std::string AllowedMethods(const std::vector<Route>& routes, std::string_view path) {
  std::string methods;
  for (const Route& route : routes) {
    if (route.path != path) continue;
    if (!methods.empty()) methods += ", ";
    methods += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  return methods;
}

HttpResponse WrongMethod(std::string allowed) {
  HttpResponse response = ErrorResponse(405, "the method is not allowed here; allowed: " + allowed);
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

// Everything that makes the extent of the message doubtful comes first: it must not become two requests.
std::optional<HttpResponse> CheckFraming(const RequestHead& head, const EngineLimits& limits) {
  if (head.fields > limits.head_fields)
    return ErrorResponse(431, "the request has more than " + std::to_string(limits.head_fields) + " header fields");
  if (head.target.size() > kMaxTargetBytes) return ErrorResponse(414, "the request target is longer than 8192 bytes");
  if (head.folded) return ErrorResponse(400, "a header field is folded over several lines; write it in one");
  if (head.hosts > 1 || (head.http11 && head.hosts == 0))
    return ErrorResponse(400, "HTTP/1.1 wants exactly one Host field");
  if (head.transfer_encoding)
    return ErrorResponse(411, "Transfer-Encoding is not accepted; send the body with a Content-Length");
  if (head.content_lengths > 1) return ErrorResponse(400, "more than one Content-Length");
  return std::nullopt;
}

std::optional<HttpResponse> CheckConditions(const RequestHead& head) {
  if (head.content_encoding) return ErrorResponse(415, "Content-Encoding is not accepted; send the body as it is");
  if (head.expect) return ErrorResponse(417, "Expect is not supported; send the body at once");
  if (head.range) return ErrorResponse(400, "Range is not supported");
  return std::nullopt;
}

std::optional<HttpResponse> CheckBody(const RequestHead& head, std::uint64_t length, const EngineLimits& limits) {
  if (head.method != "POST") {
    if (length == 0) return std::nullopt;
    return ErrorResponse(400, "this method takes no body");
  }
  if (head.content_lengths == 0) return ErrorResponse(411, "a POST wants a Content-Length");
  if (length > limits.body_bytes)
    return ErrorResponse(413, "the body is larger than " + std::to_string(limits.body_bytes) + " bytes");
  if (head.content_types != 1 || !EqualsIgnoringCase(MediaType(head.content_type), "application/json"))
    return ErrorResponse(415, "the Content-Type of the body must be application/json");
  return std::nullopt;
}

}  // namespace

bool MayBeginRequest(char first) {
  return std::isalnum(static_cast<unsigned char>(first)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(first) != std::string_view::npos;
}

HttpResponse ErrorResponse(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = R"({"error": )";
  AppendJsonString(response.body, message);
  response.body += "}\n";
  return response;
}

HttpResponse OverloadedResponse(std::string_view message) {
  HttpResponse response = ErrorResponse(503, message);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HeadVerdict JudgeHead(const RequestHead& head, const std::vector<Route>& routes, const EngineLimits& limits) {
  if (std::optional<HttpResponse> wrong = CheckFraming(head, limits)) return *std::move(wrong);
  std::uint64_t length = 0;
  if (head.content_lengths == 1) {
    const std::optional<std::uint64_t> parsed = ParseLength(head.content_length);
    if (!parsed) return ErrorResponse(400, "the Content-Length is not a number of bytes");
    length = *parsed;
  }
  const Target target = SplitTarget(head.target);
  const auto route = std::ranges::find_if(
      routes, [&](const Route& row) { return row.path == target.path && IsFor(row, head.method); });
  if (route == routes.end()) {
    std::string allowed = AllowedMethods(routes, target.path);
    return allowed.empty() ? ErrorResponse(404, "there is nothing at this path") : WrongMethod(std::move(allowed));
  }
  if (std::optional<HttpResponse> wrong = CheckConditions(head)) return *std::move(wrong);
  if (std::optional<HttpResponse> wrong = CheckBody(head, length, limits)) return *std::move(wrong);
  AcceptedHead accepted{&*route, std::string(target.query), static_cast<std::size_t>(length), head.method == "HEAD"};
  if (route->credentials == Credentials::kIgnored) return accepted;
  if (head.authorizations > 1) return ErrorResponse(400, "more than one Authorization");
  accepted.authorization = head.authorization;
  return accepted;
}

}  // namespace podium
