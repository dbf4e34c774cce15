#include "audit/append_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

#include "core/text.h"

namespace podium {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr off_t kMaxTornTail = 1 << 20;
// Into a pipe that nobody empties: long enough for a reader that is merely busy, short beside a webhook's deadline.
constexpr int kPipePatienceMs = 50;

std::string ErrnoText(int number) { return std::generic_category().message(number); }

Error FileError(const std::string& path, std::string_view doing, int number) {
  const ErrorKind kind = number == EACCES || number == EPERM || number == EROFS ? ErrorKind::kPermission
                         : number == ENOENT || number == ENOTDIR                ? ErrorKind::kNotFound
                                                                                : ErrorKind::kUnavailable;
  return {kind, "audit log " + path + ": cannot " + std::string(doing) + ": " + ErrnoText(number)};
}

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A new name in a directory survives a power cut only after the directory is synced. Best effort: not every file
// system can, and the lines are synced anyway.
void SyncDirectory(const std::string& path) {
  const FileHandle directory(::open(DirectoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), true);
  if (directory.fd() >= 0) static_cast<void>(::fsync(directory.fd()));
}

Result<std::shared_ptr<const FileHandle>> OpenRegular(const std::string& path) {
  // O_NONBLOCK: opening a pipe or a device must not hang before it can be refused.
  const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int fd = ::open(path.c_str(), flags, kFileMode);
  if (fd < 0 && errno == ELOOP) {
    return Error{ErrorKind::kInvalidInput,
                 "audit log " + path + ": is a symbolic link; give the path of the file itself"};
  }
  if (fd < 0) return FileError(path, "open", errno);
  auto handle = std::make_shared<const FileHandle>(fd, true);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FileError(path, "look at", errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorKind::kInvalidInput,
                 "audit log " + path + ": is not a regular file; use '-' for standard output"};
  }
  // A second writer would cut off the other's lines when it cleans up a torn end. A file system without locks is fine.
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{ErrorKind::kConflict,
                 "audit log " + path + ": another process is writing it; give each process its own file"};
  }
  return Result<std::shared_ptr<const FileHandle>>(std::move(handle));
}

// The bytes after the last newline, or kCorrupt when there are too many of them to be a line of ours.
Result<std::string> ReadTornTail(const FileHandle& file, const std::string& path, off_t size) {
  const off_t begin = size > kMaxTornTail ? size - kMaxTornTail : 0;
  std::string tail(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(file.fd(), tail.data(), tail.size(), begin);
  if (got != static_cast<ssize_t>(tail.size())) return FileError(path, "read the end", got < 0 ? errno : EIO);
  const std::size_t newline = tail.rfind('\n');
  if (newline != std::string::npos) return tail.substr(newline + 1);
  if (begin == 0) return tail;
  return Error{ErrorKind::kCorrupt, "audit log " + path + ": its last line is longer than 1 MiB; this is no audit log"};
}

bool EndsWithNewline(const FileHandle& file, off_t size) {
  char last = 0;
  return size == 0 || (::pread(file.fd(), &last, 1, size - 1) == 1 && last == '\n');
}

std::string CompactTime() {
  std::string text;
  for (const char c : FormatRfc3339(std::chrono::system_clock::now()))
    if (c != '-' && c != ':') text.push_back(c);
  return text;
}

Status SaveAside(const std::string& path, std::string_view bytes) {
  const FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode), true);
  if (file.fd() < 0) return FileError(path, "create", errno);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file.fd(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FileError(path, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return file.Sync();
}

// What a killed process left: half a line. It is kept, but not in the way of the next line.
Status MoveTornTailAside(const FileHandle& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.fd(), &info) != 0) return FileError(path, "look at", errno);
  if (EndsWithNewline(file, info.st_size)) return {};
  Result<std::string> tail = ReadTornTail(file, path, info.st_size);
  if (!tail) return tail.error();
  if (Status saved = SaveAside(path + ".torn-" + CompactTime(), *tail); !saved) return saved;
  if (::ftruncate(file.fd(), info.st_size - static_cast<off_t>(tail->size())) != 0)
    return FileError(path, "cut off a torn line", errno);
  return {};
}

