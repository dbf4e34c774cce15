#include "admission/advisor.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "admission/advice_text.h"
#include "core/mutex.h"
#include "feasibility/outlook.h"
#include "feasibility/preemption.h"
#include "feasibility/prepared_cluster.h"

namespace podium {
namespace {

std::shared_ptr<const NodeNames> NamesOf(const ClusterSnapshot& snapshot) {
  auto names = std::make_shared<NodeNames>();
  names->reserve(snapshot.nodes.size());
  for (const auto& row : snapshot.nodes) names->push_back(row.key);
  return names;
}

struct Question {
  Pod pod;  // without what is not looked at
  std::vector<GpuResource> gpus;
  std::int64_t replicas = 1;
  bool operator==(const Question&) const = default;
};

// Replicas of one workload differ in these only.
Pod WithoutIdentity(Pod pod) {
  pod.name.clear();
  pod.uid.clear();
  pod.controller.reset();
  return pod;
}

AdvisedPlan PlanOf(const FeasibilityReport& report, const Candidate& candidate) {
  AdvisedPlan plan{report.NodeName(candidate.node), {}};
  plan.victims.reserve(candidate.victims.size());
  for (const Pod* victim : candidate.victims) plan.victims.push_back(victim->uid);
  std::sort(plan.victims.begin(), plan.victims.end());
  return plan;
}

}  // namespace

struct Advisor::Impl {
  Impl(std::shared_ptr<const ClusterSnapshot> the_snapshot, const EvaluateOptions& the_options)
      : snapshot(std::move(the_snapshot)),
        options(the_options),
        cluster(Prepare(*snapshot, RulesOf(options.version))) {}

  std::shared_ptr<const Advice> Evaluated(const Question& question) const;
  void AddChosen(const FeasibilityReport& report, Advice& advice) const;

  const std::shared_ptr<const ClusterSnapshot> snapshot;
  const EvaluateOptions options;
  const PreparedCluster cluster;  // points into the snapshot
  std::shared_ptr<const NodeNames> names;
  std::atomic<std::uint64_t> evaluations{0};
  Mutex mutex;
  std::deque<std::pair<Question, std::shared_ptr<const Advice>>> memory PODIUM_GUARDED_BY(mutex);  // newest first
};

void Advisor::Impl::AddChosen(const FeasibilityReport& report, Advice& advice) const {
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t position : report.chosen) {
    const Candidate& candidate = report.candidates[position];
    nodes.push_back(candidate.node);
    if (advice.chosen.size() < Advice::kMostPlans && !HasEqualRival(candidate, cluster))
      advice.chosen.push_back(PlanOf(report, candidate));
  }
  advice.chosen_nodes = NodeSet(names, nodes);
  const Candidate& first = report.candidates[report.chosen.front()];
  advice.node = report.NodeName(first.node);
  advice.victims = first.victims.size();
}

std::shared_ptr<const Advice> Advisor::Impl::Evaluated(const Question& question) const {
  // What is left of grace periods is counted from the picture, so that one picture gives one answer.
  const OutlookOptions outlook{.evaluate = options, .now = snapshot->taken_at, .gpus = question.gpus};
  const FeasibilityReport report = Evaluate(cluster, question.pod, options);
  auto advice = std::make_shared<Advice>();
  advice->verdict = report.verdict;
  advice->ineligible = report.ineligible;
  advice->message = report.message;
  advice->snapshot_generation = snapshot->generation;
  advice->fit = NodeSet(names, report.fit_nodes);
  const std::optional<PreemptionPlan> plan = PricePlan(cluster, report, question.pod, outlook);
  if (plan) advice->wait_at_most = plan->wait_at_most;
  if (!report.chosen.empty()) AddChosen(report, *advice);
  const bool refused = IsRefusable(report.verdict);
  const std::optional<Room> room = refused ? CountRoom(cluster, report, question.pod, outlook) : std::nullopt;
  const AdviceFacts facts{question.pod, report, plan, room, question.replicas};
  advice->warning = WarningText(facts);
  if (refused) advice->refusal = RefusalText(facts);
  return advice;
}

Advisor::Advisor(std::shared_ptr<const ClusterSnapshot> snapshot, const EvaluateOptions& options,
                 const Advisor* previous)
    : impl_(std::make_unique<Impl>(std::move(snapshot), options)) {
  impl_->names = NamesOf(*impl_->snapshot);
  if (previous != nullptr && *previous->impl_->names == *impl_->names) impl_->names = previous->impl_->names;
}

Advisor::~Advisor() = default;

const std::shared_ptr<const ClusterSnapshot>& Advisor::snapshot() const { return impl_->snapshot; }

const EvaluateOptions& Advisor::options() const { return impl_->options; }

std::uint64_t Advisor::evaluations() const { return impl_->evaluations.load(std::memory_order_relaxed); }

std::shared_ptr<const Advice> Advisor::Ask(const Pod& pod, const std::vector<GpuResource>& gpus,
                                           std::int64_t replicas) const {
  Question question{WithoutIdentity(pod), gpus, replicas};
  {
    const MutexLock lock(impl_->mutex);
    for (const auto& [known, answer] : impl_->memory)
      if (known == question) return answer;
  }
  // Without the lock: two that ask the same at once both evaluate, and nobody waits.
  impl_->evaluations.fetch_add(1, std::memory_order_relaxed);
  std::shared_ptr<const Advice> advice = impl_->Evaluated(question);
  const MutexLock lock(impl_->mutex);
  impl_->memory.emplace_front(std::move(question), advice);
  if (impl_->memory.size() > kRemembered) impl_->memory.pop_back();
  return advice;
}

}  // namespace podium
