// Who somebody is and what they may do, by asking the API server.
#pragma once

#include <string>
#include <vector>

#include "kube/api_client.h"
#include "podium/ports.h"

namespace podium {

// TokenReview and SubjectAccessReview. Thread-safe, as its client is. Nothing is remembered and nothing tried again.
// Give it a client of its own whose calls end soon (ApiClientOptions::call_time): somebody waits for the answer.
class KubeAccessReviewer final : public AccessReviewer {
 public:
  // `audiences`: whom tokens must be for; empty: the API server. `api` must outlive it.
  KubeAccessReviewer(ApiClient& api, std::vector<std::string> audiences)
      : api_(api), audiences_(std::move(audiences)) {}

  Result<std::optional<Caller>> WhoIs(std::string_view token) override;
  Result<bool> May(const Caller& caller, const AccessQuestion& question) override;

 private:
  Result<std::string> Create(const std::string& path, std::string body, const std::string& doing);

  ApiClient& api_;
  const std::vector<std::string> audiences_;
};

}  // namespace podium
