// One Lease as the API server keeps it, and a monotonic clock that goes when the test says so.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/lease.h"

namespace podium {

class ManualMonotonic final : public MonotonicClock {
 public:
  [[nodiscard]] Time Now() const override { return Time(nanos_.load()); }
  void Advance(Time by) { nanos_ += by.count(); }

 private:
  std::atomic<std::int64_t> nanos_{1'000'000'000'000};
};

// Thread-safe: several candidates may use it. Each write gets a new resource version.
class LeaseServer final : public LeaseApi {
 public:
  Result<StoredLease> Get() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto failed = Note("get")) return *failed;
    if (!lease_) return NotFound();
    return *lease_;
  }

  Result<StoredLease> Create(const LeaseRecord& record) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto failed = Note("create")) return *failed;
    if (lease_) return Error{ErrorKind::kConflict, "leases \"podium\" already exists"};
    return Store(record);
  }

  Result<StoredLease> Update(const LeaseRecord& record, const std::string& resource_version) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto failed = Note("update")) return *failed;
    if (!lease_) return NotFound();
    if (lease_->resource_version != resource_version)
      return Error{ErrorKind::kConflict, "the object has been modified"};
    return Store(record);
  }

  // What somebody else does to the lease.
  void Overwrite(const LeaseRecord& record) {
    const std::lock_guard<std::mutex> lock(mutex_);
    (void)Store(record);
  }
  void Touch() {
    const std::lock_guard<std::mutex> lock(mutex_);
    (void)Store(lease_->record);
  }
  void Delete() {
    const std::lock_guard<std::mutex> lock(mutex_);
    lease_.reset();
  }
  // Called before each call with its verb; an error is its answer, nothing lets it through.
  void Before(std::function<std::optional<Error>(const std::string&)> before) { before_ = std::move(before); }

  // Whether writes are carried out and their answers do not arrive.
  void LoseAnswers(bool lose) { lose_answers_ = lose; }

  [[nodiscard]] std::optional<LeaseRecord> record() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return lease_ ? std::optional(lease_->record) : std::nullopt;
  }
  // The verbs since the last look.
  std::vector<std::string> TakeCalls() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  static Error NotFound() { return {ErrorKind::kNotFound, "leases \"podium\" not found"}; }

  std::optional<Error> Note(const std::string& verb) {
    calls_.push_back(verb);
    return before_ ? before_(verb) : std::nullopt;
  }

  Result<StoredLease> Store(const LeaseRecord& record) {
    lease_ = StoredLease{record, std::to_string(++version_)};
    if (lose_answers_) return Error{ErrorKind::kTimeout, "no answer"};
    return *lease_;
  }

  mutable std::mutex mutex_;
  std::optional<StoredLease> lease_;
  std::uint64_t version_ = 100;
  bool lose_answers_ = false;
  std::vector<std::string> calls_;
  std::function<std::optional<Error>(const std::string&)> before_;
};

}  // namespace podium
