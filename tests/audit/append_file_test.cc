#include "audit/append_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "fakes/temp_dir.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<AppendFile> OpenOrFail(const std::string& path) {
  auto file = AppendFile::Open(path, milliseconds(0));
  if (!file) ADD_FAILURE() << file.error().message;
  return file ? *std::move(file) : nullptr;
}

std::vector<std::string> TornFiles(const TempDir& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    if (entry.path().string().find(".torn-") != std::string::npos) names.push_back(entry.path().string());
  return names;
}

TEST(AppendFileTest, ANewFileIsForOwnerAndGroupOnly) {
  const TempDir dir;
  const mode_t before = ::umask(0);
  const auto file = OpenOrFail(dir.File("audit.log"));
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(dir.File("audit.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
}

TEST(AppendFileTest, LinesAreAddedToWhatIsThere) {
  const TempDir dir;
  dir.Write("audit.log", "old\n");
  const auto file = OpenOrFail(dir.File("audit.log"));
  EXPECT_FALSE(file->Append("one\ntwo\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "old\none\ntwo\n");
  EXPECT_TRUE(TornFiles(dir).empty());
}

TEST(AppendFileTest, ATornLastLineIsMovedAside) {
  const TempDir dir;
  dir.Write("audit.log", "whole\n{\"v\":1,\"se");
  const auto file = OpenOrFail(dir.File("audit.log"));
  EXPECT_FALSE(file->Append("next\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "whole\nnext\n");
  const std::vector<std::string> torn = TornFiles(dir);
  ASSERT_EQ(torn.size(), 1U);
  EXPECT_EQ(ReadFileText(torn[0]), "{\"v\":1,\"se");
}

TEST(AppendFileTest, AFileThatIsOneTornLineIsMovedAsideWhole) {
  const TempDir dir;
  dir.Write("audit.log", "{\"v\"");
  const auto file = OpenOrFail(dir.File("audit.log"));
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "");
  ASSERT_EQ(TornFiles(dir).size(), 1U);
}

TEST(AppendFileTest, AFileWithoutLinesIsNotTakenForAnAuditLog) {
  const TempDir dir;
  const std::string path = dir.Write("disk.img", std::string((2 << 20) + 1, 'x'));
  const auto file = AppendFile::Open(path, milliseconds(0));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error(), (Error{ErrorKind::kCorrupt, "audit log " + path +
                                                          ": its last line is longer than 1 MiB; "
                                                          "this is no audit log"}));
  EXPECT_EQ(std::filesystem::file_size(path), (2U << 20U) + 1) << "it must be left as it is";
}

TEST(AppendFileTest, OnlyARegularFileIsTaken) {
  const TempDir dir;
  dir.Write("real.log", "");
  const std::string link = dir.File("link.log");
  std::filesystem::create_symlink(dir.File("real.log"), link);
  const std::string pipe = dir.File("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto message = [](const std::string& path) {
    const auto file = AppendFile::Open(path, milliseconds(0));
    return file ? "opened" : file.error().message;
  };
  EXPECT_EQ(message(link), "audit log " + link + ": is a symbolic link; give the path of the file itself");
  EXPECT_EQ(message(pipe), "audit log " + pipe + ": is not a regular file; use '-' for standard output");
  EXPECT_EQ(message("/dev/null"), "audit log /dev/null: is not a regular file; use '-' for standard output");
  EXPECT_EQ(message(dir.path()), "audit log " + dir.path() + ": cannot open: Is a directory");
  EXPECT_EQ(message(dir.File("no/audit.log")),
            "audit log " + dir.File("no/audit.log") + ": cannot open: No such file or directory");
}

TEST(AppendFileTest, ASecondWriterIsRefused) {
  const TempDir dir;
  const std::string path = dir.File("audit.log");
  const auto first = OpenOrFail(path);
  const auto second = AppendFile::Open(path, milliseconds(0));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), (Error{ErrorKind::kConflict, "audit log " + path +
                                                             ": another process is writing it; give "
                                                             "each process its own file"}));
}

TEST(AppendFileTest, AfterARenameANewFileIsBegun) {
  const TempDir dir;
  const auto file = OpenOrFail(dir.File("audit.log"));
  EXPECT_FALSE(file->Append("one\n").error);
  std::filesystem::rename(dir.File("audit.log"), dir.File("audit.log.1"));
  EXPECT_FALSE(file->Append("two\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log.1")), "one\n");
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "two\n");
}

TEST(AppendFileTest, ARemovedFileIsBegunAgain) {
  const TempDir dir;
  const auto file = OpenOrFail(dir.File("audit.log"));
  EXPECT_FALSE(file->Append("one\n").error);
  std::filesystem::remove(dir.File("audit.log"));
  EXPECT_FALSE(file->Append("two\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log")), "two\n");
}

TEST(AppendFileTest, ThePathIsNotLookedAtAtEveryLine) {
  const TempDir dir;
  auto file = AppendFile::Open(dir.File("audit.log"), std::chrono::hours(1));
  ASSERT_TRUE(file);
  std::filesystem::rename(dir.File("audit.log"), dir.File("audit.log.1"));
  EXPECT_FALSE((*file)->Append("one\n").error);
  EXPECT_EQ(ReadFileText(dir.File("audit.log.1")), "one\n");
}

TEST(AppendFileTest, ARemovedFolderIsAnErrorUntilItIsBack) {
  const TempDir dir;
  const std::string path = dir.Write("logs/audit.log", "");
  const auto file = OpenOrFail(path);
  std::filesystem::remove_all(dir.File("logs"));
  const AppendOutcome lost = file->Append("one\n");
  EXPECT_EQ(lost.error,
            (Error{ErrorKind::kNotFound, "audit log " + path + ": cannot open: No such file or directory"}));
  EXPECT_EQ(lost.bytes, 0U);
  std::filesystem::create_directory(dir.File("logs"));
  EXPECT_FALSE(file->Append("two\n").error);
  EXPECT_EQ(ReadFileText(path), "two\n");
}

// Standard output becomes a pipe for the life of this object.
class PipedOutput {
 public:
  PipedOutput() : saved_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK), 0);
    EXPECT_EQ(::dup2(ends_[1], STDOUT_FILENO), STDOUT_FILENO);
    ::fcntl(STDOUT_FILENO, F_SETFL, 0);  // blocking again, as standard output usually is
  }
  ~PipedOutput() {
    ::dup2(saved_, STDOUT_FILENO);
    for (const int fd : {saved_, ends_[0], ends_[1]}) ::close(fd);
  }
  PipedOutput(const PipedOutput&) = delete;
  PipedOutput& operator=(const PipedOutput&) = delete;

  std::string Drain() {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(ends_[0], text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  int saved_;
  int ends_[2] = {-1, -1};
};

TEST(AppendFileTest, AReaderThatStallsIsAnErrorAndNotAHang) {
  PipedOutput output;
  const auto file = OpenOrFail("-");
  const std::string line = std::string(4095, 'x') + "\n";
  std::size_t accepted = 0;
  AppendOutcome outcome;
  for (; !outcome.error && accepted < 1000; ++accepted) outcome = file->Append(line);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message, "audit log -: cannot write: Connection timed out");
  std::string read;
  for (std::string part = output.Drain(); !part.empty(); part = output.Drain()) read += part;
  EXPECT_EQ(read.size(), (accepted - 1) * line.size()) << "lines go into a pipe whole or not at all";
  EXPECT_FALSE(file->Append("next\n").error);
  EXPECT_EQ(output.Drain(), "next\n");
}

}  // namespace
}  // namespace podium
