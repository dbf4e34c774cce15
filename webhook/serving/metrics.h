// Podium's own metrics: one table of rows (metrics.cc; documented in docs/metrics.md), cheap to update, read at a
// scrape.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/codec.h"
#include "core/cell.h"
#include "core/mutex.h"
#include "podium/admission.h"
#include "podium/ports.h"
#include "query/service.h"
#include "serving/engine.h"

namespace podium {

class FileAuditSink;

// Counters by a label value that is known only at run time. Thread-safe; adding to a known value takes no lock.
// Cardinality is bounded: values that come after the first `kCapacity` are counted as "other".
class LabelledCounter {
 public:
  static constexpr std::size_t kCapacity = 64;

  void Add(std::string_view label);
  // (label, count) in the order of first appearance; "other" last, when it is not zero.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> Values() const;

 private:
  struct Slot {
    std::string label;
    std::atomic<std::uint64_t> count{0};
  };
  std::atomic<std::uint64_t>& Find(std::string_view label);

  Mutex mutex_;                        // taken to append a slot
  std::array<Slot, kCapacity> slots_;  // those below used_ never change their label
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> other_{0};
};

// Durations in buckets fit for microsecond decisions. Thread-safe, no lock.
class DurationHistogram {
 public:
  static constexpr std::array<std::int64_t, 14> kBoundsMicroseconds = {
      10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 50'000, 100'000, 500'000, 1'000'000};

  void Observe(std::chrono::nanoseconds duration);

  struct Values {
    std::array<std::uint64_t, kBoundsMicroseconds.size() + 1> buckets{};  // not cumulative; the last one is +Inf
    double sum_seconds = 0;
  };
  [[nodiscard]] Values Read() const;

 private:
  std::array<std::atomic<std::uint64_t>, kBoundsMicroseconds.size() + 1> buckets_{};
  std::atomic<std::int64_t> sum_nanoseconds_{0};
};

enum class ReviewOutcome { kAllowed, kRefused, kUnreadable };  // kUnreadable: answered 400
enum class AuditResult { kWritten, kFailed };

// What the request path counts. Thread-safe; an update costs a few relaxed atomic additions.
class Metrics {
 public:
  Metrics() = default;

  // A review that was decided, and how long that took from its bytes to the answer's.
  void ObserveReview(Endpoint endpoint, Operation operation, const Decision& decision,
                     std::chrono::nanoseconds duration);
  void ObserveUnreadable(Endpoint endpoint);
  void ObserveAudit(AuditResult result, std::uint64_t lines);
  // A question of the query listener, and how long it took from its last byte to the answer.
  void ObserveQuery(QueryOutcome outcome, std::chrono::nanoseconds duration);

  static constexpr std::size_t kOperations = 5;  // CREATE, UPDATE, DELETE, CONNECT, unknown (unreadable)
  static constexpr std::size_t kOutcomes = 3;
  static constexpr std::size_t kSkipReasons = 9;
  struct PerEndpoint {
    std::array<std::array<std::atomic<std::uint64_t>, kOutcomes>, kOperations> requests{};
    DurationHistogram duration;
  };
  [[nodiscard]] const PerEndpoint& Of(Endpoint endpoint) const {
    return endpoints_[static_cast<std::size_t>(endpoint)];
  }

  // Read by the table of metrics.
  [[nodiscard]] const LabelledCounter& findings() const { return findings_; }  // "rule/mode"
  [[nodiscard]] const LabelledCounter& injections() const { return injections_; }
  [[nodiscard]] const LabelledCounter& advice() const { return advice_; }
  [[nodiscard]] std::uint64_t skipped(SkipReason reason) const { return skipped_[static_cast<std::size_t>(reason)]; }
  [[nodiscard]] std::uint64_t audit(AuditResult result) const { return audit_[static_cast<std::size_t>(result)]; }
  [[nodiscard]] std::uint64_t internal_errors() const { return internal_errors_; }
  [[nodiscard]] std::uint64_t queries(QueryOutcome outcome) const {
    return queries_[static_cast<std::size_t>(outcome)];
  }
  [[nodiscard]] const DurationHistogram& query_duration() const { return query_duration_; }

 private:
  std::array<PerEndpoint, 2> endpoints_;
  std::array<std::atomic<std::uint64_t>, kSkipReasons> skipped_{};
  std::array<std::atomic<std::uint64_t>, 2> audit_{};
  std::atomic<std::uint64_t> internal_errors_{0};
  std::array<std::atomic<std::uint64_t>, kQueryOutcomes> queries_{};
  DurationHistogram query_duration_;
  LabelledCounter findings_;
  LabelledCounter injections_;
  LabelledCounter advice_;
};

// What the life of the process changes and health and metrics show. Written by the composition root.
struct ServingState {
  std::atomic<bool> draining{false};
  std::atomic<const Engine*> engine{nullptr};        // set when Engine::Start has returned
  std::atomic<const Engine*> query_engine{nullptr};  // of the query listener; null without one
};

// --- what other parts count, as values ---

struct WatchFigure {
  std::string resource;  // "deployments.apps"
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
};

struct BudgetFigures {
  bool leader = false;                  // this process writes budgets
  std::optional<TimePoint> last_round;  // when the last plan was made; absent: never
  std::uint64_t managed = 0;
  std::uint64_t stepped_aside = 0;
  std::uint64_t problems = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t removed = 0;
  std::uint64_t failed = 0;
  std::uint64_t events = 0;
};

// Of what was said at admission and what then happened. Words that live as long as the program.
struct AccuracyFigure {
  std::string_view predicted;
  std::string_view actual;
  std::string_view outcome;
  std::uint64_t count = 0;
};

struct ClusterFigures {
  std::vector<WatchFigure> watches;
  std::map<std::string_view, std::uint64_t> class_drift;  // by difference
  std::optional<BudgetFigures> budgets;                   // absent: this process does not keep budgets
  std::vector<AccuracyFigure> accuracy;
  std::uint64_t accuracy_waiting = 0;  // pods whose verdict is remembered
};

// Where a scrape looks beside Metrics. Null: that row has no samples. Pointees must outlive the routes.
struct MetricSources {
  const ServingState* state = nullptr;
  const Cell<Policy>* policy = nullptr;
  const SnapshotSource* snapshots = nullptr;
  const Cell<TlsMaterial>* tls = nullptr;
  const Clock* clock = nullptr;
  const FileAuditSink* audit = nullptr;
  std::function<ClusterFigures()> cluster = {};  // empty: no live cluster
  const AccessCache* access = nullptr;           // null: there is no query listener
  std::string version;                           // of the build: "0.1.0"
};

struct MetricDescription {
  std::string_view name;
  std::string_view type;    // "counter", "gauge", "histogram"
  std::string_view labels;  // "endpoint, verdict", or empty
  std::string_view help;
};

// Every metric, in the order of the page. The span lives as long as the program.
std::vector<MetricDescription> MetricTable();

// The Prometheus text format, version 0.0.4.
std::string RenderMetrics(const Metrics& metrics, const MetricSources& sources);

}  // namespace podium
