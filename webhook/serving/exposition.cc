// The table of metrics, and how a scrape reads each of them. Prometheus headers are included here only.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <optional>
#include <sstream>

#include "audit/file_sink.h"
#include "serving/metrics.h"
#include "serving/process.h"
#include "serving/tls.h"

namespace podium {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr Endpoint kEndpoints[] = {Endpoint::kMutate, Endpoint::kValidate};
constexpr std::string_view kOperationNames[] = {"CREATE", "UPDATE", "DELETE", "CONNECT", "unknown"};
constexpr std::string_view kOutcomeNames[] = {"allowed", "refused", "unreadable"};
constexpr std::string_view kAuditResultNames[] = {"written", "failed"};

// What one row's function works on: where to read, and the family to fill.
class Scrape {
 public:
  Scrape(const Metrics& source, const MetricSources& other, const ClusterFigures& of_cluster, MetricFamily& into)
      : metrics(source), sources(other), cluster(of_cluster), family_(into) {}

  void Value(double value, std::vector<ClientMetric::Label> labels = {}) const {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;  // a serializer looks at the member of the family's type only
    metric.gauge.value = value;
    family_.metric.push_back(std::move(metric));
  }
  void Value(std::uint64_t value, std::vector<ClientMetric::Label> labels = {}) const {
    Value(static_cast<double>(value), std::move(labels));
  }
  void Histogram(const DurationHistogram::Values& values, std::vector<ClientMetric::Label> labels) const;

  const Metrics& metrics;
  const MetricSources& sources;
  const ClusterFigures& cluster;

 private:
  MetricFamily& family_;
};

void Scrape::Histogram(const DurationHistogram::Values& values, std::vector<ClientMetric::Label> labels) const {
  ClientMetric metric;
  metric.label = std::move(labels);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < values.buckets.size(); ++i) {
    count += values.buckets[i];
    const bool last = i == DurationHistogram::kBoundsMicroseconds.size();
    const double bound = last ? std::numeric_limits<double>::infinity()
                              : static_cast<double>(DurationHistogram::kBoundsMicroseconds[i]) / 1e6;
    metric.histogram.bucket.push_back({count, bound});
  }
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = values.sum_seconds;
  family_.metric.push_back(std::move(metric));
}

std::string Text(std::string_view text) { return std::string(text); }

// --- admission ------------------------------------------------------------------------------------------------------

void ReadRequests(const Scrape& to) {
  for (const Endpoint endpoint : kEndpoints)
    for (std::size_t operation = 0; operation < Metrics::kOperations; ++operation)
      for (std::size_t outcome = 0; outcome < Metrics::kOutcomes; ++outcome) {
        const bool unknown = operation == Metrics::kOperations - 1;
        const bool unreadable = outcome == static_cast<std::size_t>(ReviewOutcome::kUnreadable);
        if (unknown != unreadable) continue;  // cannot happen: no sample rather than a row of zeros
        to.Value(to.metrics.Of(endpoint).requests[operation][outcome], {{"endpoint", Text(ToString(endpoint))},
                                                                        {"operation", Text(kOperationNames[operation])},
                                                                        {"verdict", Text(kOutcomeNames[outcome])}});
      }
}

void ReadDurations(const Scrape& to) {
  for (const Endpoint endpoint : kEndpoints)
    to.Histogram(to.metrics.Of(endpoint).duration.Read(), {{"endpoint", Text(ToString(endpoint))}});
}

void ReadSkipped(const Scrape& to) {
  for (std::size_t i = 1; i < Metrics::kSkipReasons; ++i) {  // 0 is "not skipped"
    const auto reason = static_cast<SkipReason>(i);
    to.Value(to.metrics.skipped(reason), {{"reason", Text(ToString(reason))}});
  }
}

void ReadFindings(const Scrape& to) {
  for (const auto& [label, count] : to.metrics.findings().Values()) {
    const std::size_t slash = label.find('/');
    const bool other = slash == std::string::npos;
    to.Value(count, {{"rule", label.substr(0, slash)}, {"mode", other ? "other" : label.substr(slash + 1)}});
  }
}

void ReadInjections(const Scrape& to) {
  for (const auto& [label, count] : to.metrics.injections().Values()) to.Value(count, {{"workload_type", label}});
}

void ReadAdvice(const Scrape& to) {
  for (const auto& [label, count] : to.metrics.advice().Values()) to.Value(count, {{"verdict", label}});
}

void ReadInternalErrors(const Scrape& to) { to.Value(to.metrics.internal_errors()); }

void ReadAudit(const Scrape& to) {
  for (const AuditResult result : {AuditResult::kWritten, AuditResult::kFailed})
    to.Value(to.metrics.audit(result), {{"result", Text(kAuditResultNames[static_cast<std::size_t>(result)])}});
}

