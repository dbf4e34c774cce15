#include "serving/reply.h"

#include <array>
#include <charconv>
#include <ctime>

namespace podium {
namespace {

struct StatusRow {
  int status;
  std::string_view phrase;
};

constexpr StatusRow kStatuses[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

void AppendNumber(std::string& out, std::size_t number) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", formatted once a second for each thread. Not by strftime: its names follow
// the process's locale.
std::string_view DateField() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::time_t formatted_at = -1;
  thread_local std::array<char, 48> text;
  thread_local std::size_t length = 0;
  const std::time_t now = std::time(nullptr);
  if (now == formatted_at) return {text.data(), length};
  std::tm utc{};
  gmtime_r(&now, &utc);
  const int written =
      std::snprintf(text.data(), text.size(), "Date: %s, %02u %s %04u %02u:%02u:%02u GMT\r\n", kDays[utc.tm_wday],
                    static_cast<unsigned>(utc.tm_mday) % 100, kMonths[utc.tm_mon],
                    static_cast<unsigned>(utc.tm_year + 1900) % 10'000, static_cast<unsigned>(utc.tm_hour) % 100,
                    static_cast<unsigned>(utc.tm_min) % 100, static_cast<unsigned>(utc.tm_sec) % 100);
  length = static_cast<std::size_t>(written);
  formatted_at = now;
  return {text.data(), length};
}

std::string_view ConnectionField(ReplyOptions::Connection connection) {
  switch (connection) {
    case ReplyOptions::Connection::kKeep: return "";
    case ReplyOptions::Connection::kKeepExplicit: return "Connection: keep-alive\r\n";
    case ReplyOptions::Connection::kClose: return "Connection: close\r\n";
  }
  return "";
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  for (const StatusRow& row : kStatuses)
    if (row.status == status) return row.phrase;
  return "Unknown";
}

std::string SerializeReply(const HttpResponse& response, const ReplyOptions& options) {
  constexpr std::size_t kUsualHeadBytes = 256;
  std::string out;
  out.reserve(kUsualHeadBytes + response.body.size());
  out.append("HTTP/1.1 ");
  AppendNumber(out, static_cast<std::size_t>(response.status));
  out.append(" ").append(ReasonPhrase(response.status)).append("\r\n").append(DateField());
  if (!response.body.empty()) out.append("Content-Type: ").append(response.content_type).append("\r\n");
  out.append("Content-Length: ");
  AppendNumber(out, response.body.size());
  out.append("\r\n").append(ConnectionField(options.connection));
  for (const auto& [name, value] : response.headers) out.append(name).append(": ").append(value).append("\r\n");
  out.append("\r\n");
  if (options.body == ReplyOptions::Body::kSend) out.append(response.body);
  return out;
}

}  // namespace podium
