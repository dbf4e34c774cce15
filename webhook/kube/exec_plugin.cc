#include "kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <vector>

#include "core/text.h"
#include "kube/json_scan.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// --- the child's surroundings ---------------------------------------------------------------------------------------

std::vector<std::string> Environment(const ExecPlugin& plugin) {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) values[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.env) values[name] = value;
  values["KUBERNETES_EXEC_INFO"] = plugin.info;
  std::vector<std::string> lines;
  lines.reserve(values.size());
  for (const auto& [name, value] : values) lines.emplace_back(name).append("=").append(value);
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Descriptors and signals as a fresh program expects them; our sockets and files stay ours.
class SpawnSetting {
 public:
  explicit SpawnSetting(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSetting() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSetting(const SpawnSetting&) = delete;
  SpawnSetting& operator=(const SpawnSetting&) = delete;

  // 0, or the error number.
  int Spawn(const ExecPlugin& plugin, pid_t& child) {
    std::vector<std::string> words = plugin.args;
    words.insert(words.begin(), plugin.command);
    std::vector<std::string> environment = Environment(plugin);
    return posix_spawnp(&child, plugin.command.c_str(), &actions_, &attributes_, Pointers(words).data(),
                        Pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// --- the running child ----------------------------------------------------------------------------------------------

// A plugin that runs. Killed, with all it started, when it goes out of scope.
class RunningPlugin {
 public:
  RunningPlugin(pid_t child, int output)
      : child_(child), output_(output), exit_(static_cast<int>(syscall(SYS_pidfd_open, child, 0))) {}
  ~RunningPlugin() {
    kill(-child_, SIGKILL);
    if (!reaped_) waitpid(child_, nullptr, 0);
  }
  RunningPlugin(const RunningPlugin&) = delete;
  RunningPlugin& operator=(const RunningPlugin&) = delete;

  // All it printed until it ended. What a grandchild that outlives it would still print is not waited for.
  Result<std::string> Output(const std::string& name, const ExecLimits& limits) {
    if (exit_.get() < 0)
      return Error{ErrorKind::kUnavailable, name + " cannot be watched: the system has no pidfd_open (Linux 5.3)"};
    const SteadyClock::time_point deadline = SteadyClock::now() + limits.time;
    std::string output;
    bool ended = false;
    while (!ended) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
      pollfd ready[] = {{output_.get(), POLLIN, 0}, {exit_.get(), POLLIN, 0}};
      if (left.count() <= 0 || poll(ready, 2, static_cast<int>(left.count())) == 0)
        return Error{ErrorKind::kTimeout, name + " did not end within " + std::to_string(limits.time.count()) + " ms"};
      ended = ready[1].revents != 0;
      if (!Drain(output, limits.output_bytes))
        return Error{ErrorKind::kInvalidInput, name + " printed more than " + std::to_string(limits.output_bytes) +
                                                   " bytes, which no credential has"};
    }
    return output;
  }

  // Requires: Output has returned a text, so the child has ended.
  [[nodiscard]] int ExitStatus() {
    int status = 0;
    reaped_ = waitpid(child_, &status, 0) == child_;
    return status;
  }

 private:
  // Reads what is there now; false when that is over the limit.
  bool Drain(std::string& output, std::size_t limit) {
    char buffer[4096];
    ssize_t size = 0;
    while (output_.get() >= 0 && (size = read(output_.get(), buffer, sizeof buffer)) > 0) {
      output.append(buffer, static_cast<std::size_t>(size));
      if (output.size() > limit) return false;
    }
    if (size == 0) output_.Close();
    return true;
  }

  const pid_t child_;
  Descriptor output_;
  Descriptor exit_;
  bool reaped_ = false;
};

std::optional<int> Number(std::string_view text, std::size_t at, std::size_t size) {
  int number = 0;
  if (text.size() < at + size || text[at] < '0') return std::nullopt;
  const char* end = text.data() + at + size;
  const auto [stop, error] = std::from_chars(text.data() + at, end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::minutes> Offset(std::string_view zone) {
  if (zone == "Z" || zone == "z") return std::chrono::minutes(0);
  const std::optional<int> hours = Number(zone, 1, 2);
  const std::optional<int> minutes = Number(zone, 4, 2);
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || !hours || !minutes)
    return std::nullopt;
  const std::chrono::minutes offset(60 * *hours + *minutes);
  return zone[0] == '-' ? -offset : offset;
}

}  // namespace

std::optional<TimePoint> ParseRfc3339(std::string_view text) {
  // A TimePoint ends in 2262; some plugins say 9999 for "never".
  const bool beyond = text.substr(0, 4) > "2261" && Number(text, 0, 4).has_value();
  const Result<TimePoint> day = ParseDate(beyond ? "2261-12-31" : text.substr(0, 10));
  const std::optional<int> hours = Number(text, 11, 2);
  const std::optional<int> minutes = Number(text, 14, 2);
  const std::optional<int> seconds = Number(text, 17, 2);
  if (!day || !hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  if ((text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':') return std::nullopt;
  std::string_view zone = text.substr(19);
  if (zone.starts_with('.')) zone.remove_prefix(std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  const std::optional<std::chrono::minutes> offset = Offset(zone);
  if (!offset) return std::nullopt;
  return *day + std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds) - *offset;
}

Result<Credential> ReadExecCredential(std::string_view json, std::string_view api_version) {
  const auto invalid = [](const std::string& message) { return Error{ErrorKind::kInvalidInput, message}; };
  while (!json.empty() && (json.back() == '\n' || json.back() == '\r' || json.back() == ' ')) json.remove_suffix(1);
  if (MemberText(json, "kind") != "ExecCredential") return invalid("its output is no ExecCredential object in JSON");
  if (MemberText(json, "apiVersion") != api_version)
    return invalid("its ExecCredential is of apiVersion " + Quoted(MemberText(json, "apiVersion")) + "; wanted is " +
                   std::string(api_version));
  const std::string_view status = MemberOf(json, "status").value_or("");
  Credential credential;
  credential.token = MemberText(status, "token");
  credential.client_certificate_pem = MemberText(status, "clientCertificateData");
  credential.client_key_pem = MemberText(status, "clientKeyData");
  if (credential.client_certificate_pem.empty() != credential.client_key_pem.empty())
    return invalid("its status has one of clientCertificateData and clientKeyData; they belong together");
  if (credential.token.empty() && credential.client_key_pem.empty())
    return invalid("its status has neither a token nor a client certificate");
  const std::string expires = MemberText(status, "expirationTimestamp");
  if (!expires.empty()) credential.expires = ParseRfc3339(expires);
  if (!expires.empty() && !credential.expires)
    return invalid("its expirationTimestamp is " + Quoted(expires) + "; wanted is a time such as 2026-11-29T16:58:33Z");
  return credential;
}

Result<Credential> RunExecPlugin(const ExecPlugin& plugin, const ExecLimits& limits) {
  const std::string name = "the credential plugin " + Quoted(plugin.command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorKind::kUnavailable, "no pipe for " + name + ": too many files"};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Descriptor input(ends[1]);
  pid_t child = 0;
  if (const int error = SpawnSetting(input.get()).Spawn(plugin, child); error != 0) {
    close(ends[0]);
    return Error{ErrorKind::kUnavailable,
                 name + " cannot be started: " + std::generic_category().message(error) + "; is it installed?"};
  }
  input.Close();
  RunningPlugin running(child, ends[0]);
  const Result<std::string> output = running.Output(name, limits);
  if (!output) return output.error();
  if (const int status = running.ExitStatus(); status != 0) {
    return Error{ErrorKind::kUnavailable,
                 name + (WIFEXITED(status) ? " ended with status " + std::to_string(WEXITSTATUS(status))
                                           : " was ended by signal " + std::to_string(WTERMSIG(status)))};
  }
  Result<Credential> credential = ReadExecCredential(*output, plugin.api_version);
  if (!credential) return credential.error().WithContext(name);
  return credential;
}

}  // namespace podium
