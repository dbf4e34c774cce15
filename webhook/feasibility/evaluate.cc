// One evaluation: eligibility, the filters on every node, the dry runs, the choice, the message.
// Source: kubernetes pkg/scheduler/schedule_one.go, framework/preemption/preemption.go.
#include <algorithm>
#include <optional>
#include <utility>

#include "feasibility/cycle.h"
#include "feasibility/filters.h"
#include "feasibility/node_match.h"
#include "feasibility/preemption.h"
#include "feasibility/prepared_cluster.h"
#include "feasibility/status_table.h"

namespace podium {
namespace {

// The scheduler examines all candidates up to this number (minCandidateNodesAbsolute).
constexpr std::size_t kExaminedCandidates = 100;

std::optional<Ineligible> WhyNotTried(const Pod& pod, const EvaluateOptions& options) {
  const SchedulingSpec& spec = *pod.scheduling;
  const std::string scheduler = spec.scheduler_name.empty() ? "default-scheduler" : spec.scheduler_name;
  if (!pod.node_name->empty()) return Ineligible::kAlreadyBound;
  if (pod.IsOver()) return Ineligible::kOver;
  if (scheduler != options.scheduler_name) return Ineligible::kOtherScheduler;
  if (!spec.gates.empty()) return Ineligible::kGated;
  if (pod.deleting) return Ineligible::kDeleting;
  return std::nullopt;
}

std::string MessageOf(Ineligible ineligible, const Pod& pod) {
  if (ineligible == Ineligible::kDeleting) return "skip schedule deleting pod: " + *pod.namespace_name + '/' + pod.name;
  if (ineligible != Ineligible::kGated) return "";
  std::string names;
  for (const std::string& gate : pod.scheduling->gates) names += (names.empty() ? "" : " ") + gate;
  return "waiting for scheduling gates: [" + names + ']';
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Evaluation {
 public:
  Evaluation(const PreparedCluster& cluster, const Pod& pod, const EvaluateOptions& options)
      : cluster_(cluster), pod_(pod), options_(options), cycle_(cluster) {}

  FeasibilityReport Run() {
    report_.rules = FormatVersion(cluster_.rules.version);
    report_.nodes = cluster_.nodes_alive;
    report_.ineligible = WhyNotTried(pod_, options_);
    if (report_.ineligible) {
      report_.message = MessageOf(*report_.ineligible, pod_);
    } else if (cluster_.nodes.empty()) {
      report_.verdict = Feasibility::kShapeNeverFits;
      report_.message = "no nodes available to schedule pods";
    } else {
      RunCycle();
    }
    AddCaveats();
    return std::move(report_);
  }

 private:
  void RunCycle() {
    cycle_ = BeginCycle(cluster_, pod_, options_);
    const std::optional<std::vector<std::string>> names = NodesByName(*cycle_.spec);
    if (names && names->empty()) return RejectAll();
    Overlay scratch(cycle_);
    const FilterResult nominated = TryNominatedNode(scratch);
    // The plugin that refused the nominated node joins the one that restricts the node set.
    std::string outside = "NodeAffinity";
    if (!nominated.passed() && names && !std::binary_search(names->begin(), names->end(), NominatedNode()) &&
        nominated.plugin != Plugin::kNodeAffinity)
      outside = JoinSorted(outside, std::string(ToString(nominated.plugin)));
    StatusTable table(cycle_, "node(s) didn't satisfy plugin(s) [" + outside + ']');
    FilterNodes(scratch, names, nominated, table);
    if (!report_.fit_nodes.empty())
      report_.verdict = Feasibility::kFitsNow;
    else
      Preempt(scratch, table);
    report_.statuses = table.statuses();
  }

  static std::string JoinSorted(const std::string& a, const std::string& b) {
    return a < b ? a + ' ' + b : b + ' ' + a;
  }

  const std::string& NominatedNode() const { return pod_.standing->nominated_node; }

  // Passes as well when there is no such node.
  FilterResult TryNominatedNode(Overlay& scratch) {
    const auto node = cluster_.node_ids.find(NominatedNode());
    if (node == cluster_.node_ids.end()) return {};
    scratch.Reset(node->second);
    const FilterResult result = RunFilters(scratch, Pass::kAllFilters);
    if (result.passed()) report_.bind_node = node->second;
    return result;
  }

  void RejectAll() {
    StatusTable table(cycle_, "");
    const std::uint32_t status =
        table.Position({FilterCode::kUnresolvable, Plugin::kNodeAffinity, Bit(Reason::kConflictingNames)});
    for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) report_.refused.push_back({node, status});
    report_.statuses = table.statuses();
    report_.verdict = Feasibility::kPreemptionCannotHelp;
    // DynamicResources has no state after an early end, and PostFilter ends with its complaint.
    report_.message = "0/" + std::to_string(cluster_.nodes.size()) +
                      " nodes are available: " + std::string(TextOf(Reason::kConflictingNames)) + ". not found";
  }

  void FilterNodes(Overlay& scratch, const std::optional<std::vector<std::string>>& names,
                   const FilterResult& nominated, StatusTable& table) {
    const FilterResult outside = {FilterCode::kUnresolvable, Plugin::kNone, Bit(Reason::kOutsideNodeSet)};
    for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) {
      const std::string& name = cluster_.nodes[node].state->node.name;
      FilterResult result = outside;
      if (!names || std::binary_search(names->begin(), names->end(), name)) {
        scratch.Reset(node);
        result = RunFilters(scratch, Pass::kAllFilters);
      } else if (!nominated.passed() && name == NominatedNode()) {
        result = nominated;
      }
      if (result.passed()) {
        report_.fit_nodes.push_back(node);
        continue;
      }
      report_.refused.push_back({node, table.Position(result)});
      if (result.code == FilterCode::kUnschedulable) potential_.push_back(node);
    }
  }

