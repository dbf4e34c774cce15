#include "serving/webhook.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "admission/codec.h"
#include "audit/record.h"
#include "serving/head.h"

namespace podium {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A decision that leaves no trace may not take effect. Says nothing about the disk: that is for the operator's log.
void RefuseUnrecorded(Decision& decision) {
  decision.verdict = Verdict::kRefuse;
  decision.code = 500;
  decision.message = "the audit log cannot be written and the policy server runs in strict mode: try again later";
  decision.edits.clear();
  decision.warnings.clear();
}

class Webhook {
 public:
  explicit Webhook(WebhookDeps deps) : deps_(std::move(deps)) {}

  HttpResponse Handle(Endpoint endpoint, const HttpRequest& http);

 private:
  Status Record(const AdmissionRequest& request, const Decision& decision, const AuditContext& audit);

  const WebhookDeps deps_;
  std::atomic<std::uint64_t> sequence_{0};
};

HttpResponse Webhook::Handle(Endpoint endpoint, const HttpRequest& http) {
  thread_local ReviewDecoder decoder;
  const SteadyClock::time_point began = SteadyClock::now();
  const std::shared_ptr<const Policy> policy = deps_.policy->Load();
  if (!policy) return OverloadedResponse("no policy is loaded yet; try again");
  const Result<AdmissionRequest> request = decoder.Decode(http.body);
  if (!request) {
    deps_.metrics->ObserveUnreadable(endpoint);
    return ErrorResponse(400, request.error().message);
  }
  const auto snapshot = deps_.snapshots == nullptr ? nullptr : deps_.snapshots->Current();
  const TimePoint now = deps_.clock->Now();
  Decision decision = Decide(*request, *policy, snapshot.get(), deps_.decide, now);
  const Status recorded = Record(*request, decision,
                                 {.at = now,
                                  .sequence = 1 + sequence_.fetch_add(1, std::memory_order_relaxed),
                                  .instance = deps_.instance,
                                  .endpoint = ToString(endpoint),
                                  .peer = http.peer,
                                  .duration = SteadyClock::now() - began});
  if (!recorded && deps_.audit_mode == AuditMode::kStrict) RefuseUnrecorded(decision);
  HttpResponse response;
  response.body = EncodeReview(decision, endpoint);
  deps_.metrics->ObserveReview(endpoint, *request, decision, SteadyClock::now() - began);
  return response;
}

Status Webhook::Record(const AdmissionRequest& request, const Decision& decision, const AuditContext& audit) {
  Status status = deps_.audit->Append(MakeRecord(request, decision, audit));
  deps_.metrics->ObserveAudit(status ? AuditResult::kWritten : AuditResult::kFailed);
  return status;
}

}  // namespace

std::vector<Route> WebhookRoutes(WebhookDeps deps) {
  const auto webhook = std::make_shared<Webhook>(std::move(deps));
  std::vector<Route> routes;
  for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate}) {
    routes.push_back({.method = "POST",
                      .path = "/" + std::string(ToString(endpoint)),
                      .handler = [webhook, endpoint](const HttpRequest& http) { return webhook->Handle(endpoint, http); }});
  }
  return routes;
}

}  // namespace podium
