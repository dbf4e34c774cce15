#include "cli/endpoint.h"

#include <charconv>
#include <optional>

namespace podium {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

Error BadAddress(std::string_view text) {
  return {ErrorKind::kInvalidInput,
          "'" + std::string(text) +
              "' is no address to listen on; wanted: ADDRESS:PORT, for example 0.0.0.0:9443 or [::]:9443"};
}

Error BadDuration(std::string_view text) {
  return {
      ErrorKind::kInvalidInput,
      "'" + std::string(text) + "' is no duration; wanted: a whole number of ms, s or m up to an hour, for example 5s"};
}

}  // namespace

Result<SocketAddress> ParseSocketAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text);
  const auto port = ParseNumber<std::uint16_t>(text.substr(colon + 1));
  std::string_view address = text.substr(0, colon);
  const bool bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (!port || (!bracketed && address.find_first_of(":[]") != std::string_view::npos)) return BadAddress(text);
  return SocketAddress{address.empty() ? "0.0.0.0" : std::string(address), *port};
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = ParseNumber<std::uint32_t>(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  const std::int64_t factor = unit == "ms" ? 1 : unit == "s" ? 1'000 : unit == "m" ? 60'000 : 0;
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(1);
  if (!count || factor == 0 || *count * factor > kMost.count()) return BadDuration(text);
  return std::chrono::milliseconds(*count * factor);
}

std::string FormatSocketAddress(const SocketAddress& address) {
  const bool v6 = address.address.find(':') != std::string::npos;
  return (v6 ? "[" + address.address + "]" : address.address) + ":" + std::to_string(address.port);
}

}  // namespace podium
