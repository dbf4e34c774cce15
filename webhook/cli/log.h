// Diagnostics of `podium serve` on standard error, on spdlog. Not the audit log: lines may be lost, nobody waits for
// them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace podium {

enum class LogForm { kPlain, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Thread-safe. A line is always one line: text is escaped as in a JSON string.
class Log {
 public:
  Log(LogForm form, LogLevel level);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void Write(LogLevel level, std::string_view message);
  // Written at every level: that the process is ready, and where.
  void Announce(std::string_view message);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
