// Advice for the live cluster: each picture of it is prepared beside the request path, and looked at for what the
// scheduler did with the pods that advice was given on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "accuracy/ledger.h"
#include "admission/advisor.h"
#include "cli/log.h"
#include "core/cell.h"
#include "kube/api_client.h"
#include "podium/feasibility.h"
#include "podium/policy.h"
#include "podium/ports.h"

namespace podium {

// For one picture that does not change. Null: there is none, or `policy` asks for no advice.
std::shared_ptr<const Advisor> AdvisorOn(std::shared_ptr<const ClusterSnapshot> snapshot, const Policy& policy,
                                         std::optional<SchedulerVersion> version);

// What it works with; all of it must outlive the publisher.
struct AdviceInput {
  ApiClient& api;  // for /version
  // Waits for a snapshot of another generation than `known`; null: `stop` was requested first.
  std::function<std::shared_ptr<const ClusterSnapshot>(std::uint64_t known, const std::stop_token& stop)> next;
  const Cell<Policy>& policy;
  const Clock& clock;
  std::optional<SchedulerVersion> version;  // absent: the API server's
  std::function<void(LogLevel level, std::string_view line)> say;
};

// One thread. Everything may be called from any thread.
class AdvicePublisher {
 public:
  explicit AdvicePublisher(AdviceInput input);
  ~AdvicePublisher();  // Stop()
  AdvicePublisher(const AdvicePublisher&) = delete;
  AdvicePublisher& operator=(const AdvicePublisher&) = delete;

  // Empty until the first picture is prepared, and while the policy asks for no advice.
  [[nodiscard]] const Cell<Advisor>& advisors() const;
  [[nodiscard]] AccuracyLedger& ledger();
  [[nodiscard]] const AccuracyLedger& ledger() const;
  // Ends the thread; the last advisor stays.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
