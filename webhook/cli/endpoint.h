// Addresses and durations as they are written on the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

struct SocketAddress {
  std::string address;  // without brackets
  std::uint16_t port = 0;
  bool operator==(const SocketAddress&) const = default;
};

// "0.0.0.0:9443", "[::1]:0", ":8080" (every IPv4 address). Port 0 is any free one.
Result<SocketAddress> ParseSocketAddress(std::string_view text);

// "5s", "500ms", "2m", "0s"; at most an hour.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// "[::1]:9443": as part of a URL.
std::string FormatSocketAddress(const SocketAddress& address);

}  // namespace podium
