// What the evictions of a plan cost.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "feasibility/budgets.h"
#include "feasibility/outlook.h"
#include "feasibility/promises.h"
#include "feasibility/request.h"

namespace podium {
namespace {

using std::chrono::seconds;

constexpr seconds kDefaultGrace{30};  // terminationGracePeriodSeconds, when it is absent

// In whole seconds, as the API writes times; a difference of absurd times would not fit into the clock's ticks.
seconds Between(TimePoint from, TimePoint to) {
  return std::max(seconds(0), std::chrono::ceil<seconds>(to).time_since_epoch() -
                                  std::chrono::ceil<seconds>(from).time_since_epoch());
}

std::optional<seconds> RanFor(const Pod& pod, TimePoint now) {
  if (pod.start_time == TimePoint()) return std::nullopt;
  return Between(pod.start_time, now);
}

// Budgets are charged for every possible victim on the node, in the order of the dry run.
std::set<const Pod*> BudgetBreakers(const PreparedCluster& cluster, std::uint32_t node, std::int64_t priority) {
  std::set<const Pod*> breakers;
  BudgetLedger ledger(cluster);
  for (const PreparedPod& pod : cluster.nodes[node].pods)
    if (pod.priority < priority && ledger.Charge(pod)) breakers.insert(pod.pod);
  return breakers;
}

std::int64_t Clamp(Int128 value) {
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(value, kMost));
}

void AddFreed(std::vector<GpuRequest>& freed, const GpuRequest& gpu) {
  const auto at = std::lower_bound(freed.begin(), freed.end(), gpu,
                                   [](const auto& a, const auto& b) { return a.resource < b.resource; });
  if (at == freed.end() || at->resource != gpu.resource)
    freed.insert(at, gpu);
  else
    at->count = Clamp(Int128(at->count) + gpu.count);
}

std::int64_t LostGpuSeconds(const std::vector<VictimCost>& victims) {
  Int128 lost = 0;
  for (const VictimCost& victim : victims)
    lost += Int128(TotalOf(victim.gpus, GpuUnit::kDevice)) * victim.ran_for.value_or(seconds(0)).count();
  return Clamp(lost);
}

std::vector<const Pod*> LostPromises(const PreparedCluster& cluster, std::uint32_t node, const Pod& incoming,
                                     const std::string& scheduler) {
  std::vector<const Pod*> lost;
  const auto promised = cluster.promised.find(node);
  if (promised == cluster.promised.end()) return lost;
  for (const PreparedPod& pod : promised->second)
    if (LosesPromise(pod, incoming, scheduler)) lost.push_back(pod.pod);
  return lost;
}

}  // namespace

// A negative period counts as one second.
seconds GraceLeft(const Pod& victim, TimePoint now) {
  const std::optional<TimePoint>& end = victim.standing->deletion_time;
  if (victim.deleting && end) return Between(now, *end);
  const std::optional<std::int64_t>& wish = victim.scheduling->grace_period_seconds;
  if (!wish) return kDefaultGrace;
  return seconds(*wish < 0 ? 1 : *wish);
}

std::vector<std::string> WaitWarnings(const PreparedCluster& cluster, const FeasibilityReport& report,
                                      const Pod& incoming, const OutlookOptions& options) {
  if (report.ineligible != Ineligible::kTerminatingVictim) return {};
  const std::string& node = incoming.standing->nominated_node;
  std::size_t count = 0;
  seconds longest{};
  for (const PreparedPod& pod : cluster.nodes[cluster.node_ids.at(node)].pods) {
    if (pod.priority >= PriorityOf(incoming) || !pod.pod->deleting || !pod.pod->standing->preempted_by_scheduler)
      continue;
    ++count;
    longest = std::max(longest, GraceLeft(*pod.pod, options.now));
  }
  return {"it waits for " + std::to_string(count) + (count == 1 ? " earlier victim" : " earlier victims") + " on " +
          node + ", up to " + std::to_string(longest.count()) + " s more"};
}

// Of all nodes that are equal to the scheduler: it takes any of them.
seconds LongestWait(const FeasibilityReport& report, TimePoint now) {
  seconds longest{};
  for (const std::uint32_t position : report.chosen)
    for (const Pod* victim : report.candidates[position].victims) longest = std::max(longest, GraceLeft(*victim, now));
  return longest;
}

std::optional<PreemptionPlan> PricePlan(const PreparedCluster& cluster, const FeasibilityReport& report,
                                        const Pod& incoming, const OutlookOptions& options) {
  if (report.chosen.empty()) return std::nullopt;
  const Candidate& chosen = report.candidates[report.chosen.front()];
  PreemptionPlan plan;
  plan.node = chosen.node;
  plan.budget_violations = chosen.budget_violations;
  const std::set<const Pod*> breakers = BudgetBreakers(cluster, chosen.node, PriorityOf(incoming));
  for (const Pod* pod : chosen.victims) {
    VictimCost victim{.pod = pod, .gpus = EffectiveGpuRequest(*pod->spec, options.gpus)};
    victim.grace = GraceLeft(*pod, options.now);
    victim.ran_for = RanFor(*pod, options.now);
    victim.loading = pod->phase == PodPhase::kRunning && !pod->ready;
    victim.breaks_budget = breakers.contains(pod);
    for (const GpuRequest& gpu : victim.gpus) AddFreed(plan.freed, gpu);
    plan.loading_victims += victim.loading ? 1 : 0;
    plan.victims.push_back(std::move(victim));
  }
  plan.wait_at_most = LongestWait(report, options.now);
  plan.lost_gpu_seconds = LostGpuSeconds(plan.victims);
  plan.lost_promise = LostPromises(cluster, chosen.node, incoming, options.evaluate.scheduler_name);
  return plan;
}

}  // namespace podium
