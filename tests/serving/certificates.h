// Self-signed certificates made on the spot, for tests of TLS.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>
#include <string>

#include "fakes/temp_dir.h"
#include "serving/engine.h"

namespace podium {

struct PairFiles {
  std::string cert;
  std::string key;
};

// A P-256 pair `name`.crt and `name`.key in `dir`; CN is `name`. Validity in seconds from now.
inline PairFiles MakePair(const TempDir& dir, const std::string& name, long begins = -3600, long ends = 3600) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> cert(X509_new(), X509_free);
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), begins);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), ends);
  X509_NAME* subject = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(cert.get(), subject);
  X509_set_pubkey(cert.get(), key.get());
  EXPECT_GT(X509_sign(cert.get(), key.get(), EVP_sha256()), 0);
  const PairFiles files{dir.File(name + ".crt"), dir.File(name + ".key")};
  std::FILE* out = std::fopen(files.cert.c_str(), "w");
  EXPECT_EQ(PEM_write_X509(out, cert.get()), 1);
  std::fclose(out);
  out = std::fopen(files.key.c_str(), "w");
  EXPECT_EQ(PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  std::fclose(out);
  return files;
}

inline std::shared_ptr<const TlsMaterial> LoadPair(const PairFiles& files) {
  auto material = LoadTlsMaterial(files.cert, files.key);
  EXPECT_TRUE(material) << (material ? "" : material.error().message);
  return material ? *material : nullptr;
}

}  // namespace podium
