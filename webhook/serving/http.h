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
  std::string_view peer;                // "127.0.0.1:40312", from the socket, never from a header
  std::string_view authorization = {};  // the field's value, on routes that ask for it; a secret
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

// An answer that another thread makes, for work that takes longer than a reactor may wait.
struct LaterAnswer {
  // From any thread, once, also when the connection or the engine is gone by then. Never called: 503 after
  // EngineLimits::answer.
  using Done = std::function<void(HttpResponse)>;
  // Called exactly once, on the reactor's thread. May throw: 500. The request's views are not valid any more.
  std::function<void(Done done)> begin;
};

using Answer = std::variant<HttpResponse, JournaledAnswer, LaterAnswer>;

// Runs on a reactor thread: microseconds, no blocking. May throw: the engine answers 500 and lives on.
using Handler = std::function<Answer(const HttpRequest&)>;

// Takes the entries of one turn of a reactor, joined in the order of their requests, and tells how many bytes from the
// front it keeps. Called by all reactor threads, at most once in a turn. Throwing keeps nothing.
using Journal = std::function<std::size_t(std::string_view entries)>;

enum class Credentials { kIgnored, kPassed };  // whether the handler sees the Authorization field

struct Route {
  std::string method;
  std::string path;  // exact
  Handler handler;
  Credentials credentials = Credentials::kIgnored;
};

}  // namespace podium
