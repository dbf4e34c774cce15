#include "kube/credentials.h"

#include <algorithm>
#include <utility>

namespace podium {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::seconds kReadAgainAfter{60};
constexpr std::chrono::seconds kLeeway{10};
constexpr std::size_t kMaxTokenBytes = 64 << 10;

}  // namespace

CredentialSource::CredentialSource(TokenSource source, const ExecLimits& limits, SteadyNow now)
    : source_(std::move(source)), limits_(limits), now_(std::move(now)) {}

Result<Credential> CredentialSource::Current() {
  const SteadyTime asked = now_();
  const MutexLock lock(mutex_);
  if (known_ && now_() < until_) return credential_;
  // A plugin that hangs would else be waited for by one caller after the other.
  if (failure_ && asked < failed_at_) return *failure_;
  Result<Credential> read = Read();
  // The file may be missing for the moment in which somebody exchanges it: the token before is still good, or refused.
  if (!read && known_ && source_.kind == TokenSource::Kind::kFile) return credential_;
  if (!read) {
    failure_ = read.error();
    failed_at_ = now_();
    return read.error();
  }
  known_ = true;
  credential_ = *read;
  until_ = UsableUntil(credential_);
  return credential_;
}

bool CredentialSource::Reject(const std::string& token) {
  const MutexLock lock(mutex_);
  if (source_.kind != TokenSource::Kind::kFile && source_.kind != TokenSource::Kind::kExec) return false;
  if (known_ && credential_.token == token) known_ = false;
  return true;
}

Result<Credential> CredentialSource::Read() const {
  if (source_.kind == TokenSource::Kind::kExec) return RunExecPlugin(source_.exec, limits_);
  Credential credential;
  if (source_.kind == TokenSource::Kind::kLiteral) credential.token = source_.text;
  if (source_.kind != TokenSource::Kind::kFile) return credential;
  Result<std::string> text = ReadSmallFile(source_.text, kMaxTokenBytes);
  if (!text) return text.error().WithContext("reading the token");
  credential.token = std::move(*text);
  while (!credential.token.empty() && credential.token.back() <= ' ') credential.token.pop_back();
  if (credential.token.empty())
    return Error{ErrorKind::kInvalidInput, "the token file '" + source_.text + "' is empty"};
  return credential;
}

SteadyTime CredentialSource::UsableUntil(const Credential& credential) const {
  if (source_.kind == TokenSource::Kind::kFile) return now_() + kReadAgainAfter;
  if (!credential.expires) return SteadyTime::max();
  // Capped: a date of the far future would overflow the steady clock.
  const auto left = std::min<std::chrono::system_clock::duration>(
      *credential.expires - std::chrono::system_clock::now(), std::chrono::hours(24 * 365));
  return now_() + std::chrono::duration_cast<SteadyTime::duration>(left) - kLeeway;
}

}  // namespace podium