// --- queries --------------------------------------------------------------------------------------------------------

void ReadQueries(const Scrape& to) {
  if (to.sources.access == nullptr) return;
  for (std::size_t i = 0; i < kQueryOutcomes; ++i) {
    const auto outcome = static_cast<QueryOutcome>(i);
    to.Value(to.metrics.queries(outcome), {{"outcome", Text(ToString(outcome))}});
  }
}

void ReadQueryDurations(const Scrape& to) {
  if (to.sources.access != nullptr) to.Histogram(to.metrics.query_duration().Read(), {});
}

void ReadAccessReviews(const Scrape& to) {
  if (to.sources.access == nullptr) return;
  const AccessCounters counters = to.sources.access->counters();
  to.Value(counters.remembered, {{"result", "remembered"}});
  to.Value(counters.asked, {{"result", "answered"}});
  to.Value(counters.failed, {{"result", "failed"}});
  to.Value(counters.held_back, {{"result", "held_back"}});
}

// --- state ----------------------------------------------------------------------------------------------------------

void ReadPolicy(const Scrape& to) {
  const auto policy = to.sources.policy == nullptr ? nullptr : to.sources.policy->Load();
  if (policy) to.Value(1.0, {{"name", policy->name}, {"revision", policy->revision}});
}

void ReadSnapshotGeneration(const Scrape& to) {
  const auto snapshot = to.sources.snapshots == nullptr ? nullptr : to.sources.snapshots->Current();
  if (snapshot) to.Value(snapshot->generation);
}

void ReadSnapshotAge(const Scrape& to) {
  const auto snapshot = to.sources.snapshots == nullptr ? nullptr : to.sources.snapshots->Current();
  if (!snapshot || to.sources.clock == nullptr) return;
  to.Value(std::chrono::duration<double>(to.sources.clock->Now() - snapshot->taken_at).count());
}

// --- the live cluster -----------------------------------------------------------------------------------------------

template <typename Write>
void ReadSources(const Scrape& to, const Write& write) {
  const auto snapshot = to.sources.snapshots == nullptr ? nullptr : to.sources.snapshots->Current();
  if (!snapshot) return;
  for (const auto& [resource, source] : snapshot->sources) to.Value(write(source), {{"resource", resource}});
}

void ReadSourceAge(const Scrape& to) {
  const auto snapshot = to.sources.snapshots == nullptr ? nullptr : to.sources.snapshots->Current();
  if (!snapshot || to.sources.clock == nullptr) return;
  const TimePoint now = to.sources.clock->Now();
  for (const auto& [resource, source] : snapshot->sources) {
    if (!source.synced) continue;  // never heard of: it would look 50 years old
    to.Value(std::chrono::duration<double>(now - source.last_event).count(), {{"resource", resource}});
  }
}

void ReadSourceObjects(const Scrape& to) {
  ReadSources(to, [](const SourceState& source) { return static_cast<double>(source.objects); });
}

void ReadSourceSkipped(const Scrape& to) {
  ReadSources(to, [](const SourceState& source) { return static_cast<double>(source.skipped); });
}

template <std::uint64_t WatchFigure::*kCounter>
void ReadWatches(const Scrape& to) {
  for (const WatchFigure& watch : to.cluster.watches) to.Value(watch.*kCounter, {{"resource", watch.resource}});
}

void ReadClassDrift(const Scrape& to) {
  if (to.cluster.watches.empty()) return;
  for (const char* difference : {"missing", "value", "preemption_policy", "global_default", "many_defaults"}) {
    const auto found = to.cluster.class_drift.find(difference);
    to.Value(found == to.cluster.class_drift.end() ? 0 : found->second, {{"difference", difference}});
  }
}

void ReadLeader(const Scrape& to) {
  if (to.cluster.budgets) to.Value(to.cluster.budgets->leader ? 1.0 : 0.0);
}

void ReadRoundAge(const Scrape& to) {
  if (!to.cluster.budgets || !to.cluster.budgets->last_round || to.sources.clock == nullptr) return;
  to.Value(std::chrono::duration<double>(to.sources.clock->Now() - *to.cluster.budgets->last_round).count());
}

template <std::uint64_t BudgetFigures::*kCounter>
void ReadBudgets(const Scrape& to) {
  if (to.cluster.budgets) to.Value((*to.cluster.budgets).*kCounter);
}

void ReadBudgetWrites(const Scrape& to) {
  if (!to.cluster.budgets) return;
  const BudgetFigures& budgets = *to.cluster.budgets;
  to.Value(budgets.created, {{"result", "created"}});
  to.Value(budgets.updated, {{"result", "updated"}});
  to.Value(budgets.removed, {{"result", "removed"}});
  to.Value(budgets.failed, {{"result", "failed"}});
}