  // --- preemption ---------------------------------------------------------------------------------------------------

  void Preempt(Overlay& scratch, StatusTable& table) {
    report_.message = FitMessage(cluster_.nodes.size(), report_.refused, table.statuses());
    const std::string prefix =
        cluster_.rules.names_claims ? " no new claims to deallocate, preemption: " : " preemption: ";
    report_.ineligible = WhyNotEligible();
    if (report_.ineligible) {
      report_.verdict = Feasibility::kPreemptionForbidden;
      report_.message += prefix + (report_.ineligible == Ineligible::kPolicyNever
                                       ? "not eligible due to preemptionPolicy=Never."
                                       : "not eligible due to a terminating pod on the nominated node.");
      return;
    }
    report_.chosen = BestOf(DryRunAll(scratch, table));
    if (report_.candidates.empty()) {
      report_.verdict = IsAnyNodeBigEnough(cycle_) ? Feasibility::kPreemptionCannotHelp : Feasibility::kShapeNeverFits;
      const std::size_t not_helped = cluster_.nodes.size() - report_.dry_run.size();
      report_.message += prefix + FitMessage(cluster_.nodes.size(), report_.dry_run, table.statuses(),
                                             {not_helped, "Preemption is not helpful for scheduling"});
      return;
    }
    report_.verdict = Feasibility::kFitsAfterPreemption;
    if (cluster_.rules.names_placement) report_.message += prefix + Placement(report_.candidates[report_.chosen[0]]);
  }

  std::string Placement(const Candidate& candidate) const {
    return "found a potential placement for pod on node " + report_.NodeName(candidate.node) + ", preempting " +
           std::to_string(candidate.victims.size()) + " victims";
  }

  std::optional<Ineligible> WhyNotEligible() const {
    if (pod_.spec->trio.preemption_policy == PreemptionPolicy::kNever) return Ineligible::kPolicyNever;
    const auto node = cluster_.node_ids.find(NominatedNode());
    if (node == cluster_.node_ids.end()) return std::nullopt;
    if (std::find(potential_.begin(), potential_.end(), node->second) == potential_.end()) return std::nullopt;
    const std::vector<PreparedPod>& pods = cluster_.nodes[node->second].pods;
    const bool waits = std::any_of(pods.begin(), pods.end(), [&](const PreparedPod& pod) {
      return pod.priority < cycle_.priority && pod.pod->deleting && pod.pod->standing->preempted_by_scheduler;
    });
    return waits ? std::optional(Ineligible::kTerminatingVictim) : std::nullopt;
  }

