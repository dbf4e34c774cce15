#include "audit/file_sink.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <thread>
#include <utility>

#include "audit/append_file.h"
#include "core/mutex.h"
#include "core/text.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSyncEvery{100};
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLastRetry{2'000};

}  // namespace

// One background thread in both modes: it syncs, and in relaxed mode it also writes. The file is only touched by the
// request threads (strict, under mutex_) or only by the background thread (relaxed); syncing needs no lock, because the
// handle is held while it goes on.
struct FileAuditSink::Impl {
  Impl(std::unique_ptr<AppendFile> audit_file, AuditMode audit_mode, const AuditQueueLimits& limits)
      : mode(audit_mode), queue_limits(limits), file(std::move(audit_file)) {}

  AppendOutcome AppendStrict(std::string_view lines);
  AppendOutcome Enqueue(std::string_view lines);
  void Run();
  bool WaitForWork();
  void WriteQueue();
  void GiveUpQueue();
  void SyncNow();

  const AuditMode mode;
  const AuditQueueLimits queue_limits;
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> errors{0};

  Mutex mutex;
  std::condition_variable_any wake;
  std::shared_ptr<const FileHandle> unsynced PODIUM_GUARDED_BY(mutex);  // written to since the last sync
  std::string queue PODIUM_GUARDED_BY(mutex);                           // relaxed: lines, each with its newline
  std::size_t waiting_lines PODIUM_GUARDED_BY(mutex) = 0;               // in queue and batch
  std::size_t waiting_bytes PODIUM_GUARDED_BY(mutex) = 0;
  bool stopping PODIUM_GUARDED_BY(mutex) = false;

  std::unique_ptr<AppendFile> file;  // strict: guarded by mutex; relaxed: background thread only
  std::string batch;                 // background thread only: what is being written
  std::chrono::milliseconds retry{0};
  std::thread thread;
};

AppendOutcome FileAuditSink::Impl::AppendStrict(std::string_view lines) {
  const MutexLock lock(mutex);
  AppendOutcome outcome = file->Append(lines);
  if (outcome.error) errors.fetch_add(1, std::memory_order_relaxed);
  if (outcome.bytes == 0) return outcome;
  written.fetch_add(CountLines(lines.substr(0, outcome.bytes)), std::memory_order_relaxed);
  unsynced = file->handle();
  return outcome;
}

AppendOutcome FileAuditSink::Impl::Enqueue(std::string_view lines) {
  const std::uint64_t count = CountLines(lines);
  const MutexLock lock(mutex);
  if (waiting_lines + count > queue_limits.lines || waiting_bytes + lines.size() > queue_limits.bytes) {
    dropped.fetch_add(count, std::memory_order_relaxed);
    return {0, Error{ErrorKind::kUnavailable, "audit log: " + std::to_string(waiting_lines) +
                                                  " lines wait to be written, the queue has no room for " +
                                                  std::to_string(count) + " more; they are dropped"}};
  }
  if (queue.empty()) wake.notify_one();
  queue.append(lines);
  waiting_lines += count;
  waiting_bytes += lines.size();
  return {lines.size(), std::nullopt};
}

// Sleeps until lines wait, it is time to sync or try again, or the end. False: the end.
bool FileAuditSink::Impl::WaitForWork() {
  const MutexLock lock(mutex);
  const auto until = steady_clock::now() + std::max(kSyncEvery, retry);
  const bool failing = retry.count() > 0;
  while (!stopping && (failing || queue.empty()) && wake.wait_until(mutex, until) != std::cv_status::timeout) {
  }
  return !stopping;
}

void FileAuditSink::Impl::WriteQueue() {
  {
    const MutexLock lock(mutex);
    if (batch.empty()) batch.swap(queue);
  }
  if (batch.empty()) return;
  const AppendOutcome outcome = file->Append(batch);
  const std::uint64_t lines = CountLines(std::string_view(batch).substr(0, outcome.bytes));
  batch.erase(0, outcome.bytes);
  written.fetch_add(lines, std::memory_order_relaxed);
  if (outcome.error) errors.fetch_add(1, std::memory_order_relaxed);
  retry = outcome.error ? std::clamp(retry * 2, kFirstRetry, kLastRetry) : std::chrono::milliseconds(0);
  const MutexLock lock(mutex);
  waiting_lines -= lines;
  waiting_bytes -= outcome.bytes;
  unsynced = file->handle();
}

void FileAuditSink::Impl::GiveUpQueue() {
  const MutexLock lock(mutex);
  dropped.fetch_add(waiting_lines, std::memory_order_relaxed);
}

void FileAuditSink::Impl::SyncNow() {
  std::shared_ptr<const FileHandle> handle;
  {
    const MutexLock lock(mutex);
    handle.swap(unsynced);
  }
  if (handle != nullptr && !handle->Sync()) errors.fetch_add(1, std::memory_order_relaxed);
}

void FileAuditSink::Impl::Run() {
  auto next_sync = steady_clock::now() + kSyncEvery;
  while (WaitForWork()) {
    if (mode == AuditMode::kRelaxed) WriteQueue();
    if (steady_clock::now() < next_sync) continue;
    SyncNow();
    next_sync = steady_clock::now() + kSyncEvery;
  }
}

FileAuditSink::FileAuditSink(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->thread = std::thread([this] { impl_->Run(); });
}

Result<std::unique_ptr<FileAuditSink>> FileAuditSink::Open(const std::string& path, AuditMode mode,
                                                           const FileAuditOptions& options) {
  auto file = AppendFile::Open(path, options.look_after);
  if (!file) return file.error();
  auto impl = std::make_unique<Impl>(*std::move(file), mode, options.queue);
  try {
    return std::unique_ptr<FileAuditSink>(new FileAuditSink(std::move(impl)));
  } catch (const std::exception& failure) {  // std::thread, when the process may have no more threads
    return Error{ErrorKind::kUnavailable, "audit log " + path + ": cannot start its thread: " + failure.what()};
  }
}

FileAuditSink::~FileAuditSink() {
  {
    const MutexLock lock(impl_->mutex);
    impl_->stopping = true;
    impl_->wake.notify_all();
  }
  impl_->thread.join();
  if (impl_->mode == AuditMode::kRelaxed) {
    impl_->WriteQueue();  // the batch that failed before, if any
    impl_->WriteQueue();
    impl_->GiveUpQueue();
  }
  impl_->SyncNow();
}

AppendOutcome FileAuditSink::Append(std::string_view lines) {
  if (!lines.ends_with('\n'))
    return {0, Error{ErrorKind::kInternal, "audit log: lines that do not end with a newline; they were not written"}};
  return impl_->mode == AuditMode::kStrict ? impl_->AppendStrict(lines) : impl_->Enqueue(lines);
}

AuditCounters FileAuditSink::counters() const {
  return {impl_->written.load(std::memory_order_relaxed), impl_->dropped.load(std::memory_order_relaxed),
          impl_->errors.load(std::memory_order_relaxed)};
}

}  // namespace podium
