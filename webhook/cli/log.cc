#include "cli/log.h"

#include <spdlog/pattern_formatter.h>
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

// spdlog writes line breaks as they are: a message with one would forge a line. %* is the message as a JSON string,
// with its quotes in the JSON form.
class EscapedMessage final : public spdlog::custom_flag_formatter {
 public:
  explicit EscapedMessage(LogForm form) : form_(form) {}

  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    std::string text;
    AppendJsonString(text, {message.payload.data(), message.payload.size()});
    const std::string_view quoted = text;
    const std::string_view line = form_ == LogForm::kJson ? quoted : quoted.substr(1, quoted.size() - 2);
    out.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedMessage>(form_);
  }

 private:
  const LogForm form_;
};

}  // namespace

struct Log::Impl {
  std::shared_ptr<spdlog::logger> logger;
};

// Also spdlog's default logger: what the engine has to say belongs to the same stream in the same form, and standard
// output may be the audit log.
Log::Log(LogForm form, LogLevel level) : impl_(std::make_unique<Impl>()) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<EscapedMessage>('*', form);
  formatter->set_pattern(form == LogForm::kJson ? R"({"at":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","message":%*})"
                                                : "%Y-%m-%dT%H:%M:%S.%fZ %l %*");
  impl_->logger = std::make_shared<spdlog::logger>("podium", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  impl_->logger->set_formatter(std::move(formatter));
  impl_->logger->set_level(SpdLevel(level));
  impl_->logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(impl_->logger);
}

Log::~Log() = default;

void Log::Write(LogLevel level, std::string_view message) { impl_->logger->log(SpdLevel(level), "{}", message); }

void Log::Announce(std::string_view message) {
  const auto before = impl_->logger->level();
  impl_->logger->set_level(spdlog::level::info);
  Write(LogLevel::kInfo, message);
  impl_->logger->set_level(before);
}

}  // namespace podium
