// The server's certificate as files that somebody exchanges while the server runs.
#pragma once

#include <memory>
#include <string>

#include "podium/result.h"
#include "serving/tls.h"

namespace podium {

// Not thread-safe.
class CertificateFiles {
 public:
  // What the files hold now is taken as read.
  CertificateFiles(std::string cert_file, std::string key_file);

  // The new pair; null: nothing has changed since. An error (half a pair, no PEM) is given once for each state of the
  // files, and what was read before stays good.
  Result<std::shared_ptr<const TlsMaterial>> ReadIfChanged();

 private:
  [[nodiscard]] std::string Mark() const;

  const std::string cert_file_;
  const std::string key_file_;
  std::string mark_;
};

}  // namespace podium
