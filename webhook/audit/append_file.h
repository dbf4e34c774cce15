// One file that is only appended to, line by line, and survives what happens to files: a torn end, a full disk, a
// rotation by rename, removal. Not thread-safe: FileAuditSink holds it under its mutex.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "podium/ports.h"
#include "podium/result.h"

namespace podium {

// An open descriptor; closed with the last pointer to it, so that it can be synced while its file is being replaced.
class FileHandle {
 public:
  FileHandle(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ~FileHandle();
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  // Blocks until the device has the data. Thread-safe. Success for what cannot be synced (a pipe).
  [[nodiscard]] Status Sync() const;

 private:
  const int fd_;
  const bool owned_;
};

class AppendFile {
 public:
  // `path` "-" is standard output. A regular file is created with mode 0640, locked against a second writer, and its
  // torn last line moved aside to <path>.torn-<time>. kInvalidInput: a symbolic link, a directory, a device, a pipe.
  // kConflict: another process writes it. kCorrupt: the last line is longer than any line of ours.
  static Result<std::unique_ptr<AppendFile>> Open(const std::string& path, std::chrono::milliseconds look_after);

  // Appends whole lines (each with its newline), usually with one write(). outcome.bytes are in the file. A line that
  // is only half written is cut off again. Every `look_after` the path is looked at: after a rename or removal by
  // others a new file is begun.
  AppendOutcome Append(std::string_view lines);

  [[nodiscard]] std::shared_ptr<const FileHandle> handle() const { return handle_; }

 private:
  AppendFile(std::string path, std::chrono::milliseconds look_after)
      : path_(std::move(path)), look_after_(look_after) {}
  Status OpenAgain();
  [[nodiscard]] bool ReplacedByOthers();
  AppendOutcome WriteAll(std::string_view lines);
  void CutBack(std::size_t bytes);

  const std::string path_;
  const std::chrono::milliseconds look_after_;
  std::chrono::steady_clock::time_point next_look_{};
  std::shared_ptr<const FileHandle> handle_;  // null: the file went away and could not be begun again yet
  bool regular_ = false;
  bool torn_ = false;  // half a line could not be cut off: the next write begins with a newline
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace podium
