// What the client's TLS connections may cost and whom they trust. OpenSSL's callbacks stay behind this header.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "kube/address.h"
#include "podium/result.h"

using SSL_CTX = struct ssl_ctx_st;

namespace podium {

// cpp-httplib limits neither the length of a line nor the number of header lines, restarts its read timeout with every
// byte, and matches the status line with a recursive std::regex. So the limits sit below it, in the socket BIO.
constexpr std::size_t kMaxHandshakeBytes = 256 << 10;
constexpr std::size_t kMaxHeadBytes = 16 << 10;  // one TLS record more may arrive, since records come whole

// What one request has used up so far. One per client; the callbacks find it through OpenSSL's extra data. Belongs to
// the thread of the request, but for `cancelled`.
struct TlsMeter {
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Phase { kHandshake, kHead, kBody };
  enum class Stop { kNone, kDeadline, kTooManyBytes, kBodyTooLarge, kCompressed, kReceiver, kCancelled };

  std::string server_name;  // asked for in the handshake
  std::size_t max_body_bytes = 0;
  TimePoint deadline;
  TimePoint last_byte;
  Phase phase = Phase::kHead;
  std::size_t wire_bytes = 0;  // read from the socket in this phase
  Stop stop = Stop::kNone;
  long certificate_error = 0;  // X509_V_OK
  std::atomic<bool> cancelled = false;

  void Begin(TimePoint until, std::size_t body_bytes);
  void Enter(Phase next);
  // Bytes on the wire, so the body's share leaves room for records and chunk heads.
  [[nodiscard]] std::size_t Budget() const;
  [[nodiscard]] bool MayRead();
};

struct TlsTrust {
  std::string ca_file;                 // PEM; names the CA in messages also when `ca_pem` is given
  std::string ca_pem;                  // not empty: taken instead of the file
  std::string client_certificate_pem;  // with its chain; empty: none is shown
  std::string client_key_pem;
};

// Sets `context` up to end the handshake, before a byte of ours is sent, unless the server shows a certificate of a
// trusted CA for `name`. cpp-httplib's own check accepts a matching common name although the certificate has
// alternative names, and reads past short IP entries: switch it off. `meter` must outlive the context.
Status SecureTls(SSL_CTX* context, const Address& name, const TlsTrust& trust, TlsMeter& meter);

// "certificate has expired"
std::string CertificateErrorText(long error);

}  // namespace podium
