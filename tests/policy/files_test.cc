// Reading policy files from disk, as a file, a directory and a mounted ConfigMap.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/compile.h"

namespace podium {

static void PrintTo(const PolicyFile& file, std::ostream* out) { *out << file.name << " (" << file.text.size() << ")"; }
static bool operator==(const PolicyFile& a, const PolicyFile& b) { return a.name == b.name && a.text == b.text; }

namespace {

namespace fs = std::filesystem;

class ReadPolicyFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "podium-policy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::string Path(const std::string& name) const { return (root_ / name).string(); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  [[nodiscard]] std::vector<PolicyFile> Read(const std::string& path) const {
    const Result<std::vector<PolicyFile>> files = ReadPolicyFiles(path);
    EXPECT_TRUE(files.ok()) << (files.ok() ? "" : files.error().message);
    return files.ok() ? *files : std::vector<PolicyFile>{};
  }

  [[nodiscard]] Error Fail(const std::string& path) const {
    const Result<std::vector<PolicyFile>> files = ReadPolicyFiles(path);
    EXPECT_FALSE(files.ok());
    return files.ok() ? Error{} : files.error();
  }

  fs::path root_;
};

TEST_F(ReadPolicyFilesTest, AFileIsReadUnderTheNameTheUserGave) {
  Write("any.txt", "a: 1\n");
  EXPECT_EQ(Read(Path("any.txt")), (std::vector<PolicyFile>{{Path("any.txt"), "a: 1\n"}}));
}

TEST_F(ReadPolicyFilesTest, ADirectoryIsItsYamlFilesByName) {
  Write("d/b.yml", "b");
  Write("d/a.yaml", "a");
  Write("d/.hidden.yaml", "no");
  Write("d/readme.md", "no");
  Write("d/below/c.yaml", "no");
  EXPECT_EQ(Read(Path("d")), (std::vector<PolicyFile>{{Path("d/a.yaml"), "a"}, {Path("d/b.yml"), "b"}}));
}

TEST_F(ReadPolicyFilesTest, AMountedConfigMapIsReadThroughItsLinks) {
  Write("m/..2026_05_04_10_00_00.1/policy.yaml", "first");
  fs::create_directory_symlink("..2026_05_04_10_00_00.1", root_ / "m/..data");
  fs::create_symlink("..data/policy.yaml", root_ / "m/policy.yaml");
  EXPECT_EQ(Read(Path("m")), (std::vector<PolicyFile>{{Path("m/policy.yaml"), "first"}}));
  EXPECT_EQ(Read(Path("m/policy.yaml")), (std::vector<PolicyFile>{{Path("m/policy.yaml"), "first"}}));

  // The kubelet's swap: a new directory, a new link renamed over the old one, the old directory removed.
  Write("m/..2026_05_04_10_05_00.2/policy.yaml", "second");
  fs::create_directory_symlink("..2026_05_04_10_05_00.2", root_ / "m/..data_tmp");
  fs::rename(root_ / "m/..data_tmp", root_ / "m/..data");
  fs::remove_all(root_ / "m/..2026_05_04_10_00_00.1");
  EXPECT_EQ(Read(Path("m")), (std::vector<PolicyFile>{{Path("m/policy.yaml"), "second"}}));
}

TEST_F(ReadPolicyFilesTest, ALinkToADirectoryIsADirectory) {
  Write("d/a.yaml", "a");
  fs::create_directory_symlink(Path("d"), root_ / "link");
  EXPECT_EQ(Read(Path("link")), (std::vector<PolicyFile>{{Path("link/a.yaml"), "a"}}));
}

TEST_F(ReadPolicyFilesTest, ADirectoryWithoutPolicyIsAnError) {
  fs::create_directory(root_ / "empty");
  EXPECT_EQ(Fail(Path("empty")),
            (Error{ErrorKind::kNotFound, "there is no *.yaml or *.yml file in policy directory " + Path("empty") +
                                             " (hidden files and folders below it are not read)"}));
}

