// The two admission endpoints: bytes in, decision, audit line, bytes out.
// Audit lines go through the engine's journal: the decisions of one turn of a reactor share one write.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "admission/advisor.h"
#include "admission/decide.h"
#include "audit/file_sink.h"
#include "core/cell.h"
#include "podium/ports.h"
#include "serving/http.h"
#include "serving/metrics.h"

namespace podium {

// What the endpoints work with. Everything pointed to must outlive the routes.
struct WebhookDeps {
  const Cell<Policy>* policy = nullptr;       // an empty cell: 503 with Retry-After until there is one
  const SnapshotSource* snapshots = nullptr;  // null: no cluster to look at
  const Cell<Advisor>* advisors = nullptr;    // null, or an empty cell: no advice
  AuditMode audit_mode = AuditMode::kStrict;  // strict: a decision that cannot be recorded is a refusal
  const Clock* clock = nullptr;               // required; wall clock of decisions and records
  Metrics* metrics = nullptr;                 // required
  std::string instance;                       // random id of this process, in every audit record
  DecideOptions decide;
  // Told of each decision before it is answered; may be empty. Called by any reactor, so it must be quick.
  std::function<void(const AdmissionRequest& request, const Decision& decision, TimePoint now)> decided;
};

// POST /mutate and POST /validate. Thread-safe: any number of reactors may call the handlers at once. Policy and
// snapshot are loaded once for each request. A body that is no review is answered with 400 and what is wrong with it;
// everything else with 200 and an AdmissionReview. The query (?timeout=10s) is accepted and not needed: a decision
// takes microseconds. A decision is a JournaledAnswer whose entry is its audit line.
std::vector<Route> WebhookRoutes(WebhookDeps deps);

// For the engine that serves WebhookRoutes: appends audit lines and counts them. Both must outlive it.
Journal AuditJournal(AuditSink& sink, Metrics& metrics);

}  // namespace podium
