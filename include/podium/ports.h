// Ports: how pure code meets the world. Each has one production adapter, and in tests an in-memory fake with state.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

struct AppendOutcome {
  std::size_t bytes = 0;       // of whole lines that are recorded now: the front of what was given
  std::optional<Error> error;  // why it is not all of it
};

// Takes finished audit lines. Thread-safe.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // `lines` are JSON objects, each ended by a newline: usually those of several decisions, because a write costs more
  // than its bytes. In strict mode "recorded" means handed to the operating system; in relaxed mode queued. Decisions
  // behind outcome.bytes are not recorded.
  virtual AppendOutcome Append(std::string_view lines) = 0;
};

}  // namespace podium