  // The ranks of the candidates, which go into the report.
  std::vector<Rank> DryRunAll(Overlay& scratch, StatusTable& table) {
    std::vector<Rank> ranks;
    ranks.reserve(potential_.size());
    report_.candidates.reserve(potential_.size());
    DryRunner dry_runs(scratch);
    for (const std::uint32_t node : potential_) {
      const DryRun& run = dry_runs.Try(node);
      budget_order_matters_ = budget_order_matters_ || run.budget_order_matters;
      if (!run.failed.passed()) {
        report_.dry_run.push_back({node, table.Position(run.failed)});
        continue;
      }
      ranks.push_back(RankOf(run, cluster_.nodes[node]));
      Publish(node, run);
    }
    return ranks;
  }

  void Publish(std::uint32_t node, const DryRun& run) {
    Candidate& candidate = report_.candidates.emplace_back();
    candidate.node = node;
    candidate.budget_violations = run.violations;
    candidate.victims.reserve(run.victims.size());
    for (const std::uint32_t position : run.victims)
      candidate.victims.push_back(cluster_.nodes[node].pods[position].pod);
  }

  // --- caveats ------------------------------------------------------------------------------------------------------

  void Caution(CaveatKind kind, std::string text) { report_.caveats.push_back({kind, std::move(text)}); }

  void AddCaveats() {
    const SchedulingSpec& spec = *pod_.scheduling;
    if (!spec.volumes.empty())
      Caution(CaveatKind::kVolumes,
              "volumes were not evaluated, and may keep the pod from a node: " + Listed(spec.volumes));
    if (!spec.resource_claims.empty())
      Caution(CaveatKind::kResourceClaims,
              "resource claims (DRA) were not evaluated, and may keep the pod from a node: " +
                  Listed(spec.resource_claims));
    if (cycle_.demands.size() == kMostDemands)
      Caution(CaveatKind::kTooManyResources, "only the first 40 resources that the pod asks for were evaluated");
    const bool may_fail = !report_.caveats.empty();
    if (options_.version != cluster_.rules.version)
      Caution(CaveatKind::kUnverifiedVersion, "the behaviour of kube-scheduler " + FormatVersion(options_.version) +
                                                  " is not known; these are the rules of " + report_.rules);
    if (potential_.size() > kExaminedCandidates && !report_.candidates.empty())
      Caution(CaveatKind::kSampling, "the scheduler examines a part of the " + std::to_string(potential_.size()) +
                                         " possible nodes and may choose another one; all were examined here");
    if (!report_.chosen.empty() && HasEqualRival(report_.candidates[report_.chosen.front()], cluster_))
      Caution(CaveatKind::kEqualPods,
              "a victim and a pod that stays are of equal priority and started in the same second; the scheduler may "
              "take the one for the other");
    if (budget_order_matters_)
      Caution(
          CaveatKind::kBudgetOrder,
          "a possible victim breaks one of several disruption budgets, which the scheduler takes in a random order; "
          "victims may differ");
    // What was left out only takes nodes away: a refusal stands, a fit does not.
    if (may_fail && (report_.verdict == Feasibility::kFitsNow || report_.verdict == Feasibility::kFitsAfterPreemption))
      report_.verdict = Feasibility::kUnknown;
  }

  const PreparedCluster& cluster_;
  const Pod& pod_;
  const EvaluateOptions& options_;
  Cycle cycle_;
  std::vector<std::uint32_t> potential_;  // nodes where evictions may help
  bool budget_order_matters_ = false;
  FeasibilityReport report_;
};

}  // namespace

FeasibilityReport Evaluate(const PreparedCluster& cluster, const Pod& incoming, const EvaluateOptions& options) {
  return Evaluation(cluster, incoming, options).Run();
}

FeasibilityReport Evaluate(const ClusterSnapshot& snapshot, const Pod& incoming, const EvaluateOptions& options) {
  return Evaluate(Prepare(snapshot, RulesOf(options.version)), incoming, options);
}

}  // namespace podium
