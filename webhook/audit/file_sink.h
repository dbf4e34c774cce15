// Audit lines into a file that is only ever appended to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "podium/ports.h"

namespace podium {

enum class AuditMode {
  kStrict,   // lines are written before their answers go out; an error refuses those requests
  kRelaxed,  // lines are queued (bounded); a full queue or a failing disk drops lines and counts them
};

struct AuditCounters {
  std::uint64_t written = 0;  // lines
  std::uint64_t dropped = 0;  // lines
  std::uint64_t errors = 0;   // failed writes and syncs
};

// Of relaxed mode: what may wait at most. At about 1 KiB a line this is a few seconds of a busy cluster.
struct AuditQueueLimits {
  std::size_t lines = 8192;
  std::size_t bytes = 8 << 20;
};

struct FileAuditOptions {
  AuditQueueLimits queue;
  std::chrono::milliseconds look_after{1'000};  // how often the path is compared with the open file (rotation)
};

// Thread-safe. One write() for each Append (strict) or batch (relaxed) on an O_APPEND descriptor; fdatasync every 100
// ms in the background. A torn last line found at the start is moved aside to <path>.torn-<time>. Errors are retried
// with the next lines (the file is opened again when it went away).
class FileAuditSink final : public AuditSink {
 public:
  // `path` "-" is standard output (a stalled reader is an error after 50 ms, never a hanging request). A regular file
  // gets mode 0640 and is locked: kConflict when another process writes it. kInvalidInput: a symbolic link, a device.
  static Result<std::unique_ptr<FileAuditSink>> Open(const std::string& path, AuditMode mode,
                                                     const FileAuditOptions& options = {});
  ~FileAuditSink() override;  // writes what is queued, tries once, and syncs

  // Strict: writes of a full disk may record a front part. Relaxed: the queue takes all of `lines` or none.
  AppendOutcome Append(std::string_view lines) override;
  [[nodiscard]] AuditCounters counters() const;

 private:
  struct Impl;
  explicit FileAuditSink(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
