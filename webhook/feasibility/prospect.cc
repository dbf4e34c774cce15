#include "feasibility/prospect.h"

#include <algorithm>
#include <utility>

#include "feasibility/filters.h"

namespace podium {
namespace {

constexpr std::int64_t kChecksOfALook = 100;
// The scheduler examines all candidates up to this number (minCandidateNodesAbsolute).
constexpr std::int64_t kExaminedCandidates = 100;

bool KeepsAFitOpen(const Caveat& caveat) {
  return caveat.kind == CaveatKind::kVolumes || caveat.kind == CaveatKind::kResourceClaims ||
         caveat.kind == CaveatKind::kTooManyResources;
}

Reach ReachOf(const Cycle& cycle) {
  const PodAffinityState& affinity = cycle.affinity;
  if (!cycle.spread.rows.empty() || !affinity.affinity.empty()) return Reach::kCluster;
  const bool is_refused = std::any_of(affinity.groups.begin(), affinity.groups.end(),
                                      [](const GroupAffinity& group) { return !group.refusing.empty(); });
  if (affinity.anti_affinity.empty() && !is_refused) return Reach::kResources;
  // Whether nominated pods refuse this one is looked at only while a pod on some node does.
  if (affinity.anti_affinity.empty() && !cycle.promised.empty()) return Reach::kCluster;
  return affinity.refusing.EachDomainIsOneNode() && affinity.repelling.EachDomainIsOneNode() ? Reach::kNode
                                                                                             : Reach::kCluster;
}

}  // namespace

Prospect::Prospect(const ChangedCluster& cluster, const Pod& pod, const EvaluateOptions& options, SearchBudget& budget)
    : cluster_(&cluster), pod_(&pod), options_(&options), budget_(&budget), cycle_(cluster.prepared()) {
  const FeasibilityReport report = Evaluate(cluster.prepared(), pod, options);
  const bool is_looked_at = !report.ineligible || report.verdict == Feasibility::kPreemptionForbidden;
  if (!is_looked_at || report.nodes.empty()) without_looking_ = report.verdict;
  is_evaluated_ = std::none_of(report.caveats.begin(), report.caveats.end(), KeepsAFitOpen);
  standing_.resize(cluster.prepared().nodes.size());
  budget.checks -= static_cast<std::int64_t>(standing_.size());
  Renew();
}

void Prospect::Renew() {
  cycle_ = BeginCycle(cluster_->prepared(), *pod_, *options_);
  reach_ = ReachOf(cycle_);
  seen_groups_ = cluster_->prepared().groups.size();
  seen_shapes_ = cluster_->prepared().requests.shapes.size();
  budget_->checks -= static_cast<std::int64_t>(standing_.size());
}

void Prospect::Forget(std::uint32_t node) {
  standing_[node] = Standing::kStale;
  const auto known = std::lower_bound(offers_.begin(), offers_.end(), node, IsBefore);
  if (known != offers_.end() && known->node == node) offers_.erase(known);
}

void Prospect::CatchUp() {
  const std::vector<ChangedCluster::Change>& changes = cluster_->changes();
  const std::size_t first_new = std::exchange(seen_changes_, changes.size());
  if (seen_groups_ != cluster_->prepared().groups.size() || seen_shapes_ != cluster_->prepared().requests.shapes.size())
    Renew();
  else
    for (std::size_t i = first_new; i < changes.size(); ++i)
      CountChange(cycle_, changes[i].node, changes[i].pod, changes[i].times);
  if (first_new == changes.size()) return;
  for (std::size_t i = first_new; i < changes.size() && reach_ != Reach::kCluster; ++i) Forget(changes[i].node);
  if (reach_ != Reach::kCluster) return;
  standing_.assign(standing_.size(), Standing::kStale);
  offers_.clear();
}

void Prospect::Filter() {
  Overlay scratch(cycle_);
  for (std::uint32_t node = 0; node < standing_.size(); ++node) {
    if (standing_[node] != Standing::kStale) continue;
    scratch.Reset(node);
    const FilterResult result = RunFilters(scratch, Pass::kAllFilters);
    --budget_->checks;
    standing_[node] = result.passed()                             ? Standing::kFits
                      : result.code == FilterCode::kUnschedulable ? Standing::kMayHelp
                                                                  : Standing::kHopeless;
  }
}

void Prospect::DryRuns() {
  Overlay scratch(cycle_);
  DryRunner dry_runs(scratch);
  const std::vector<PreparedNode>& nodes = cluster_->prepared().nodes;
  for (std::uint32_t node = 0; node < standing_.size(); ++node) {
    if (standing_[node] != Standing::kMayHelp) continue;
    const DryRun& run = dry_runs.Try(node);
    budget_->checks -= static_cast<std::int64_t>(1 + nodes[node].pods.size());
    standing_[node] = run.failed.passed() ? Standing::kCandidate : Standing::kNoCandidate;
    if (!run.failed.passed()) continue;
    const auto at = std::lower_bound(offers_.begin(), offers_.end(), node, IsBefore);
    offers_.insert(at, {node, run.victims, RankOf(run, nodes[node]), run.budget_order_matters});
  }
}

Choices Prospect::Preemption() {
  Choices choices;
  if (pod_->spec->trio.preemption_policy == PreemptionPolicy::kNever) {
    choices.verdict = Feasibility::kPreemptionForbidden;
    return choices;
  }
  DryRuns();
  if (offers_.empty()) {
    choices.verdict = IsAnyNodeBigEnough(cycle_) ? Feasibility::kPreemptionCannotHelp : Feasibility::kShapeNeverFits;
    return choices;
  }
  const std::int64_t possible = std::count_if(standing_.begin(), standing_.end(), [](Standing standing) {
    return standing == Standing::kCandidate || standing == Standing::kNoCandidate;
  });
  choices.verdict = Feasibility::kFitsAfterPreemption;
  choices.sampled = possible > kExaminedCandidates;
  std::vector<Rank> ranks;
  for (const Offer& offer : offers_) {
    ranks.push_back(offer.rank);
    choices.budget_order_matters = choices.budget_order_matters || offer.budget_order_matters;
  }
  const std::vector<std::uint32_t> best = BestOf(ranks);
  for (const std::uint32_t position : best) choices.nodes.push_back(offers_[position].node);
  for (std::uint32_t position = 0; choices.sampled && position < offers_.size(); ++position)
    if (!std::binary_search(best.begin(), best.end(), position)) choices.nodes.push_back(offers_[position].node);
  return choices;
}

std::optional<Choices> Prospect::Look() {
  if (budget_->IsSpent()) return std::nullopt;
  budget_->checks -= kChecksOfALook;
  Choices choices;
  if (without_looking_) {
    choices.verdict = *without_looking_;
    return choices;
  }
  CatchUp();
  Filter();
  for (std::uint32_t node = 0; node < standing_.size(); ++node)
    if (standing_[node] == Standing::kFits) choices.nodes.push_back(node);
  choices.verdict = Feasibility::kFitsNow;
  if (choices.nodes.empty()) choices = Preemption();
  if (!is_evaluated_ && !choices.nodes.empty()) return Choices{};
  return choices;
}

bool Prospect::IsOneOnANode() const {
  if (!cycle_.spec->host_ports.empty()) return true;
  const PodAffinityState& affinity = cycle_.affinity;
  return std::any_of(affinity.anti_affinity.begin(), affinity.anti_affinity.end(), [&](const ResolvedTerm& term) {
    if (!MatchesTerm(term, *pod_)) return false;
    for (std::uint32_t node = 0; node < standing_.size(); ++node)
      if (!affinity.repelling.HasDomain(term.key, node)) return false;
    return true;
  });
}

const std::vector<std::uint32_t>& Prospect::VictimsOn(std::uint32_t node) const {
  return std::lower_bound(offers_.begin(), offers_.end(), node, IsBefore)->victims;
}

}  // namespace podium
