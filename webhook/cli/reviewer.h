// One manifest's way through admission: as the API server would send it, decided, patched, sent again for validation.
#pragma once

#include <memory>
#include <string>

#include "admission/codec.h"
#include "cli/report.h"
#include "kube/transport.h"
#include "podium/policy.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

struct ReviewSetting {
  const Policy& policy;
  const ClusterSnapshot* snapshot = nullptr;  // null: the policy's ladder stands in for the classes
  std::string default_namespace = "default";
  std::string own_namespace = "podium-system";
  TimePoint now{};
};

// What one endpoint says.
struct EndpointAnswer {
  Decision decision;  // of a server: only what its answer carries
  std::string patch = "[]";
};

// Who decides: this process or a server.
class ReviewEndpoints {
 public:
  virtual ~ReviewEndpoints() = default;
  // An error: there is no answer (no connection, an HTTP error, not an AdmissionReview).
  virtual Result<EndpointAnswer> Ask(Endpoint endpoint, const std::string& review) = 0;
};

// `setting` must outlive it.
std::unique_ptr<ReviewEndpoints> DecideHere(const ReviewSetting& setting);
std::unique_ptr<ReviewEndpoints> AskServer(std::unique_ptr<HttpsClient> client, const ReviewSetting& setting);

// An error: the manifest cannot be sent as it is, or there is no answer.
Result<ReviewItem> ReviewManifest(const Manifest& manifest, const ReviewSetting& setting, ReviewEndpoints& endpoints);

}  // namespace podium
