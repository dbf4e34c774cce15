// Changes to the cluster through the API server.
#pragma once

#include <string>

#include "kube/api_client.h"
#include "podium/ports.h"

namespace podium {

// "/apis/policy/v1/namespaces/ml/poddisruptionbudgets", with the name for one object. Every part is percent-encoded.
std::string CollectionPath(const ObjectRef& object);
std::string ObjectPath(const ObjectRef& object);

// Thread-safe, as its client is. Nothing is tried again here: the callers look before they repeat.
class ApiWriter final : public ObjectWriter {
 public:
  explicit ApiWriter(ApiClient& api) : api_(api) {}  // must outlive the writer
  Result<std::string> Apply(const ObjectRef& object, std::string_view json, Ownership ownership) override;
  Status Delete(const ObjectRef& object, std::string_view uid) override;
  Status Create(const ObjectRef& object, std::string_view json) override;

 private:
  ApiClient& api_;
};

}  // namespace podium