TEST_F(ReadPolicyFilesTest, NothingThere) {
  EXPECT_EQ(Fail(Path("none.yaml")),
            (Error{ErrorKind::kNotFound, "there is no policy file or directory " + Path("none.yaml")}));
}

TEST_F(ReadPolicyFilesTest, ADanglingLinkInADirectory) {
  fs::create_directory(root_ / "d");
  fs::create_symlink("gone", root_ / "d/p.yaml");
  EXPECT_EQ(Fail(Path("d")),
            (Error{ErrorKind::kNotFound, "cannot read policy " + Path("d/p.yaml") + ": No such file or directory"}));
}

TEST_F(ReadPolicyFilesTest, LinksInACircle) {
  fs::create_symlink("b", root_ / "a");
  fs::create_symlink("a", root_ / "b");
  EXPECT_EQ(Fail(Path("a")), (Error{ErrorKind::kInvalidInput,
                                    "cannot read policy " + Path("a") + ": Too many levels of symbolic links"}));
}

// Root may read everything, so the test steps down for the call.
class AsNobody {
 public:
  AsNobody() { stepped_down_ = ::geteuid() == 0 && ::seteuid(65534) == 0; }
  ~AsNobody() {
    if (stepped_down_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool stepped_down_ = false;
};

TEST_F(ReadPolicyFilesTest, WhatMayNotBeRead) {
  Write("secret.yaml", "a");
  fs::create_directory(root_ / "closed");
  fs::permissions(root_, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  for (const char* name : {"secret.yaml", "closed"}) {
    fs::permissions(root_ / name, fs::perms::none);
    const AsNobody nobody;
    EXPECT_EQ(Fail(Path(name)),
              (Error{ErrorKind::kPermission, "cannot read policy " + Path(name) + ": Permission denied"}));
  }
}

TEST_F(ReadPolicyFilesTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo(Path("fifo.yaml").c_str(), 0600), 0);
  EXPECT_EQ(Fail(Path("fifo.yaml")), (Error{ErrorKind::kInvalidInput, "cannot read policy " + Path("fifo.yaml") +
                                                                          ": it is a pipe; wanted: a regular file"}));
  EXPECT_EQ(Fail("/dev/zero"),
            (Error{ErrorKind::kInvalidInput, "cannot read policy /dev/zero: it is a device; wanted: a regular file"}));
}

TEST_F(ReadPolicyFilesTest, AFolderWithAPolicysNameIsNotSkippedQuietly) {
  fs::create_directories(root_ / "d/p.yaml");
  EXPECT_EQ(Fail(Path("d")), (Error{ErrorKind::kInvalidInput, "cannot read policy " + Path("d/p.yaml") +
                                                                  ": it is a folder; wanted: a regular file"}));
}

TEST_F(ReadPolicyFilesTest, AMebibyteIsTheMost) {
  Write("most.yaml", std::string(1 << 20, '#'));
  EXPECT_EQ(Read(Path("most.yaml")).at(0).text.size(), std::size_t{1} << 20);
  Write("more.yaml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(Fail(Path("more.yaml")),
            (Error{ErrorKind::kInvalidInput, "policy file " + Path("more.yaml") +
                                                 " is larger than 1048576 bytes, the most a ConfigMap can hold; split "
                                                 "it or remove what is not policy"}));
}

TEST_F(ReadPolicyFilesTest, ASparseTebibyteIsRefusedUnread) {
  Write("huge.yaml", "");
  fs::resize_file(root_ / "huge.yaml", std::uintmax_t{1} << 40);
  EXPECT_EQ(Fail(Path("huge.yaml")).kind, ErrorKind::kInvalidInput);
}

TEST_F(ReadPolicyFilesTest, AHundredFilesAreTheMost) {
  for (int i = 0; i < 101; ++i) Write("d/" + std::to_string(i) + ".yaml", "");
  EXPECT_EQ(Fail(Path("d")), (Error{ErrorKind::kInvalidInput,
                                    "policy directory " + Path("d") + " has 101 files; allowed: at most 100"}));
}

}  // namespace
}  // namespace podium
