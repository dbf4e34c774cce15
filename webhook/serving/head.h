// What the head of a request must be before its body is read. Pure: no socket, no parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "serving/engine.h"
#include "serving/http.h"

namespace podium {

// The facts of a parsed head that matter. Views point into the connection's buffer.
struct RequestHead {
  std::string_view method;
  std::string_view target;  // "/mutate?timeout=10s"
  bool http11 = true;       // false: HTTP/1.0
  bool keep_alive = true;   // what the request asks for
  std::size_t fields = 0;
  std::size_t hosts = 0;  // how often the field is there
  std::size_t content_lengths = 0;
  std::string_view content_length;
  std::size_t content_types = 0;
  std::string_view content_type;
  std::size_t authorizations = 0;
  std::string_view authorization;
  bool transfer_encoding = false;
  bool content_encoding = false;
  bool expect = false;
  bool range = false;
  bool folded = false;  // a field value goes on in the next line (obs-fold)
};

struct AcceptedHead {
  const Route* route = nullptr;
  std::string query;  // without the '?'
  std::size_t body_bytes = 0;
  bool head_only = false;  // HEAD: the answer's head without its body
  std::string authorization = {};
};

// A request that is answered by the engine itself; the connection is closed after it.
using HeadVerdict = std::variant<AcceptedHead, HttpResponse>;

// False for a first byte that no method begins with: a TLS hello on a plain port need not wait for the end of its
// "head".
bool MayBeginRequest(char first);

HeadVerdict JudgeHead(const RequestHead& head, const std::vector<Route>& routes, const EngineLimits& limits);

// {"error": "..."} with the status.
HttpResponse ErrorResponse(int status, std::string_view message);
// 503 that a kube-apiserver tries again: it does so only with an integer Retry-After (client-go/rest/with_retry.go).
HttpResponse OverloadedResponse(std::string_view message);

}  // namespace podium
