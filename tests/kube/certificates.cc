#include "kube/certificates.h"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <cstdlib>

namespace podium::testing_tls {
namespace {

void Require(bool succeeded) {
  if (!succeeded) std::abort();  // OpenSSL cannot make a certificate: no test can say anything then
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  if (value.empty()) return;
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

Identity Unsigned(const std::string& common_name, long expires_in_seconds) {
  static long serial = 0;
  Identity identity;
  identity.key.reset(EVP_EC_gen("P-256"));
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  Require(identity.key != nullptr && certificate != nullptr && X509_set_version(certificate, X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), expires_in_seconds);
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.c_str());
  Require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1);
  Require(X509_set_pubkey(certificate, identity.key.get()) == 1);
  return identity;
}

}  // namespace

Identity MakeAuthority(const std::string& common_name) {
  Identity authority = Unsigned(common_name, 3600);
  X509* certificate = authority.certificate.get();
  Require(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1);
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign");
  Require(X509_sign(certificate, authority.key.get(), EVP_sha256()) != 0);
  return authority;
}

Identity MakeCertificate(const Identity& authority, const CertificateSpec& spec) {
  Identity leaf = Unsigned(spec.common_name, spec.expires_in_seconds);
  X509* certificate = leaf.certificate.get();
  X509* issuer = authority.certificate.get();
  Require(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1);
  AddExtension(certificate, issuer, NID_subject_alt_name, spec.alternative_names);
  AddExtension(certificate, issuer, NID_ext_key_usage, spec.extended_usage);
  Require(X509_sign(certificate, authority.key.get(), EVP_sha256()) != 0);
  return leaf;
}

namespace {

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

}  // namespace

std::string ToPem(const Identity& identity) {
  BIO* memory = BIO_new(BIO_s_mem());
  Require(PEM_write_bio_X509(memory, identity.certificate.get()) == 1);
  return TextOf(memory);
}

std::string KeyToPem(const Identity& identity) {
  BIO* memory = BIO_new(BIO_s_mem());
  Require(PEM_write_bio_PrivateKey(memory, identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(memory);
}

}  // namespace podium::testing_tls
