// What fails on every request must not fill the disk with its complaint.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace podium {

// One line in 10 s, over all threads.
class LogLimit {
 public:
  // True: write the line now.
  bool Due(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) {
    const std::int64_t second = now.time_since_epoch() / std::chrono::seconds(1);
    std::int64_t due = next_at_.load(std::memory_order_relaxed);
    return second >= due && next_at_.compare_exchange_strong(due, second + kSeconds);
  }

 private:
  static constexpr std::int64_t kSeconds = 10;
  std::atomic<std::int64_t> next_at_{0};
};

}  // namespace podium
