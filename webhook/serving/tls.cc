#include "serving/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <string_view>

#include "core/regular_file.h"
#include "core/text.h"

namespace podium {
namespace {

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using ContextPtr = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using CertificatePtr = std::unique_ptr<X509, Freer<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, Freer<BIO_free>>;

constexpr std::size_t kMaxPemBytes = 1 << 20;

// What OpenSSL has to say, for the end of a message. Empties the thread's error queue.
std::string OpenSslReason() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "OpenSSL gives no reason" : std::string("OpenSSL says: ") + reason;
}

Result<std::string> ReadPem(const std::string& path) {
  Result<std::string> text = ReadRegularFile(path, kMaxPemBytes);
  if (!text) return text.error().WithContext(path + ": cannot be read");
  if (text->empty()) return Error{ErrorKind::kInvalidInput, path + ": the file is empty; a PEM file is expected"};
  if (text->size() > kMaxPemBytes) return Error{ErrorKind::kInvalidInput, path + ": larger than 1 MiB; no PEM pair is"};
  return text;
}

BioPtr MemoryBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL would ask on the terminal. The marker makes the reason recognisable.
int RefusePassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<KeyPtr> ParseKey(const std::string& path, const std::string& text) {
  bool encrypted = false;
  const BioPtr bio = MemoryBio(text);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassphrase, &encrypted));
  if (key) return key;
  const std::string reason = OpenSslReason();
  if (encrypted)
    return Error{ErrorKind::kInvalidInput, path + ": the private key is encrypted; an unencrypted one is expected"};
  return Error{ErrorKind::kInvalidInput, path + ": no private key in PEM form (BEGIN PRIVATE KEY) found; " + reason};
}

Result<CertificatePtr> ParseLeaf(const std::string& path, BIO* bio) {
  CertificatePtr leaf(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  if (leaf) return leaf;
  return Error{ErrorKind::kInvalidInput,
               path + ": no certificate in PEM form (BEGIN CERTIFICATE) found; " + OpenSslReason()};
}

// The rest of the file is the chain. SSL_CTX_add0 takes ownership.
Status AddChain(SSL_CTX* context, const std::string& path, BIO* bio) {
  while (CertificatePtr issuer{PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, issuer.get()) != 1)
      return Error{ErrorKind::kInvalidInput, path + ": a certificate of the chain is refused; " + OpenSslReason()};
    (void)issuer.release();  // owned by the context now
  }
  const bool end_of_file = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!end_of_file)
    return Error{ErrorKind::kInvalidInput, path + ": a certificate of the chain is damaged; " + OpenSslReason()};
  ERR_clear_error();
  return {};
}

// RFC 7301: choose http/1.1 when offered; with any other offer stay silent. Refusing would abort the handshake of a
// client that offers h2 only and would have spoken HTTP/1.1 anyway.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
                   unsigned int in_length, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_length, kHttp11, sizeof(kHttp11) - 1, in, in_length);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Everything explicit: a system's openssl.cnf may raise or lower the defaults.
bool Configure(SSL_CTX* context) {
  SSL_CTX_set_security_level(context, 2);
  // Each pair has a context of its own, so tickets of the old one would be worth nothing after a rotation, and the API
  // server keeps connections instead of resuming sessions. No tickets also means no two extra records per handshake.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);  // one recv() for a record instead of two
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  return SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1;
}

TimePoint ToTimePoint(const ASN1_TIME* time) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&broken_down));
}

Result<std::shared_ptr<const TlsMaterial>> Assemble(const std::string& cert_file, const std::string& cert_text,
                                                    const std::string& key_file, EVP_PKEY* key) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context || !Configure(context.get()))
    return Error{ErrorKind::kInternal, "TLS cannot be set up; " + OpenSslReason()};
  const BioPtr bio = MemoryBio(cert_text);
  Result<CertificatePtr> leaf = ParseLeaf(cert_file, bio.get());
  if (!leaf) return leaf.error();
  X509* certificate = leaf->get();
  if (X509_check_private_key(certificate, key) != 1) {
    ERR_clear_error();
    return Error{ErrorKind::kInvalidInput, key_file + ": the private key does not belong to the first certificate of " +
                                               cert_file + "; give the pair that was issued together"};
  }
  if (SSL_CTX_use_certificate(context.get(), certificate) != 1)
    return Error{ErrorKind::kInvalidInput, cert_file + ": the certificate is refused; " + OpenSslReason()};
  if (SSL_CTX_use_PrivateKey(context.get(), key) != 1)
    return Error{ErrorKind::kInvalidInput, key_file + ": the private key is refused; " + OpenSslReason()};
  if (Status chain = AddChain(context.get(), cert_file, bio.get()); !chain) return chain.error();
  return std::make_shared<const TlsMaterial>(context.release(), ToTimePoint(X509_get0_notBefore(certificate)),
                                             ToTimePoint(X509_get0_notAfter(certificate)));
}

}  // namespace

TlsMaterial::TlsMaterial(ssl_ctx_st* context, TimePoint not_before, TimePoint not_after)
    : context_(context), not_before_(not_before), not_after_(not_after) {}

TlsMaterial::~TlsMaterial() { SSL_CTX_free(context_); }

Result<std::shared_ptr<const TlsMaterial>> LoadTlsMaterial(const std::string& cert_file, const std::string& key_file) {
  ERR_clear_error();
  const Result<std::string> cert_text = ReadPem(cert_file);
  if (!cert_text) return cert_text.error();
  Result<std::string> key_text = ReadPem(key_file);
  if (!key_text) return key_text.error();
  const Result<KeyPtr> key = ParseKey(key_file, *key_text);
  OPENSSL_cleanse(key_text->data(), key_text->size());
  if (!key) return key.error();
  return Assemble(cert_file, *cert_text, key_file, key->get());
}

std::optional<std::string> ValidityWarning(const TlsMaterial& material, TimePoint now) {
  if (now >= material.not_after())
    return "the certificate expired at " + FormatRfc3339(material.not_after()) +
           "; clients that check dates refuse it: install a new pair";
  if (now < material.not_before())
    return "the certificate is not valid before " + FormatRfc3339(material.not_before()) +
           "; clients that check dates refuse it until then: check the clocks";
  return std::nullopt;
}

}  // namespace podium
