// Podium's own operations listener: plain HTTP, no secrets.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

struct PlainUrl {
  std::string host;  // an IPv6 address without its brackets
  std::string port;
  bool operator==(const PlainUrl&) const = default;
};

// "http://127.0.0.1:8080" (a '/' behind it is fine). kInvalidInput for anything else: another scheme, a path, a user.
Result<PlainUrl> ParsePlainUrl(std::string_view url);

struct PlainLimits {
  std::chrono::milliseconds overall{5'000};  // after the name was resolved
  std::size_t max_bytes = 8 << 20;           // of the reply with its head
};

// GET `path` on a connection of its own; the body of a 200. Errors: kUnavailable (away, another status, not HTTP),
// kTimeout, kInvalidInput (a reply over the limit).
Result<std::string> GetPlain(const PlainUrl& url, const std::string& path, const PlainLimits& limits = {});

}  // namespace podium
