#include "audit/file_sink.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fakes/temp_dir.h"

namespace podium {
namespace {

std::unique_ptr<FileAuditSink> OpenOrFail(const std::string& path, AuditMode mode, FileAuditOptions options = {}) {
  auto sink = FileAuditSink::Open(path, mode, options);
  if (!sink) ADD_FAILURE() << sink.error().message;
  return sink ? *std::move(sink) : nullptr;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    lines.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(begin, text.size()) << "the last line has no newline";
  return lines;
}

// A disk that is full after `bytes` bytes of one file: what an unprivileged process can have anywhere. The write that
// crosses the limit is short, the next one fails with EFBIG, just like ENOSPC.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit full{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

TEST(StrictSinkTest, ALineIsInTheFileWhenAppendReturns) {
  const TempDir dir;
  const auto sink = OpenOrFail(dir.File("audit.log"), AuditMode::kStrict);
  EXPECT_FALSE(sink->Append("{\"seq\":1}\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "{\"seq\":1}\n");
  EXPECT_EQ(sink->counters().written, 1U);
}

TEST(StrictSinkTest, AFullDiskIsAnErrorLeavesNoHalfLineAndHeals) {
  const TempDir dir;
  const std::string path = dir.File("audit.log");
  const auto sink = OpenOrFail(path, AuditMode::kStrict);
  const std::string line = std::string(60, 'x') + "\n";
  {
    const FullDisk disk(100);
    EXPECT_FALSE(sink->Append(line).error);
    const AppendOutcome full = sink->Append(line);
    EXPECT_EQ(full.bytes, 0U);
    EXPECT_EQ(full.error, (Error{ErrorKind::kUnavailable, "audit log " + path + ": cannot write: File too large"}));
    EXPECT_EQ(ReadFileText(path), line) << "the 39 bytes that still went in must be gone again";
  }
  EXPECT_FALSE(sink->Append("after\n").error);
  EXPECT_EQ(ReadFileText(path), line + "after\n");
  EXPECT_EQ(sink->counters().written, 2U);
  EXPECT_EQ(sink->counters().errors, 1U);
  EXPECT_EQ(sink->counters().dropped, 0U);
}

TEST(StrictSinkTest, AFullDiskInTheMiddleOfAGroupKeepsItsWholeLinesAndSaysWhich) {
  const TempDir dir;
  const std::string path = dir.File("audit.log");
  const auto sink = OpenOrFail(path, AuditMode::kStrict);
  {
    const FullDisk disk(10);
    const AppendOutcome outcome = sink->Append("one\ntwo\nthree\nfour\n");
    EXPECT_EQ(outcome.bytes, 8U);
    EXPECT_EQ(outcome.error, (Error{ErrorKind::kUnavailable, "audit log " + path + ": cannot write: File too large"}));
    EXPECT_EQ(ReadFileText(path), "one\ntwo\n");
  }
  EXPECT_EQ(sink->Append("five\nsix\n").bytes, 9U);
  EXPECT_EQ(ReadFileText(path), "one\ntwo\nfive\nsix\n");
  EXPECT_EQ(sink->counters().written, 4U);
  EXPECT_EQ(sink->counters().errors, 1U);
}

TEST(StrictSinkTest, HalfALineIsNeverWritten) {
  const TempDir dir;
  const auto sink = OpenOrFail(dir.File("audit.log"), AuditMode::kStrict);
  for (const std::string_view lines : {"", "a", "a\nb"}) {
    const AppendOutcome outcome = sink->Append(lines);
    EXPECT_EQ(outcome.bytes, 0U);
    EXPECT_EQ(outcome.error,
              (Error{ErrorKind::kInternal, "audit log: lines that do not end with a newline; they were not written"}));
  }
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "");
}

void AppendFromThreads(FileAuditSink& sink, int threads, int lines) {
  std::vector<std::thread> crowd;
  for (int t = 0; t < threads; ++t) {
    crowd.emplace_back([&sink, t, lines] {
      for (int i = 0; i < lines; ++i)
        EXPECT_FALSE(sink.Append(std::to_string(t) + ":" + std::to_string(i) + std::string(200, '.') + "\n").error);
    });
  }
  for (std::thread& thread : crowd) thread.join();
}

// Every thread's lines are there once, whole and in its own order.
void ExpectAllLines(const std::string& path, int threads, int lines) {
  std::map<int, int> next;
  for (const std::string& line : LinesOf(ReadFileText(path))) {
    const int thread = std::stoi(line);
    EXPECT_EQ(line, std::to_string(thread) + ":" + std::to_string(next[thread]++) + std::string(200, '.'));
  }
  for (int t = 0; t < threads; ++t) EXPECT_EQ(next[t], lines);
}

class SinkModeTest : public testing::TestWithParam<AuditMode> {};

TEST_P(SinkModeTest, ManyThreadsNeverMixTheirLines) {
  const TempDir dir;
  auto sink = OpenOrFail(dir.File("audit.log"), GetParam());
  AppendFromThreads(*sink, 8, 100);
  sink.reset();  // relaxed: writes what is queued
  ExpectAllLines(dir.File("audit.log"), 8, 100);
}

TEST_P(SinkModeTest, RotationUnderWayLosesNoLine) {
  const TempDir dir;
  FileAuditOptions options;
  options.look_after = std::chrono::milliseconds(0);
  auto sink = OpenOrFail(dir.File("audit.log"), GetParam(), options);
  std::thread rotation([&dir] {
    for (int i = 0; i < 20; ++i) {
      std::error_code gone;  // the file of the last turn may not have been begun again yet
      std::filesystem::rename(dir.File("audit.log"), dir.File("old." + std::to_string(i)), gone);
      std::this_thread::yield();
    }
  });
  AppendFromThreads(*sink, 2, 200);
  rotation.join();
  sink.reset();
  std::size_t lines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    lines += LinesOf(ReadFileText(entry.path().string())).size();
  EXPECT_EQ(lines, 400U);
}

INSTANTIATE_TEST_SUITE_P(Modes, SinkModeTest, testing::Values(AuditMode::kStrict, AuditMode::kRelaxed),
                         [](const auto& row) { return row.param == AuditMode::kStrict ? "Strict" : "Relaxed"; });

TEST(RelaxedSinkTest, AFullDiskFillsTheQueueThenDropsAndHeals) {
  const TempDir dir;
  FileAuditOptions options;
  options.queue.lines = 2;
  auto sink = OpenOrFail(dir.File("audit.log"), AuditMode::kRelaxed, options);
  {
    const FullDisk disk(0);
    EXPECT_EQ(sink->Append("one\n").bytes, 4U);
    const AppendOutcome dropped = sink->Append("two\nthree\n");
    EXPECT_EQ(dropped.bytes, 0U) << "all of a group or nothing";
    EXPECT_EQ(dropped.error,
              (Error{ErrorKind::kUnavailable,
                     "audit log: 1 lines wait to be written, the queue has no room for 2 more; they are dropped"}));
    EXPECT_EQ(sink->counters().dropped, 2U);
    EXPECT_EQ(sink->Append("four\n").bytes, 5U);
    EXPECT_EQ(sink->counters().written, 0U);
  }
  sink.reset();
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "one\nfour\n");
}

TEST(RelaxedSinkTest, TheQueueIsBoundedInBytesToo) {
  const TempDir dir;
  FileAuditOptions options;
  options.queue.bytes = 100;
  const auto sink = OpenOrFail(dir.File("audit.log"), AuditMode::kRelaxed, options);
  const FullDisk disk(0);
  EXPECT_FALSE(sink->Append(std::string(60, 'x') + "\n").error);
  EXPECT_TRUE(sink->Append(std::string(60, 'x') + "\n").error);
  EXPECT_FALSE(sink->Append(std::string(38, 'x') + "\n").error);
}

}  // namespace
}  // namespace podium
