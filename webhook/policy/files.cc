// Reading policy files from disk. Everything is checked on the open file, so what was checked is what is read.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "policy/compile.h"
#include "wire/yaml.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// A ConfigMap is swapped between two looks at it at most once in a while; three times in a row is something else.
constexpr int kAttempts = 3;
constexpr std::size_t kMostFiles = 100;

class OpenFile {
 public:
  // O_NONBLOCK: opening a FIFO without a writer would wait for ever.
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

ErrorKind KindOf(int number) {
  if (number == ENOENT || number == ENOTDIR) return ErrorKind::kNotFound;
  if (number == EACCES || number == EPERM) return ErrorKind::kPermission;
  if (number == ELOOP || number == ENAMETOOLONG) return ErrorKind::kInvalidInput;
  return ErrorKind::kUnavailable;
}

Error CannotRead(const std::string& name, int number) {
  return {KindOf(number), "cannot read policy " + name + ": " + std::generic_category().message(number)};
}

Error TooLarge(const std::string& name) {
  return {ErrorKind::kInvalidInput, "policy file " + name + " is larger than " + std::to_string(YamlLimits{}.bytes) +
                                        " bytes, the most a ConfigMap can hold; split it or remove what is not policy"};
}

std::optional<Error> CheckRegular(const std::string& name, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return CannotRead(name, errno);
  if (!S_ISREG(status.st_mode))
    return Error{ErrorKind::kInvalidInput, "policy file " + name + " is not a regular file; give a YAML file"};
  if (static_cast<std::uint64_t>(status.st_size) > YamlLimits{}.bytes) return TooLarge(name);
  return std::nullopt;
}

// `name` is what the user called it; `path` where it is read.
Result<PolicyFile> ReadFile(const std::string& name, const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return CannotRead(name, errno);
  if (std::optional<Error> error = CheckRegular(name, file.fd())) return *error;
  PolicyFile read{.name = name, .text = {}};
  char buffer[1 << 14];
  for (;;) {
    const ssize_t count = ::read(file.fd(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(name, errno);
    if (count == 0) return read;
    read.text.append(buffer, static_cast<std::size_t>(count));
    if (read.text.size() > YamlLimits{}.bytes) return TooLarge(name);  // it grew after the check
  }
}

bool IsPolicyName(const std::string& name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

Result<std::vector<std::string>> ListPolicyNames(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (IsPolicyName(name)) names.push_back(std::move(name));
  }
  if (error) return CannotRead(directory, error.value());
  if (names.empty())
    return Error{ErrorKind::kNotFound, "there is no *.yaml or *.yml file in policy directory " + directory +
                                           " (hidden files and folders below it are not read)"};
  if (names.size() > kMostFiles)
    return Error{ErrorKind::kInvalidInput, "policy directory " + directory + " has " + std::to_string(names.size()) +
                                               " files; allowed: at most " + std::to_string(kMostFiles)};
  std::sort(names.begin(), names.end());
  return names;
}

// What the `..data` link of a mounted ConfigMap leads to; empty in any other directory.
std::string DataTarget(const std::string& directory) {
  std::error_code error;
  const fs::path target = fs::read_symlink(fs::path(directory) / "..data", error);
  return error ? std::string() : target.string();
}

Result<std::vector<PolicyFile>> ReadNamed(const std::string& directory) {
  const Result<std::vector<std::string>> names = ListPolicyNames(directory);
  if (!names) return names.error();
  std::vector<PolicyFile> files;
  for (const std::string& name : *names) {
    const std::string path = (fs::path(directory) / name).string();
    Result<PolicyFile> file = ReadFile(path, path);
    if (!file) return file.error();
    files.push_back(*std::move(file));
  }
  return files;
}

// The kubelet replaces a ConfigMap by renaming a new `..data` over the old one. Files read before and after that do not
// belong together, so we look at the link again when all is read.
Result<std::vector<PolicyFile>> ReadDirectory(const std::string& directory) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string before = DataTarget(directory);
    Result<std::vector<PolicyFile>> files = ReadNamed(directory);
    if (before == DataTarget(directory)) return files;
  }
  return Error{ErrorKind::kUnavailable,
               "policy directory " + directory + " keeps changing while it is read; try again"};
}

}  // namespace

Result<std::vector<PolicyFile>> ReadPolicyFiles(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return Error{ErrorKind::kNotFound, "there is no policy file or directory " + path};
  if (error) return CannotRead(path, error.value());
  if (status.type() == fs::file_type::directory) return ReadDirectory(path);
  Result<PolicyFile> file = ReadFile(path, path);
  if (!file) return file.error();
  return std::vector<PolicyFile>{*std::move(file)};
}

}  // namespace podium