// One write() of the front of `lines`. Returns what was written, or -errno.
ssize_t WriteSome(int fd, std::string_view lines) {
  while (true) {
    const ssize_t wrote = ::write(fd, lines.data(), lines.size());
    if (wrote >= 0) return wrote;
    if (errno != EINTR) return -errno;
  }
}

// The same into something that may have a slow reader. PIPE_BUF bytes are written whole or not at all, and a pipe that
// polls as writable takes that many without blocking: so a stalled reader costs patience, not a thread.
ssize_t WriteSomeToPipe(int fd, std::string_view lines) {
  if (lines.size() > PIPE_BUF) {
    const std::size_t newline = lines.rfind('\n', PIPE_BUF - 1);
    lines = lines.substr(0, newline == std::string_view::npos ? PIPE_BUF : newline + 1);
  }
  pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
  const int ready = ::poll(&wait, 1, kPipePatienceMs);
  if (ready < 0) return -errno;
  return ready == 0 ? -ETIMEDOUT : WriteSome(fd, lines);
}

}  // namespace

FileHandle::~FileHandle() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

Status FileHandle::Sync() const {
  if (::fdatasync(fd_) == 0 || errno == EINVAL || errno == EROFS) return {};
  return Error{ErrorKind::kUnavailable, "audit log: cannot sync: " + ErrnoText(errno)};
}

Result<std::unique_ptr<AppendFile>> AppendFile::Open(const std::string& path, std::chrono::milliseconds look_after) {
  std::unique_ptr<AppendFile> file(new AppendFile(path, look_after));
  if (path == "-") {
    file->handle_ = std::make_shared<const FileHandle>(STDOUT_FILENO, false);
    return Result<std::unique_ptr<AppendFile>>(std::move(file));
  }
  if (Status opened = file->OpenAgain(); !opened) return opened.error();
  return Result<std::unique_ptr<AppendFile>>(std::move(file));
}

Status AppendFile::OpenAgain() {
  handle_ = nullptr;  // also gives up the lock
  auto handle = OpenRegular(path_);
  if (!handle) return handle.error();
  if (Status clean = MoveTornTailAside(**handle, path_); !clean) return clean;
  struct stat info {};
  if (::fstat((*handle)->fd(), &info) != 0) return FileError(path_, "look at", errno);
  SyncDirectory(path_);
  regular_ = true;
  torn_ = false;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  handle_ = *std::move(handle);
  next_look_ = std::chrono::steady_clock::now() + look_after_;
  return {};
}

bool AppendFile::ReplacedByOthers() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return false;
  next_look_ = now + look_after_;
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return true;
  return info.st_dev != device_ || info.st_ino != inode_;
}

AppendOutcome AppendFile::Append(std::string_view lines) {
  if (handle_ == nullptr || (regular_ && ReplacedByOthers())) {
    if (Status opened = OpenAgain(); !opened) return {0, opened.error()};
  }
  if (torn_) {
    const AppendOutcome ended = WriteAll("\n");
    if (ended.error) return {0, ended.error};
    torn_ = false;
  }
  return WriteAll(lines);
}

AppendOutcome AppendFile::WriteAll(std::string_view lines) {
  std::size_t done = 0;
  int reason = 0;
  while (done < lines.size() && reason == 0) {
    const std::string_view rest = lines.substr(done);
    const ssize_t wrote = regular_ ? WriteSome(handle_->fd(), rest) : WriteSomeToPipe(handle_->fd(), rest);
    if (wrote < 0) reason = static_cast<int>(-wrote);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  if (reason == 0) return {done, std::nullopt};
  const std::size_t whole = lines.substr(0, done).rfind('\n') + 1;  // npos + 1 is 0: not one line is whole
  CutBack(done - whole);
  return {whole, FileError(path_, "write", reason)};
}

// Takes the last `bytes` bytes off again. Requires: they are ours, and half a line.
void AppendFile::CutBack(std::size_t bytes) {
  if (bytes == 0) return;
  struct stat info {};
  torn_ = !regular_ || ::fstat(handle_->fd(), &info) != 0 ||
          ::ftruncate(handle_->fd(), info.st_size - static_cast<off_t>(bytes)) != 0;
}

}  // namespace podium
