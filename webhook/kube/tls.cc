#include "kube/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>

#include "core/text.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

// --- what a request may cost ----------------------------------------------------------------------------------------

long CountSocketBytes(BIO* bio, int operation, const char* /*data*/, std::size_t /*length*/, int /*argi*/,
                      long /*argl*/, int result, std::size_t* processed) {
  auto* meter = reinterpret_cast<TlsMeter*>(BIO_get_callback_arg(bio));
  if (operation == BIO_CB_READ && !meter->MayRead()) {
    // What an earlier read left there ("try again") must not be taken for the answer to this one.
    BIO_clear_retry_flags(bio);
    return -1;
  }
  if (operation == (BIO_CB_READ | BIO_CB_RETURN) && result > 0 && processed != nullptr) {
    meter->wire_bytes += *processed;
    meter->last_byte = SteadyClock::now();
  }
  return result;
}

int MeterIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

TlsMeter& MeterOf(const SSL* ssl) {
  return *static_cast<TlsMeter*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), MeterIndex()));
}

void WatchHandshake(const SSL* ssl, int where, int /*result*/) {
  TlsMeter& meter = MeterOf(ssl);
  BIO* bio = SSL_get_rbio(ssl);
  if ((where & SSL_CB_HANDSHAKE_START) != 0 && BIO_get_callback_ex(bio) == nullptr) {
    BIO_set_callback_ex(bio, CountSocketBytes);
    BIO_set_callback_arg(bio, reinterpret_cast<char*>(&meter));
    meter.Enter(TlsMeter::Phase::kHandshake);
    // cpp-httplib has set the URL's host. This call comes before the ClientHello is written, and it is the only place
    // to put another name.
    SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), meter.server_name.c_str());
  }
  // TLS 1.3 reports each session ticket as a handshake too: only the first one begins a new phase.
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0 && meter.phase == TlsMeter::Phase::kHandshake)
    meter.Enter(TlsMeter::Phase::kHead);
}

int RecordCertificateError(int accepted, X509_STORE_CTX* store) {
  if (accepted == 1) return accepted;
  const auto* ssl = static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  MeterOf(ssl).certificate_error = X509_STORE_CTX_get_error(store);
  return accepted;
}

// --- certificates ---------------------------------------------------------------------------------------------------

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Certificate = std::unique_ptr<X509, Free>;

Bio Reading(const std::string& pem) { return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))); }

// An encrypted PEM would otherwise ask at the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

Certificate NextCertificate(BIO* pem) { return Certificate(PEM_read_bio_X509(pem, nullptr, NoPassword, nullptr)); }

bool TrustText(SSL_CTX* context, const std::string& pem) {
  const Bio bio = Reading(pem);
  int count = 0;
  for (Certificate ca = NextCertificate(bio.get()); ca != nullptr; ca = NextCertificate(bio.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get()) != 1) return false;
    ++count;
  }
  return count > 0;
}

Status LoadTrust(SSL_CTX* context, const TlsTrust& trust) {
  const bool loaded = trust.ca_pem.empty() ? SSL_CTX_load_verify_file(context, trust.ca_file.c_str()) == 1
                                           : TrustText(context, trust.ca_pem);
  if (loaded) return {};
  return Error{ErrorKind::kInvalidInput, "cannot read CA certificates from " + Quoted(trust.ca_file) +
                                             "; it must be a readable PEM file with at least one certificate"};
}

bool ShowChain(SSL_CTX* context, const std::string& pem) {
  const Bio bio = Reading(pem);
  const Certificate leaf = NextCertificate(bio.get());
  if (leaf == nullptr || SSL_CTX_use_certificate(context, leaf.get()) != 1) return false;
  for (Certificate link = NextCertificate(bio.get()); link != nullptr; link = NextCertificate(bio.get()))
    if (SSL_CTX_add1_chain_cert(context, link.get()) != 1) return false;
  return true;
}

Status ShowClient(SSL_CTX* context, const TlsTrust& trust) {
  if (trust.client_certificate_pem.empty() && trust.client_key_pem.empty()) return {};
  if (!ShowChain(context, trust.client_certificate_pem))
    return Error{ErrorKind::kInvalidInput, "the client certificate is no PEM text with a certificate OpenSSL accepts"};
  const Bio bio = Reading(trust.client_key_pem);
  const std::unique_ptr<EVP_PKEY, Free> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  if (key == nullptr)
    return Error{ErrorKind::kInvalidInput, "the client key is no PEM text with a private key that has no password"};
  if (SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1) return {};
  return Error{ErrorKind::kInvalidInput, "the client key does not belong to the client certificate"};
}

bool ExpectName(SSL_CTX* context, const Address& name) {
  X509_VERIFY_PARAM* wanted = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int named = name.is_ip ? X509_VERIFY_PARAM_set1_ip_asc(wanted, name.host.c_str())
                               : X509_VERIFY_PARAM_set1_host(wanted, name.host.data(), name.host.size());
  return named == 1;
}

}  // namespace

void TlsMeter::Begin(TimePoint until, std::size_t body_bytes) {
  deadline = until;
  max_body_bytes = body_bytes;
  last_byte = SteadyClock::now();
  stop = Stop::kNone;
  certificate_error = X509_V_OK;
  Enter(Phase::kHead);
}

void TlsMeter::Enter(Phase next) {
  phase = next;
  wire_bytes = 0;
}

std::size_t TlsMeter::Budget() const {
  if (phase == Phase::kHandshake) return kMaxHandshakeBytes;
  return phase == Phase::kHead ? kMaxHeadBytes : 4 * max_body_bytes + kMaxHeadBytes;
}

bool TlsMeter::MayRead() {
  if (cancelled)
    stop = Stop::kCancelled;
  else if (SteadyClock::now() >= deadline)
    stop = Stop::kDeadline;
  else if (wire_bytes >= Budget())
    stop = Stop::kTooManyBytes;
  return stop == Stop::kNone;
}

Status SecureTls(SSL_CTX* context, const Address& name, const TlsTrust& trust, TlsMeter& meter) {
  ERR_clear_error();
  meter.server_name = name.host;
  SSL_CTX_set_security_level(context, 2);
  Status loaded = LoadTrust(context, trust);
  if (loaded) loaded = ShowClient(context, trust);
  if (!loaded) {
    ERR_clear_error();
    return loaded;
  }
  const bool secured = ExpectName(context, name) && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                       SSL_CTX_set_ex_data(context, MeterIndex(), &meter) == 1;
  ERR_clear_error();
  if (!secured) return Error{ErrorKind::kInternal, "OpenSSL refuses the settings of the client's TLS context"};
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, RecordCertificateError);
  SSL_CTX_set_info_callback(context, WatchHandshake);
  return {};
}

std::string CertificateErrorText(long error) { return X509_verify_cert_error_string(error); }

}  // namespace podium
