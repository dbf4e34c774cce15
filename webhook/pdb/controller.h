// The loop that keeps budgets as PlanBudgets wants them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/cell.h"
#include "core/mutex.h"
#include "pdb/act.h"
#include "pdb/plan.h"
#include "podium/ports.h"

namespace podium {

// All must outlive the controller.
struct BudgetPorts {
  const SnapshotSource& snapshots;
  std::function<std::shared_ptr<const Policy>()> policy;  // called from the controller's thread
  ObjectWriter& writer;
  const Leadership& leadership;
  const Clock& clock;
};

struct BudgetControllerOptions {
  DecideOptions decide;
  ActLimits limits;
  std::string instance = "podium";          // of events: which replica says it
  std::chrono::seconds at_least_every{30};  // a round, also when nothing changed
  std::chrono::seconds at_most_every{5};    // a busy cluster publishes several snapshots a second
  std::chrono::seconds try_again_every{2};  // at most; many budgets that failed have as many waiting times
  std::chrono::seconds oldest_event{120};   // of the kinds a plan needs; API servers send bookmarks about every minute
  std::chrono::milliseconds look_every{500};  // how soon the thread sees a new snapshot
  // One line for the log, when something goes wrong for the first time and when it is well again; also when a leader
  // has to wait for the cluster's picture. May be empty, must not throw.
  std::function<void(std::string_view)> say;
};

// Since the start, but those that are "now".
struct BudgetCounters {
  std::uint64_t rounds = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t removed = 0;
  std::uint64_t failed = 0;  // writes of budgets
  std::uint64_t events = 0;  // told
  std::uint64_t events_failed = 0;
  std::uint64_t lost_leadership = 0;  // rounds that were broken off by it
  std::uint64_t internal_errors = 0;
  std::uint64_t managed = 0;        // now: budgets of ours that stand or are wanted
  std::uint64_t stepped_aside = 0;  // now
  std::uint64_t problems = 0;       // now
  TimePoint last_round{};           // when the last plan was made; the epoch: never
  bool operator==(const BudgetCounters&) const = default;
};

// What one look came to.
enum class BudgetTurn { kNotLeader, kNotSynced, kStale, kNothingNew, kRound };

class BudgetController {
 public:
  BudgetController(BudgetPorts ports, BudgetControllerOptions options);
  ~BudgetController();  // Stop()
  BudgetController(const BudgetController&) = delete;
  BudgetController& operator=(const BudgetController&) = delete;

  // A thread that takes a Turn every `look_every`. Once only.
  void Start();
  // Returns when the thread has ended: after the write it is in, at most. Safe to call twice.
  void Stop();

  // One look, and a round when it is time for one. Whether this process is the leader is asked before every single
  // write. Not to be called while the thread runs. Never throws.
  BudgetTurn Turn();

  [[nodiscard]] BudgetCounters counters() const;                      // thread-safe
  [[nodiscard]] std::shared_ptr<const BudgetPlan> last_plan() const;  // thread-safe; null before the first round

 private:
  enum class Outcome { kDone, kNotLeader, kAway };

  // What a plan depends on of a snapshot. Copies share their rows.
  struct Basis {
    Table<PriorityClass> classes;
    Table<Namespace> namespaces;
    Table<Pdb> budgets;
    Table<Workload> workloads;
    Table<Autoscaler> autoscalers;
  };

  BudgetTurn TurnOrThrow();
  [[nodiscard]] bool HasChanged(const ClusterSnapshot& snapshot) const;
  [[nodiscard]] bool IsDue(const ClusterSnapshot& snapshot, const Policy* policy, TimePoint now) const;
  void Round(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now);
  Outcome CarryOut(const BudgetPlan& plan, const BudgetAction& action);
  void TellOfRows(const BudgetPlan& plan);
  bool TellIfAllowed(const BudgetEvent& event);
  void NotePlan(const BudgetPlan& plan, TimePoint now);
  void NoteWrite(const BudgetRow& row, const BudgetAction& action, const Status& status);
  void Complain(const std::string& about, const Status& status);
  void Loop();

  const BudgetPorts ports_;
  const BudgetControllerOptions options_;

  // Of the thread.
  ActState state_;
  Basis basis_;
  std::shared_ptr<const Policy> last_policy_;
  TimePoint last_round_{};
  bool more_ = false;
  std::map<std::string, ErrorKind> complaints_;  // what was said already

  // Shared.
  mutable Mutex mutex_;
  BudgetCounters counters_ PODIUM_GUARDED_BY(mutex_);
  Cell<BudgetPlan> plan_;
  std::atomic<bool> stopping_{false};
  std::mutex wait_mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace podium
