// Where a server is. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podium {

struct Address {
  std::string host;  // an IPv6 address without its brackets
  int port = 443;
  bool is_ip = false;
};

bool IsIpLiteral(const std::string& host);

// ParseAddress("https://[::1]:6443") -> ::1, 6443. Scheme, host and port only; a path, a query or a user in it would be
// dropped silently, so they are refused. Nothing for anything else.
std::optional<Address> ParseAddress(std::string_view url);

// A server's URL without and with only its path: "https://a:1/k8s/clusters/x/" -> "https://a:1" and "/k8s/clusters/x".
// Some API servers live behind such a path.
struct SplitUrl {
  std::string origin;
  std::string path;  // empty, or begins with '/' and does not end with one
};
SplitUrl SplitServerUrl(std::string_view url);

// PercentEncoded("a/b c") -> "a%2Fb%20c": one segment of a path, or a name or a value of a query (RFC 3986, 2.3).
std::string PercentEncoded(std::string_view text);

}  // namespace podium
