#include "kube/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace podium {
namespace {

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

bool IsUnreserved(char c) { return IsHostCharacter(c) || c == '_' || c == '~'; }

// 0 when `text` is no port.
int ParsePort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && port >= 1 && port <= 65535 ? port : 0;
}

std::optional<Address> ParseAuthority(std::string_view authority) {
  Address address;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    address.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
    if (address.host.find(':') == std::string::npos || !IsIpLiteral(address.host)) return std::nullopt;
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    address.host = authority.substr(0, colon);
    port = authority.substr(colon);
    if (address.host.empty() || !std::all_of(address.host.begin(), address.host.end(), IsHostCharacter))
      return std::nullopt;
  }
  address.is_ip = IsIpLiteral(address.host);
  if (port.empty()) return address;
  if (port.front() != ':') return std::nullopt;
  address.port = ParsePort(port.substr(1));
  if (address.port == 0) return std::nullopt;
  return address;
}

}  // namespace

bool IsIpLiteral(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

std::optional<Address> ParseAddress(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  return ParseAuthority(url);
}

SplitUrl SplitServerUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  SplitUrl split{std::string(url.substr(0, path)), std::string(url.substr(path))};
  while (split.path.ends_with('/')) split.path.pop_back();
  return split;
}

std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsUnreserved(c))
      out += c;
    else
      out.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
  }
  return out;
}

}  // namespace podium
