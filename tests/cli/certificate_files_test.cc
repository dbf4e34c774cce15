#include "cli/certificate_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/temp_dir.h"
#include "kube/certificates.h"
#include "serving/engine.h"

namespace podium {
namespace {

using namespace testing_tls;
using testing::HasSubstr;

class CertificateFilesTest : public testing::Test {
 protected:
  void Write(const Identity& identity) {
    dir_.Write("tls.crt", ToPem(identity));
    dir_.Write("tls.key", KeyToPem(identity));
  }

  TempDir dir_;
  Identity authority_ = MakeAuthority("CA");
  Identity first_ = MakeCertificate(authority_, {.common_name = "one", .alternative_names = "DNS:one"});
  Identity second_ = MakeCertificate(authority_, {.common_name = "two", .alternative_names = "DNS:two.example"});
};

TEST_F(CertificateFilesTest, ReadsNothingWhileNothingChanges) {
  Write(first_);
  CertificateFiles files(dir_.File("tls.crt"), dir_.File("tls.key"));
  const auto read = files.ReadIfChanged();
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, nullptr);
}

TEST_F(CertificateFilesTest, ReadsANewPairOnce) {
  Write(first_);
  CertificateFiles files(dir_.File("tls.crt"), dir_.File("tls.key"));
  Write(second_);
  const auto read = files.ReadIfChanged();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(*read, nullptr);
  EXPECT_EQ(*files.ReadIfChanged(), nullptr);
}

TEST_F(CertificateFilesTest, HalfAPairIsAnErrorOnceAndTheOtherHalfMakesItGood) {
  Write(first_);
  CertificateFiles files(dir_.File("tls.crt"), dir_.File("tls.key"));
  dir_.Write("tls.crt", ToPem(second_));
  EXPECT_FALSE(files.ReadIfChanged());
  EXPECT_TRUE(files.ReadIfChanged()) << "said once";
  dir_.Write("tls.key", KeyToPem(second_));
  const auto read = files.ReadIfChanged();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(*read, nullptr);
}

}  // namespace
}  // namespace podium
