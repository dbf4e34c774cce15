#include "core/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace podium {
namespace {

class OpenFile {
 public:
  // O_NONBLOCK: opening a FIFO without a writer would wait for ever. O_NOCTTY: a terminal must not become ours.
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
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

const char* NameOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

// Looks at the open file, so what was checked is what is read.
Result<std::size_t> SizeOfRegular(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return FileError(errno);
  if (S_ISREG(status.st_mode)) return static_cast<std::size_t>(status.st_size);
  return Error{ErrorKind::kInvalidInput, std::string("it is ") + NameOf(status.st_mode) + "; wanted: a regular file"};
}

}  // namespace

Error FileError(int number) {
  // How open() answers on a socket, and on a device without a driver.
  if (number == ENXIO) return {ErrorKind::kInvalidInput, "it is a socket or a device; wanted: a regular file"};
  return {KindOf(number), std::generic_category().message(number)};
}

Result<std::string> ReadRegularFile(const std::string& path, std::size_t most_bytes) {
  const OpenFile file(path);
  if (file.fd() < 0) return FileError(errno);
  const Result<std::size_t> size = SizeOfRegular(file.fd());
  if (!size) return size.error();
  std::string text(std::min(*size, most_bytes) + 1, '\0');  // the one more finds the end
  std::size_t filled = 0;
  while (filled <= most_bytes) {
    if (filled == text.size()) text.resize(std::min(2 * filled, most_bytes + 1));  // it grew, or lies as /proc does
    const ssize_t got = ::read(file.fd(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

std::string FileMark(const std::string& path) {
  struct stat file {};
  if (path.empty() || stat(path.c_str(), &file) != 0) return "-";
  return std::to_string(file.st_dev) + '/' + std::to_string(file.st_ino) + '/' + std::to_string(file.st_size) + '/' +
         std::to_string(file.st_mtim.tv_sec) + '.' + std::to_string(file.st_mtim.tv_nsec);
}

}  // namespace podium