void ReadAccuracy(const Scrape& to) {
  for (const AccuracyFigure& each : to.cluster.accuracy)
    to.Value(each.count,
             {{"predicted", Text(each.predicted)}, {"actual", Text(each.actual)}, {"outcome", Text(each.outcome)}});
}

void ReadAccuracyWaiting(const Scrape& to) {
  if (!to.cluster.watches.empty()) to.Value(to.cluster.accuracy_waiting);
}

void ReadCertificate(const Scrape& to) {
  const auto material = to.sources.tls == nullptr ? nullptr : to.sources.tls->Load();
  if (material) to.Value(std::chrono::duration<double>(material->not_after().time_since_epoch()).count());
}

void ReadDraining(const Scrape& to) {
  if (to.sources.state != nullptr) to.Value(to.sources.state->draining ? 1.0 : 0.0);
}

void ReadBuild(const Scrape& to) { to.Value(1.0, {{"version", to.sources.version}}); }

// --- engine ---------------------------------------------------------------------------------------------------------

template <std::uint64_t EngineCounters::*kCounter>
void ReadEngine(const Scrape& to) {
  if (to.sources.state == nullptr) return;
  const Engine* engine = to.sources.state->engine.load();
  const Engine* queries = to.sources.state->query_engine.load();
  if (engine == nullptr) return;
  to.Value(engine->counters().*kCounter + (queries == nullptr ? 0 : queries->counters().*kCounter));
}

template <std::uint64_t AuditCounters::*kCounter>
void ReadAuditSink(const Scrape& to) {
  if (to.sources.audit != nullptr) to.Value(to.sources.audit->counters().*kCounter);
}

// --- process: the names that Prometheus client libraries agree on ---------------------------------------------------

template <std::optional<double> (*kRead)()>
void ReadProcess(const Scrape& to) {
  if (const std::optional<double> value = kRead()) to.Value(*value);
}

// --- the table ------------------------------------------------------------------------------------------------------

struct Row {
  std::string_view name;
  MetricType type;
  std::string_view labels;
  std::string_view help;
  void (*read)(const Scrape&);
};

constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;
constexpr MetricType kHistogram = MetricType::Histogram;

