// One decision as one JSON line. The format is docs/audit-format.md; change both together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "podium/admission.h"

namespace podium {

// What the server knows beside the decision.
struct AuditContext {
  TimePoint at;
  std::uint64_t sequence = 0;  // counts from 1 in this process
  std::string_view instance;   // random id of this process
  std::string_view endpoint;   // "mutate" or "validate"
  std::string_view peer;       // socket address of the caller
  std::chrono::nanoseconds duration{};
};

inline constexpr int kRecordVersion = 1;  // "v" of docs/audit-format.md; grows when a field changes its meaning
// With its newline a line is no longer than PIPE_BUF: also into a pipe it goes whole or not at all.
inline constexpr std::size_t kMaxRecordBytes = 4095;

// At most kMaxRecordBytes; what is longer is cut with a marker. Allow-listed fields only, never object bodies: no
// secret can be in it. Text from the request is escaped: no line can be forged.
std::string MakeRecord(const AdmissionRequest& request, const Decision& decision, const AuditContext& context);

}  // namespace podium
