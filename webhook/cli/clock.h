// The wall clock.
#pragma once

#include <chrono>

#include "podium/ports.h"

namespace podium {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return std::chrono::system_clock::now(); }
  // It has no state; this one lives as long as the process.
  static const SystemClock& Instance() {
    static const SystemClock clock;
    return clock;
  }
};

}  // namespace podium
