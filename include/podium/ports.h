// Ports: how pure code meets the world. Each has one production adapter and one in-memory fake (tests/fakes).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "podium/policy.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint Now() const = 0;
};

// The picture of the cluster that decisions are made on. Thread-safe.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // Null: not synced yet (or there is no cluster to look at). One load per request; keep the pointer for its duration.
  [[nodiscard]] virtual std::shared_ptr<const ClusterSnapshot> Current() const = 0;
};

// Takes finished audit lines. Thread-safe.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // `line` is one JSON object without the newline. In strict mode success means the line has been handed to the
  // operating system; in relaxed mode that it is queued. An error means this decision is not recorded.
  virtual Status Append(std::string_view line) = 0;
};

}  // namespace podium
