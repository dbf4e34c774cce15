#include "cli/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "serving/engine.h"

namespace podium {
namespace {

constexpr std::size_t kWebhookConnections = EngineLimits{}.connections;
constexpr std::size_t kOperationsConnections = 128;  // probes and scrapes are few
constexpr std::size_t kFewestConnections = 16;

// The standard streams, two listening sockets, the audit log and its repair; the rest is for connections that are
// accepted only to be refused, and for files that libraries open for a moment.
constexpr std::size_t kOwn = 32;
constexpr std::size_t kForEachThread = 3;  // a reactor's epoll, timer and wake-up

}  // namespace

Result<DescriptorPlan> PlanDescriptors(std::size_t limit, int threads, std::size_t set_aside) {
  const std::size_t own = kOwn + kForEachThread * static_cast<std::size_t>(threads) + set_aside;
  const std::size_t wanted = own + kWebhookConnections + kOperationsConnections;
  if (limit >= wanted) return DescriptorPlan{kWebhookConnections, kOperationsConnections, {}};
  const std::string found = "this process may open " + std::to_string(limit) +
                            " files and sockets (ulimit -n); wanted: " + std::to_string(wanted);
  if (limit < own + kFewestConnections)
    return Error{ErrorKind::kUnavailable, found + ", at least " + std::to_string(own + kFewestConnections)};
  const std::size_t room = limit - own;
  DescriptorPlan plan;
  plan.operations_connections = std::min(kOperationsConnections, room / 4);
  plan.webhook_connections = std::min(kWebhookConnections, room - plan.operations_connections);
  plan.warning = found + ": at most " + std::to_string(plan.webhook_connections) + " webhook connections (usually " +
                 std::to_string(kWebhookConnections) + ") and " + std::to_string(plan.operations_connections) +
                 " for operations are served at once; raise the limit";
  return plan;
}

std::size_t RaiseDescriptorLimit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const rlimit raised{files.rlim_max, files.rlim_max};
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : files.rlim_cur;
}

}  // namespace podium
