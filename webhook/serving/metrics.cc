#include "serving/metrics.h"

#include <algorithm>

namespace podium {
namespace {

constexpr std::size_t kUnknownOperation = Metrics::kOperations - 1;

std::string_view OutcomeOf(const Finding& finding) { return finding.exempted ? "exempted" : ToString(finding.mode); }

void Increment(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

// True when a class was put into this template.
bool Injected(const TemplateDecision& pod) {
  return pod.after.class_name.has_value() && pod.after.class_name != pod.before.class_name;
}

}  // namespace

// --- LabelledCounter ------------------------------------------------------------------------------------------------

void LabelledCounter::Add(std::string_view label) { Increment(Find(label)); }

std::atomic<std::uint64_t>& LabelledCounter::Find(std::string_view label) {
  const auto search = [&](std::size_t from, std::size_t to) -> std::atomic<std::uint64_t>* {
    for (std::size_t i = from; i < to; ++i)
      if (slots_[i].label == label) return &slots_[i].count;
    return nullptr;
  };
  const std::size_t seen = used_.load(std::memory_order_acquire);
  if (auto* known = search(0, seen)) return *known;
  if (seen == kCapacity) return other_;
  const MutexLock lock(mutex_);
  const std::size_t used = used_.load(std::memory_order_relaxed);
  if (auto* known = search(seen, used)) return *known;
  if (used == kCapacity) return other_;
  slots_[used].label = label;
  used_.store(used + 1, std::memory_order_release);
  return slots_[used].count;
}

std::vector<std::pair<std::string, std::uint64_t>> LabelledCounter::Values() const {
  std::vector<std::pair<std::string, std::uint64_t>> values;
  const std::size_t used = used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) values.emplace_back(slots_[i].label, slots_[i].count);
  if (other_ != 0) values.emplace_back("other", other_);
  return values;
}

// --- DurationHistogram ----------------------------------------------------------------------------------------------

void DurationHistogram::Observe(std::chrono::nanoseconds duration) {
  const auto bound = std::ranges::find_if(kBoundsMicroseconds, [&](std::int64_t microseconds) {
    return duration <= std::chrono::microseconds(microseconds);
  });
  Increment(buckets_[static_cast<std::size_t>(bound - kBoundsMicroseconds.begin())]);
  sum_nanoseconds_.fetch_add(duration.count(), std::memory_order_relaxed);
}

DurationHistogram::Values DurationHistogram::Read() const {
  Values values;
  for (std::size_t i = 0; i < buckets_.size(); ++i) values.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
  values.sum_seconds = static_cast<double>(sum_nanoseconds_.load(std::memory_order_relaxed)) / 1e9;
  return values;
}

// --- Metrics --------------------------------------------------------------------------------------------------------

void Metrics::ObserveReview(Endpoint endpoint, Operation operation, const Decision& decision,
                            std::chrono::nanoseconds duration) {
  PerEndpoint& of = endpoints_[static_cast<std::size_t>(endpoint)];
  const ReviewOutcome outcome = decision.verdict == Verdict::kAllow ? ReviewOutcome::kAllowed : ReviewOutcome::kRefused;
  Increment(of.requests[static_cast<std::size_t>(operation)][static_cast<std::size_t>(outcome)]);
  of.duration.Observe(duration);
  Increment(skipped_[static_cast<std::size_t>(decision.skipped)]);
  if (decision.internal_error) Increment(internal_errors_);
  for (const Finding& finding : decision.findings) findings_.Add(finding.rule + "/" + std::string(OutcomeOf(finding)));
  for (const TemplateDecision& pod : decision.templates)
    if (pod.advice)
      advice_.Add(pod.advice->given ? ToString(pod.advice->given->verdict) : ToString(pod.advice->missing));
  if (endpoint != Endpoint::kMutate || decision.verdict != Verdict::kAllow) return;
  for (const TemplateDecision& pod : decision.templates)
    if (Injected(pod)) injections_.Add(pod.classification.workload_type);
}

void Metrics::ObserveUnreadable(Endpoint endpoint) {
  const auto outcome = static_cast<std::size_t>(ReviewOutcome::kUnreadable);
  Increment(endpoints_[static_cast<std::size_t>(endpoint)].requests[kUnknownOperation][outcome]);
}

void Metrics::ObserveQuery(QueryOutcome outcome, std::chrono::nanoseconds duration) {
  Increment(queries_[static_cast<std::size_t>(outcome)]);
  query_duration_.Observe(duration);
}

void Metrics::ObserveAudit(AuditResult result, std::uint64_t lines) {
  audit_[static_cast<std::size_t>(result)].fetch_add(lines, std::memory_order_relaxed);
}

}  // namespace podium
