// Answers "would this fit, and whom would it evict?" for people and programs who are not the API server. Knows nothing
// of HTTP but its status codes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/decide.h"
#include "core/cell.h"
#include "core/mutex.h"
#include "podium/ports.h"
#include "query/access_cache.h"
#include "query/evaluation.h"

namespace podium {

enum class QueryOutcome {
  kAnswered,
  kBadRequest,       // 400
  kUnauthenticated,  // 401
  kForbidden,        // 403
  kRefused,          // 422: the policy or the API server refuses the object itself
  kTooMany,          // 429, 503: too much is asked at once
  kUnavailable,      // 503: something that the answer needs is away
};

inline constexpr std::size_t kQueryOutcomes = 7;
std::string_view ToString(QueryOutcome outcome);  // "bad_request"

struct QueryRequest {
  std::string authorization;  // of the Authorization field; a secret
  std::string parameters;     // "replicas=4&gang=true"
  std::string body;
  SteadyTime arrived;
};

struct QueryAnswer {
  QueryOutcome outcome = QueryOutcome::kAnswered;
  int status = 200;
  std::string body;  // JSON; of an error {"error": "..."}
  // For the log; empty as long as it is not known.
  std::string user;
  std::string object;   // "ml/chat"
  std::string verdict;  // of the first pod template
  std::string problem;  // what the operator should know and the caller need not
};

struct QueryLimits {
  std::chrono::milliseconds waiting{2'000};  // from the arrival until somebody begins with it
  // From the arrival until the last step begins. A step takes as long as a question to the API server or an evaluation.
  std::chrono::milliseconds time{6'000};
  std::size_t per_caller = 2;  // at once
  std::int64_t replicas = 1'000;
  std::size_t templates = 16;            // in one object
  std::int64_t node_checks = 5'000'000;  // for all replicas of one object: half a second (WorkloadBounds)
  std::size_t namespaces = 12;           // whose pods the caller's rights are looked up for
  std::size_t remembered = 32;           // evaluations
  std::chrono::milliseconds remembered_for{5'000};
};

// All that is pointed to must outlive the service.
struct QueryDeps {
  const Cell<Policy>* policy = nullptr;
  const SnapshotSource* snapshots = nullptr;
  AccessReviewer* access = nullptr;
  const Clock* clock = nullptr;
  DecideOptions decide = {};
  std::function<SchedulerVersion()> version = {};  // empty: the newest known
  SteadyNow steady_now = std::chrono::steady_clock::now;
};

// Thread-safe. An answer takes milliseconds, or seconds when the API server is slow or the cluster is big.
//
// Who asks must hold a token the API server knows and may create pods in the namespace of the object; names of pods in
// namespaces where the caller may not list pods are hidden. Without an answer of the API server there is none here.
// Evaluations are remembered by snapshot, policy, object and parameters. The caller's rights are no part of that key:
// they are looked up and applied to each answer, also to a remembered one.
class FeasibilityService {
 public:
  explicit FeasibilityService(QueryDeps deps, const QueryLimits& limits = {});
  ~FeasibilityService();
  FeasibilityService(const FeasibilityService&) = delete;
  FeasibilityService& operator=(const FeasibilityService&) = delete;

  QueryAnswer Answer(const QueryRequest& request);

 private:
  class Conversation;
  using EvaluationPtr = std::shared_ptr<const Evaluation>;

  std::shared_ptr<const PreparedSnapshot> PreparedOf(const std::shared_ptr<const ClusterSnapshot>& snapshot,
                                                     const SchedulerVersion& version);
  EvaluationPtr Remembered(std::uint64_t generation, const std::string& key);
  void Remember(const std::string& key, EvaluationPtr evaluation);

  const QueryDeps deps_;
  const QueryLimits limits_;
  Mutex prepare_mutex_;  // held while a snapshot is prepared: one thread does it, the others wait for it
  std::shared_ptr<const PreparedSnapshot> prepared_ PODIUM_GUARDED_BY(prepare_mutex_);
  Mutex mutex_;
  std::map<std::string, std::size_t> asking_ PODIUM_GUARDED_BY(mutex_);  // by user
  // Of one snapshot: those of an older one would keep it alive.
  std::uint64_t generation_ PODIUM_GUARDED_BY(mutex_) = 0;
  ExpiringMap<EvaluationPtr> evaluations_ PODIUM_GUARDED_BY(mutex_);
};

}  // namespace podium
