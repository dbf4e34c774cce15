// The credential that requests carry, renewed in time.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/mutex.h"
#include "kube/cluster_access.h"
#include "kube/exec_plugin.h"
#include "podium/result.h"

namespace podium {

// Thread-safe. A token file is read again after a minute (the kubelet renews it long before it expires; client-go,
// transport/token_source.go), a plugin is run again ten seconds before what it gave expires. While the plugin runs,
// other callers wait for it, and share what comes of it, a failure too.
class CredentialSource {
 public:
  using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

  explicit CredentialSource(TokenSource source, const ExecLimits& limits = {},
                            SteadyNow now = std::chrono::steady_clock::now);

  // Empty for a source of kind kNone.
  Result<Credential> Current();
  // The server refused `token` with 401: it is read anew by the next Current, unless another thread already did.
  // False when there is nothing that could be read anew.
  bool Reject(const std::string& token);

 private:
  Result<Credential> Read() const;
  [[nodiscard]] std::chrono::steady_clock::time_point UsableUntil(const Credential& credential) const;

  const TokenSource source_;
  const ExecLimits limits_;
  const SteadyNow now_;
  Mutex mutex_;
  bool known_ PODIUM_GUARDED_BY(mutex_) = false;
  Credential credential_ PODIUM_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point until_ PODIUM_GUARDED_BY(mutex_);
  std::optional<Error> failure_ PODIUM_GUARDED_BY(mutex_);  // the last one
  std::chrono::steady_clock::time_point failed_at_ PODIUM_GUARDED_BY(mutex_);
};

}  // namespace podium
