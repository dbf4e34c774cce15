#include "cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "wire/json.h"

namespace podium {
namespace {

spdlog::level::level_enum SpdLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

// spdlog writes line breaks as they are: a message with one would forge a line.
std::string Escaped(std::string_view message, LogForm form) {
  std::string text;
  AppendJsonString(text, message);
  return form == LogForm::kJson ? text : text.substr(1, text.size() - 2);
}

}  // namespace

struct Log::Impl {
  explicit Impl(LogForm log_form)
      : form(log_form), logger("podium", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {}

  const LogForm form;
  spdlog::logger logger;
};

Log::Log(LogForm form, LogLevel level) : impl_(std::make_unique<Impl>(form)) {
  impl_->logger.set_pattern(form == LogForm::kJson ? R"({"at":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","message":%v})"
                                                   : "%Y-%m-%dT%H:%M:%S.%fZ %l %v",
                            spdlog::pattern_time_type::utc);
  impl_->logger.set_level(SpdLevel(level));
  impl_->logger.flush_on(spdlog::level::debug);
}

Log::~Log() = default;

void Log::Write(LogLevel level, std::string_view message) {
  impl_->logger.log(SpdLevel(level), "{}", Escaped(message, impl_->form));
}

void Log::Announce(std::string_view message) {
  const auto before = impl_->logger.level();
  impl_->logger.set_level(spdlog::level::info);
  Write(LogLevel::kInfo, message);
  impl_->logger.set_level(before);
}

}  // namespace podium
