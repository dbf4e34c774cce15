// Clocks that go when the test says so.
#pragma once

#include <atomic>
#include <chrono>

#include "podium/ports.h"

namespace podium {

// Thread-safe. Starts in November 2026.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return TimePoint{} + std::chrono::microseconds(micros_.load()); }
  void Advance(std::chrono::microseconds by) { micros_ += by.count(); }

 private:
  std::atomic<std::int64_t> micros_{1'795'000'000'000'000};
};

}  // namespace podium
