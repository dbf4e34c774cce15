// Certificates for tests of TLS clients, made in memory. P-256 keys: a pair takes well under a millisecond.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace podium::testing_tls {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

struct Identity {
  std::unique_ptr<EVP_PKEY, Free> key;
  std::unique_ptr<X509, Free> certificate;
};

struct CertificateSpec {
  std::string common_name;
  std::string alternative_names;              // "DNS:localhost,IP:127.0.0.1"; empty: no such extension
  std::string extended_usage = "serverAuth";  // empty: no such extension
  long expires_in_seconds = 3600;
};

Identity MakeAuthority(const std::string& common_name);
Identity MakeCertificate(const Identity& authority, const CertificateSpec& spec);

std::string ToPem(const Identity& identity);
std::string KeyToPem(const Identity& identity);

}  // namespace podium::testing_tls
