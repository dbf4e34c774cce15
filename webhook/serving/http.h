// Our own view of HTTP: what a handler sees and returns. No Boost type leaves serving/engine.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

// An answer that may not leave before its entry is in the engine's journal.
struct JournaledAnswer {
  std::string entry;  // not empty
  // Called exactly once, on the same thread, after the journal has been asked; `kept`: it has the entry. May throw.
  std::function<HttpResponse(bool kept)> answer;
};

// Runs on a reactor thread: microseconds, no blocking. May throw: the engine answers 500 and lives on.
using Handler = std::function<std::variant<HttpResponse, JournaledAnswer>(const HttpRequest&)>;

// Takes the entries of one turn of a reactor, joined in the order of their requests, and tells how many bytes from the
// front it keeps. Called by all reactor threads, at most once in a turn. Throwing keeps nothing.
using Journal = std::function<std::size_t(std::string_view entries)>;

struct Route {
  std::string method;
  std::string path;  // exact
  Handler handler;
};

}  // namespace podium
