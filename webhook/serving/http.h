// Our own view of HTTP: what a handler sees and returns. No Boost type leaves serving/engine.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

struct HttpRequest {
  std::string_view method;
  std::string_view path;   // without the query
  std::string_view query;  // without the '?'
  std::string_view body;
  std::string_view peer;  // "127.0.0.1:40312", from the socket, never from a header
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // constants only, never text from a request
};

// Runs on a reactor thread: microseconds, no blocking. May throw: the engine answers 500 and lives on.
using Handler = std::function<HttpResponse(const HttpRequest&)>;

struct Route {
  std::string method;
  std::string path;  // exact
  Handler handler;
};

}  // namespace podium
