// A certificate chain and its key, ready to serve.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "podium/snapshot.h"
#include "serving/engine.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace podium {

// Immutable and shared: a connection keeps the material it was accepted with, a new one takes what the cell holds by
// then. Any number of threads may make connections from one. Not copied: owns the SSL_CTX.
class TlsMaterial {
 public:
  TlsMaterial(ssl_ctx_st* context, TimePoint not_before, TimePoint not_after);  // takes ownership of `context`
  ~TlsMaterial();
  TlsMaterial(const TlsMaterial&) = delete;
  TlsMaterial& operator=(const TlsMaterial&) = delete;

  [[nodiscard]] ssl_ctx_st* context() const { return context_; }
  [[nodiscard]] TimePoint not_before() const { return not_before_; }
  [[nodiscard]] TimePoint not_after() const { return not_after_; }

 private:
  ssl_ctx_st* context_;
  TimePoint not_before_;
  TimePoint not_after_;
};

// "the certificate expired at 2026-11-29T16:58:33Z; ..." or nothing. An expired certificate is served all the same: the
// client decides, and an API server that does not verify dates must not lose its webhook.
std::optional<std::string> ValidityWarning(const TlsMaterial& material, TimePoint now);

}  // namespace podium
