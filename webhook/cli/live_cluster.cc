#include "cli/live_cluster.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "cli/advice_publisher.h"
#include "cli/clock.h"
#include "cli/log.h"
#include "kube/api_writer.h"
#include "kube/lease.h"
#include "kube/lease_api.h"
#include "pdb/controller.h"
#include "policy/class_drift.h"

namespace podium {
namespace {

constexpr const char* kLeaseName = "podium-budgets";
// A renewal that hangs longer is leadership lost (kube/lease.h).
constexpr std::chrono::milliseconds kLeaseCallTime{3'000};
// A write that is under way when the lease ends, or the process, must not last.
constexpr std::chrono::milliseconds kWriteTime{5'000};

std::vector<std::string> Messages(const std::vector<ClassDrift>& drifts) {
  std::vector<std::string> messages;
  messages.reserve(drifts.size());
  for (const ClassDrift& drift : drifts) messages.push_back(drift.message);
  return messages;
}

std::size_t PodCount(const ClusterSnapshot& snapshot) {
  std::size_t pods = snapshot.waiting.size();
  for (const auto& [name, state] : snapshot.nodes) pods += state.pods.size();
  return pods;
}

// How a watch was when it was looked at last.
struct Told {
  bool failing = false;  // and the log says so
  std::uint64_t failures = 0;
  std::uint64_t signs = 0;  // of life
};

// The replica's part in writing budgets. Destroyed in reverse order: who acts first, then the right to act.
struct BudgetPart {
  BudgetPart(ApiClient& api, std::unique_ptr<ApiClient> own_api, const LiveOptions& options,
             const SnapshotSource& snapshots, const Cell<Policy>& policy,
             const std::function<void(std::string_view)>& say)
      : lease_client(std::move(own_api)),
        lease_api(*lease_client, options.own_namespace, kLeaseName),
        lease(lease_api, {monotonic, SystemClock::Instance()}, {options.identity, {}}, say),
        writer(api),
        controller({snapshots, [&policy] { return policy.Load(); }, writer, lease, SystemClock::Instance()},
                   Tuned(options, say)) {
    lease.Start();
    controller.Start();
  }

  static BudgetControllerOptions Tuned(const LiveOptions& options, const std::function<void(std::string_view)>& say) {
    BudgetControllerOptions tuned;
    tuned.decide.own_namespace = options.own_namespace;
    tuned.instance = options.identity;
    tuned.at_most_every = std::chrono::seconds(1);
    tuned.say = say;
    return tuned;
  }

  void Stop() {
    controller.Stop();
    lease.Stop();
  }

  std::unique_ptr<ApiClient> lease_client;
  BootClock monotonic;
  KubeLeaseApi lease_api;
  LeaseKeeper lease;
  ApiWriter writer;
  BudgetController controller;
};

}  // namespace

std::string Describe(const ClusterSnapshot& snapshot) {
  const auto count = [](std::size_t n, const char* what) { return std::to_string(n) + " " + what; };
  return count(snapshot.classes.size(), "classes, ") + count(snapshot.namespaces.size(), "namespaces, ") +
         count(snapshot.nodes.size(), "nodes, ") + count(PodCount(snapshot), "pods, ") +
         count(snapshot.quotas.size(), "quotas, ") + count(snapshot.budgets.size(), "budgets");
}

struct LiveCluster::Impl {
  Impl(std::unique_ptr<ApiClient> client, const LiveOptions& options, const Cell<Policy>& the_policy, Log& the_log)
      : api(std::move(client)),
        cache(*api, SystemClock::Instance(), options.watches),
        policy(the_policy),
        log(the_log),
        advice({*api,
                [this](std::uint64_t known, const std::stop_token& stop) { return cache.WaitForNext(known, stop); },
                policy, SystemClock::Instance(), options.scheduler_version,
                [&the_log](LogLevel level, std::string_view line) {
                  the_log.Write(level, "advice: " + std::string(line));
                }}) {}

  void TellDrift(const ClusterSnapshot& snapshot) {
    const auto current = policy.Load();
    std::vector<std::string> found = Messages(FindClassDrift(*current, snapshot.classes));
    if (found == told_drift) return;
    for (const std::string& message : found) log.Write(LogLevel::kWarning, "classes: " + message);
    if (found.empty()) log.Write(LogLevel::kInfo, "classes: the cluster has the policy's");
    told_drift = std::move(found);
  }

  std::unique_ptr<ApiClient> api;
  ClusterCache cache;
  const Cell<Policy>& policy;
  Log& log;
  AdvicePublisher advice;
  std::optional<BudgetPart> budgets;
  // Of the thread that tends.
  bool told_sync = false;
  std::uint64_t looked_at = 0;
  std::vector<std::string> told_drift;
  std::map<std::string, Told> told_watches;  // by resource
};

LiveCluster::LiveCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LiveCluster::~LiveCluster() { Stop(); }

Result<std::unique_ptr<LiveCluster>> LiveCluster::Connect(const ClusterAccess& access, const LiveOptions& options,
                                                          const Cell<Policy>& policy, Log& log) {
  Result<std::unique_ptr<ApiClient>> api = ConnectApi(access, {.call_time = kWriteTime});
  if (!api) return api.error().WithContext(access.origin);
  auto impl = std::make_unique<Impl>(*std::move(api), options, policy, log);
  if (options.budgets == BudgetMode::kWrite) {
    Result<std::unique_ptr<ApiClient>> lease_client = ConnectApi(access, {.call_time = kLeaseCallTime});
    if (!lease_client) return lease_client.error().WithContext(access.origin);
    const auto say = [&log](std::string_view line) { log.Write(LogLevel::kInfo, "budgets: " + std::string(line)); };
    impl->budgets.emplace(*impl->api, *std::move(lease_client), options, impl->cache.snapshots(), policy, say);
  }
  return std::unique_ptr<LiveCluster>(new LiveCluster(std::move(impl)));
}

const SnapshotSource& LiveCluster::snapshots() const { return impl_->cache.snapshots(); }

const Cell<Advisor>& LiveCluster::advisors() const { return impl_->advice.advisors(); }

void LiveCluster::Remember(const AdmissionRequest& request, const Decision& decision, TimePoint now) {
  impl_->advice.ledger().Remember(request, decision, now);
}

std::vector<std::string> LiveCluster::Unsynced() const { return impl_->cache.Unsynced(); }

ClusterFigures LiveCluster::Figures() const {
  ClusterFigures figures;
  for (const WatchFigures& each : impl_->cache.figures()) {
    const ReflectorCounters& counters = each.counters;
    figures.watches.push_back({each.resource, counters.lists, counters.watches, counters.events, counters.Failures()});
  }
  const AccuracyLedger& ledger = impl_->advice.ledger();
  for (const AccuracyCount& each : ledger.Counts())
    figures.accuracy.push_back({ToString(each.predicted), ToString(each.actual), ToString(each.outcome), each.count});
  figures.accuracy_waiting = ledger.waiting();
  const auto snapshot = impl_->cache.snapshots().Current();
  const auto policy = impl_->policy.Load();
  if (snapshot && policy)
    for (const ClassDrift& drift : FindClassDrift(*policy, snapshot->classes))
      ++figures.class_drift[ToString(drift.kind)];
  if (!impl_->budgets) return figures;
  const BudgetCounters counters = impl_->budgets->controller.counters();
  const bool has_planned = counters.last_round != TimePoint{};
  figures.budgets = BudgetFigures{.leader = impl_->budgets->lease.IsLeader(),
                                  .last_round = has_planned ? std::optional(counters.last_round) : std::nullopt,
                                  .managed = counters.managed,
                                  .stepped_aside = counters.stepped_aside,
                                  .problems = counters.problems,
                                  .created = counters.created,
                                  .updated = counters.updated,
                                  .removed = counters.removed,
                                  .failed = counters.failed,
                                  .events = counters.events};
  return figures;
}

void LiveCluster::Tend() {
  for (const WatchFigures& each : impl_->cache.figures()) {
    // One line when a watch begins to fail and one when it has gone on; not one for each try.
    Told& told = impl_->told_watches[each.resource];
    const ReflectorCounters& now = each.counters;
    const std::uint64_t failures = now.Failures();
    const std::uint64_t signs = now.events + now.bookmarks + now.watches;
    if (failures > told.failures && !told.failing) {
      impl_->log.Write(LogLevel::kWarning, "watching " + each.resource + ": " + now.last_error);
      told.failing = true;
    } else if (failures == told.failures && told.failing && signs > told.signs) {
      impl_->log.Write(LogLevel::kInfo, "watching " + each.resource + ": well again");
      told.failing = false;
    }
    told.failures = failures;
    told.signs = signs;
  }
  const auto snapshot = impl_->cache.snapshots().Current();
  if (snapshot == nullptr || snapshot->generation == impl_->looked_at) return;
  impl_->looked_at = snapshot->generation;
  if (!std::exchange(impl_->told_sync, true))
    impl_->log.Write(LogLevel::kInfo, "cluster: synced, " + Describe(*snapshot));
  impl_->TellDrift(*snapshot);
}

void LiveCluster::StopWriting() {
  if (impl_->budgets) impl_->budgets->Stop();
}

void LiveCluster::Stop() {
  StopWriting();
  impl_->advice.Stop();
  impl_->cache.Stop();
}

}  // namespace podium
