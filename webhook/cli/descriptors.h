// How many connections a server may have, by the number of files and sockets its process may open.
#pragma once

#include <cstddef>
#include <string>

#include "podium/result.h"

namespace podium {

struct DescriptorPlan {
  std::size_t webhook_connections = 0;
  std::size_t operations_connections = 0;
  std::string warning;  // with both numbers, when `limit` is too small for the usual caps; else empty
  bool operator==(const DescriptorPlan&) const = default;
};

// `limit`: RLIMIT_NOFILE. Without descriptors accept() fails for every caller alike; so the caps are lowered until they
// fit, and what the operations listener needs is set aside: /livez must answer while the webhook is full. An error when
// there is no room for a useful server.
// `set_aside`: for other parts of the process, whatever the limit.
Result<DescriptorPlan> PlanDescriptors(std::size_t limit, int threads, std::size_t set_aside = 0);

// Raises this process's limit to the most that is allowed, and returns it.
std::size_t RaiseDescriptorLimit();

}  // namespace podium
