// kill -9 of a process that writes its audit log: what is left, and how the next process goes on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "audit/file_sink.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

constexpr int kRounds = 40;

std::string LineOf(std::size_t number) { return "{\"seq\":" + std::to_string(number) + std::string(3000, ' ') + "}"; }

// Writes numbered lines until it is killed; says once through `ready` that there are a few.
[[noreturn]] void WriteUntilKilled(const std::string& path, AuditMode mode, int ready) {
  auto sink = FileAuditSink::Open(path, mode);
  if (!sink) ::_exit(2);
  for (std::size_t i = 0;; ++i) {
    // Relaxed: the same line again until the queue takes it, so that a hole can only come from the crash.
    while ((*sink)->Append(LineOf(i) + "\n").error) {
    }
    if (i == 20 && ::write(ready, "x", 1) != 1) ::_exit(3);
  }
}

void KillAWriter(const std::string& path, AuditMode mode) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) WriteUntilKilled(path, mode, ready[1]);
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the writer ended by itself";
  ::close(ready[0]);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    lines.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(begin, text.size()) << "the last line has no newline";
  return lines;
}

class CrashTest : public testing::TestWithParam<AuditMode> {};

TEST_P(CrashTest, AfterKill9EveryLineIsWholeAndTheNumbersHaveNoHole) {
  for (int round = 0; round < kRounds; ++round) {
    const TempDir dir;
    const std::string path = dir.File("audit.log");
    KillAWriter(path, GetParam());
    const auto sink = FileAuditSink::Open(path, AuditMode::kStrict);  // moves a torn line aside
    ASSERT_TRUE(sink) << sink.error().message;
    EXPECT_FALSE((*sink)->Append("again\n").error);
    const std::vector<std::string> lines = LinesOf(ReadFileText(path));
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) ASSERT_EQ(lines[i], LineOf(i));
    EXPECT_EQ(lines.back(), "again");
    // 21 lines had been taken when the writer said so: in strict mode they must be there.
    EXPECT_GE(lines.size(), GetParam() == AuditMode::kStrict ? 22U : 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CrashTest, testing::Values(AuditMode::kStrict, AuditMode::kRelaxed),
                         [](const auto& row) { return row.param == AuditMode::kStrict ? "Strict" : "Relaxed"; });

}  // namespace
}  // namespace podium