constexpr Row kTable[] = {
    {"podium_admission_requests_total", kCounter, "endpoint, operation, verdict", "Reviews by outcome.", ReadRequests},
    {"podium_admission_duration_seconds", kHistogram, "endpoint",
     "From the bytes of a review to the bytes of its answer, audit line included.", ReadDurations},
    {"podium_admission_skipped_total", kCounter, "reason", "Reviews the policy was not applied to.", ReadSkipped},
    {"podium_admission_internal_errors_total", kCounter, "", "Reviews that could be read but not decided.",
     ReadInternalErrors},
    {"podium_findings_total", kCounter, "rule, mode", "Findings of rules.", ReadFindings},
    {"podium_injections_total", kCounter, "workload_type", "Pod templates that were given a class.", ReadInjections},
    {"podium_advice_total", kCounter, "verdict", "Pod templates with GPUs that advice was asked for.", ReadAdvice},
    {"podium_audit_records_total", kCounter, "result", "Audit records handed to the log.", ReadAudit},
    {"podium_audit_lines_dropped_total", kCounter, "", "Audit lines that were queued and then lost (relaxed mode).",
     ReadAuditSink<&AuditCounters::dropped>},
    {"podium_audit_write_errors_total", kCounter, "", "Failed attempts to write or sync the audit log.",
     ReadAuditSink<&AuditCounters::errors>},
    {"podium_query_requests_total", kCounter, "outcome", "Questions to the query listener.", ReadQueries},
    {"podium_query_duration_seconds", kHistogram, "",
     "From the last byte of a question to its answer, the API server's part included.", ReadQueryDurations},
    {"podium_query_access_reviews_total", kCounter, "result",
     "Who a caller is and what they may do: asked of the API server, remembered, or neither.", ReadAccessReviews},
    {"podium_policy_info", kGauge, "name, revision", "The policy in force; always 1.", ReadPolicy},
    {"podium_snapshot_generation", kGauge, "", "Number of the cluster snapshot in use.", ReadSnapshotGeneration},
    {"podium_snapshot_age_seconds", kGauge, "", "Age of the cluster snapshot in use.", ReadSnapshotAge},
    {"podium_watch_age_seconds", kGauge, "resource",
     "Since the last list, accepted watch, event or bookmark of a watched resource.", ReadSourceAge},
    {"podium_watch_objects", kGauge, "resource", "Objects held of a watched resource.", ReadSourceObjects},
    {"podium_watch_objects_skipped", kGauge, "resource", "Objects that could not be read and are left out.",
     ReadSourceSkipped},
    {"podium_watch_lists_total", kCounter, "resource", "Lists begun.", ReadWatches<&WatchFigure::lists>},
    {"podium_watch_starts_total", kCounter, "resource", "Watches begun.", ReadWatches<&WatchFigure::watches>},
    {"podium_watch_events_total", kCounter, "resource", "Changes received.", ReadWatches<&WatchFigure::events>},
    {"podium_watch_errors_total", kCounter, "resource", "Lists and watches that failed, were refused or broke off.",
     ReadWatches<&WatchFigure::errors>},
    {"podium_class_drift", kGauge, "difference", "Classes that differ between the policy and the cluster.",
     ReadClassDrift},
    {"podium_budgets_leader", kGauge, "", "1 in the one replica that writes disruption budgets.", ReadLeader},
    {"podium_budgets_round_age_seconds", kGauge, "",
     "Since this replica last compared budgets with what they should be.", ReadRoundAge},
    {"podium_budgets_managed", kGauge, "", "Disruption budgets that are Podium's own.",
     ReadBudgets<&BudgetFigures::managed>},
    {"podium_budgets_stepped_aside", kGauge, "", "Workloads left to a user's own budget.",
     ReadBudgets<&BudgetFigures::stepped_aside>},
    {"podium_budgets_problems", kGauge, "", "Budgets that somebody has to look at: podium pdb plan.",
     ReadBudgets<&BudgetFigures::problems>},
    {"podium_budget_writes_total", kCounter, "result", "Disruption budgets written.", ReadBudgetWrites},
    {"podium_budget_events_total", kCounter, "", "Events written on workloads.", ReadBudgets<&BudgetFigures::events>},
    {"podium_feasibility_accuracy_total", kCounter, "predicted, actual, outcome",
     "Pods by the verdict at admission and what the scheduler then did.", ReadAccuracy},
    {"podium_feasibility_accuracy_waiting", kGauge, "", "Pods whose verdict waits for the scheduler's turn.",
     ReadAccuracyWaiting},
    {"podium_certificate_not_after_seconds", kGauge, "", "When the serving certificate expires, Unix time.",
     ReadCertificate},
    {"podium_draining", kGauge, "", "1 while the process is shutting down.", ReadDraining},
    {"podium_build_info", kGauge, "version", "The build; always 1.", ReadBuild},
    {"podium_http_connections_open", kGauge, "", "Connections open now, all listeners.",
     ReadEngine<&EngineCounters::connections_open>},
    {"podium_http_connections_accepted_total", kCounter, "", "Connections accepted.",
     ReadEngine<&EngineCounters::connections_accepted>},
    {"podium_http_connections_refused_total", kCounter, "",
     "Connections over the cap: the new one, or a silent one in its place, was closed.",
     ReadEngine<&EngineCounters::connections_refused>},
    {"podium_http_tls_handshakes_failed_total", kCounter, "", "TLS handshakes that came to nothing.",
     ReadEngine<&EngineCounters::handshakes_failed>},
    {"podium_http_requests_total", kCounter, "", "Requests given to a handler.", ReadEngine<&EngineCounters::requests>},
    {"podium_http_requests_rejected_total", kCounter, "", "Requests the server itself answered with 4xx or 503.",
     ReadEngine<&EngineCounters::requests_rejected>},
    {"podium_http_deadlines_total", kCounter, "", "Connections cut for being slow.",
     ReadEngine<&EngineCounters::deadlines>},
    {"process_resident_memory_bytes", kGauge, "", "Resident memory.", ReadProcess<ResidentBytes>},
    {"process_cpu_seconds_total", kCounter, "", "CPU time, user and system.", ReadProcess<CpuSeconds>},
    {"process_open_fds", kGauge, "", "Open file descriptors.", ReadProcess<OpenFiles>},
    {"process_max_fds", kGauge, "", "Limit of open file descriptors.", ReadProcess<MostOpenFiles>},
    {"process_threads", kGauge, "", "Threads.", ReadProcess<Threads>},
};

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::Counter: return "counter";
    case MetricType::Gauge: return "gauge";
    case MetricType::Histogram: return "histogram";
    default: return "untyped";
  }
}

}  // namespace

std::vector<MetricDescription> MetricTable() {
  std::vector<MetricDescription> table;
  for (const Row& row : kTable) table.push_back({row.name, TypeName(row.type), row.labels, row.help});
  return table;
}

std::string RenderMetrics(const Metrics& metrics, const MetricSources& sources) {
  std::vector<MetricFamily> families;
  const ClusterFigures cluster = sources.cluster ? sources.cluster() : ClusterFigures{};
  for (const Row& row : kTable) {
    MetricFamily family{Text(row.name), Text(row.help), row.type, {}};
    row.read(Scrape(metrics, sources, cluster, family));
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace podium
