// The Lease of coordination.k8s.io/v1 that a LeaseKeeper keeps.
#pragma once

#include <string>
#include <string_view>

#include "kube/api_client.h"
#include "kube/lease.h"
#include "podium/ports.h"

namespace podium {

// Calls the API server. Give it a client of its own whose calls end within 3 s (ApiClientOptions::call_time), so that
// no other call can hold a renewal up.
class KubeLeaseApi final : public LeaseApi {
 public:
  KubeLeaseApi(ApiClient& api, std::string namespace_name, std::string name);  // `api` must outlive it
  Result<StoredLease> Get() override;
  Result<StoredLease> Create(const LeaseRecord& record) override;
  Result<StoredLease> Update(const LeaseRecord& record, const std::string& resource_version) override;

 private:
  Result<StoredLease> Ask(const ApiRequest& request, std::string_view doing);
  [[nodiscard]] std::string Render(const LeaseRecord& record, const std::string& resource_version) const;

  ApiClient& api_;
  const ObjectRef lease_;
};

// A stored Lease; fields that are absent are empty or 0.
Result<StoredLease> ReadLease(std::string_view json);

}  // namespace podium
