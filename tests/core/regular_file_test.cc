#include "core/regular_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "fakes/temp_dir.h"

namespace podium {
namespace {

Error Fail(const std::string& path) {
  const Result<std::string> text = ReadRegularFile(path, 10);
  EXPECT_FALSE(text) << path;
  return text ? Error{} : text.error();
}

TEST(RegularFileTest, AFileIsReadWholeUpToOneByteOverTheLimit) {
  const TempDir dir;
  EXPECT_EQ(*ReadRegularFile(dir.Write("empty", ""), 10), "");
  EXPECT_EQ(*ReadRegularFile(dir.Write("most", "0123456789"), 10), "0123456789");
  EXPECT_EQ(*ReadRegularFile(dir.Write("more", "0123456789abcdef"), 10), "0123456789a");
  const std::string large(100'000, 'x');
  EXPECT_EQ(*ReadRegularFile(dir.Write("large", large), 1 << 20), large);
}

TEST(RegularFileTest, ALinkIsFollowed) {
  const TempDir dir;
  dir.Write("target", "text");
  std::filesystem::create_symlink("target", dir.File("link"));
  EXPECT_EQ(*ReadRegularFile(dir.File("link"), 10), "text");
}

// /proc says that its files have no bytes.
TEST(RegularFileTest, AFileThatIsLargerThanItSaysIsReadToItsEnd) {
  const Result<std::string> status = ReadRegularFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_NE(status->find("\nPid:"), std::string::npos);
  EXPECT_EQ(status->back(), '\n');
}

TEST(RegularFileTest, NothingElseIsReadAndNothingIsWaitedFor) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo(dir.File("fifo").c_str(), 0600), 0);
  EXPECT_EQ(Fail(dir.File("fifo")), (Error{ErrorKind::kInvalidInput, "it is a pipe; wanted: a regular file"}));
  EXPECT_EQ(Fail(dir.path()), (Error{ErrorKind::kInvalidInput, "it is a folder; wanted: a regular file"}));
  EXPECT_EQ(Fail("/dev/zero"), (Error{ErrorKind::kInvalidInput, "it is a device; wanted: a regular file"}));
  EXPECT_EQ(Fail(dir.File("none")), (Error{ErrorKind::kNotFound, "No such file or directory"}));
}

TEST(RegularFileTest, ASocketIsNoFile) {
  const TempDir dir;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  dir.File("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(Fail(dir.File("socket")),
            (Error{ErrorKind::kInvalidInput, "it is a socket or a device; wanted: a regular file"}));
  ::close(socket);
}

}  // namespace
}  // namespace podium
