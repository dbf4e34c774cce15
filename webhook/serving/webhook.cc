#include "serving/webhook.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "admission/advise.h"
#include "admission/codec.h"
#include "audit/record.h"
#include "core/text.h"
#include "serving/head.h"
#include "serving/log_limit.h"

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

// What was decided, until it is known whether that is recorded.
struct Decided {
  Endpoint endpoint = Endpoint::kMutate;
  Operation operation = Operation::kCreate;
  Decision decision;
  SteadyClock::time_point began;
};

// While the disk is full every turn fails.
void LogAuditFailure(const std::string& problem) {
  static LogLimit limit;
  if (!limit.Due()) return;
  spdlog::error("{}; requests are refused until it can be written (strict mode), or their lines are lost", problem);
}

// A picture that was prepared for evaluations comes some milliseconds after the same one without. Decisions go by it
// unless whoever prepares them has fallen behind: the newest picture has been waiting for so long, or the prepared one
// is so much older in a cluster that never rests.
constexpr std::chrono::seconds kMostWaiting{1};
constexpr std::chrono::seconds kMostBehind{10};

// What one request sees of the cluster.
struct View {
  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::shared_ptr<const Advisor> advisor;  // null, or on that snapshot
  NoAdvice missing = NoAdvice::kNone;      // why it is null although it might have been there
};

bool HasFallenBehind(const ClusterSnapshot& prepared, const ClusterSnapshot& newest, TimePoint now) {
  const auto behind = newest.taken_at - prepared.taken_at;
  return behind > kMostBehind || (behind > kMostWaiting && now - newest.taken_at > kMostWaiting);
}

class Webhook {
 public:
  explicit Webhook(WebhookDeps deps) : deps_(std::move(deps)) {}

  Answer Handle(Endpoint endpoint, const HttpRequest& http);

 private:
  [[nodiscard]] View Look(TimePoint now) const;
  [[nodiscard]] Decision DecideOn(const AdmissionRequest& request, const Policy& policy, std::string_view review,
                                  TimePoint now) const;
  HttpResponse Reply(Decided& decided, bool recorded) const;

  const WebhookDeps deps_;
  std::atomic<std::uint64_t> sequence_{0};
};

View Webhook::Look(TimePoint now) const {
  if (deps_.snapshots == nullptr) return {};
  View view{deps_.snapshots->Current(), deps_.advisors == nullptr ? nullptr : deps_.advisors->Load()};
  if (!view.snapshot) return {nullptr, nullptr, NoAdvice::kUnsynced};
  if (!view.advisor || HasFallenBehind(*view.advisor->snapshot(), *view.snapshot, now))
    return {std::move(view.snapshot), nullptr, NoAdvice::kBehind};
  view.snapshot = view.advisor->snapshot();
  return view;
}

Decision Webhook::DecideOn(const AdmissionRequest& request, const Policy& policy, std::string_view review,
                           TimePoint now) const {
  const View view = Look(now);
  Decision decision = Decide(request, policy, view.snapshot.get(), deps_.decide, now);
  if (view.advisor) return WithAdvice(std::move(decision), {request, policy, *view.advisor, review, now});
  if (deps_.advisors == nullptr || view.missing == NoAdvice::kNone) return decision;
  return WithoutAdvice(std::move(decision), request, policy, view.missing);
}

Answer Webhook::Handle(Endpoint endpoint, const HttpRequest& http) {
  thread_local ReviewDecoder decoder;
  const SteadyClock::time_point began = SteadyClock::now();
  const std::shared_ptr<const Policy> policy = deps_.policy->Load();
  if (!policy) return OverloadedResponse("no policy is loaded yet; try again");
  Result<AdmissionRequest> request = decoder.Decode(http.body);
  if (!request) {
    deps_.metrics->ObserveUnreadable(endpoint);
    return ErrorResponse(400, request.error().message);
  }
  request->endpoint = endpoint;
  const TimePoint now = deps_.clock->Now();
  // Shared only because std::function wants to be copied.
  const auto decided = std::make_shared<Decided>(
      Decided{endpoint, request->operation, DecideOn(*request, *policy, http.body, now), began});
  if (deps_.decided) deps_.decided(*request, decided->decision, now);
  std::string line = MakeRecord(*request, decided->decision,
                                {.at = now,
                                 .sequence = 1 + sequence_.fetch_add(1, std::memory_order_relaxed),
                                 .instance = deps_.instance,
                                 .endpoint = ToString(endpoint),
                                 .peer = http.peer,
                                 .duration = SteadyClock::now() - began});
  line.push_back('\n');
  return JournaledAnswer{std::move(line), [this, decided](bool recorded) { return Reply(*decided, recorded); }};
}

HttpResponse Webhook::Reply(Decided& decided, bool recorded) const {
  if (!recorded && deps_.audit_mode == AuditMode::kStrict) RefuseUnrecorded(decided.decision);
  HttpResponse response;
  response.body = EncodeReview(decided.decision, decided.endpoint);
  deps_.metrics->ObserveReview(decided.endpoint, decided.operation, decided.decision,
                               SteadyClock::now() - decided.began);
  return response;
}

}  // namespace

std::vector<Route> WebhookRoutes(WebhookDeps deps) {
  const auto webhook = std::make_shared<Webhook>(std::move(deps));
  std::vector<Route> routes;
  for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate}) {
    routes.push_back(
        {.method = "POST",
         .path = "/" + std::string(ToString(endpoint)),
         .handler = [webhook, endpoint](const HttpRequest& http) { return webhook->Handle(endpoint, http); }});
  }
  return routes;
}

Journal AuditJournal(AuditSink& sink, Metrics& metrics) {
  return [&sink, &metrics](std::string_view lines) {
    const AppendOutcome outcome = sink.Append(lines);
    const std::size_t recorded = outcome.bytes;
    if (outcome.error) LogAuditFailure(outcome.error->message);
    metrics.ObserveAudit(AuditResult::kWritten, CountLines(lines.substr(0, recorded)));
    metrics.ObserveAudit(AuditResult::kFailed, CountLines(lines.substr(recorded)));
    return recorded;
  };
}

}  // namespace podium
