#include "feasibility/change_search.h"

#include <utility>

#include "core/text.h"

namespace podium {
namespace {

struct SearchRow {
  std::vector<Proposal> (*run)(const SearchInput& input);
  bool last_resort;  // only when nothing above it helped
};

// Least intrusive first: what costs the pod nothing it needs, then what makes it smaller, then what takes from others.
constexpr SearchRow kSearches[] = {
    {AskLessOfAnother, false}, {ChangeOneEntry, false},  {TolerateTaints, false}, {ReachANode, true},
    {AskFewerGpus, false},     {AllowPreemption, false}, {RaiseClass, false},     {MovePodsAway, false},
};

bool IsWorthASearch(const FeasibilityReport& report) {
  if (report.verdict == Feasibility::kPreemptionForbidden) return report.ineligible == Ineligible::kPolicyNever;
  return report.verdict == Feasibility::kPreemptionCannotHelp || report.verdict == Feasibility::kShapeNeverFits;
}

}  // namespace

std::optional<Change> ChangeOf(const FeasibilityReport& report, ChangeKind kind, const std::string& text) {
  Change change{.kind = kind, .text = Printable(text), .leads_to = report.verdict, .node = {}};
  if (report.verdict == Feasibility::kFitsNow) {
    change.node = report.NodeName(report.bind_node.value_or(report.fit_nodes.front()));
    return change;
  }
  if (report.verdict != Feasibility::kFitsAfterPreemption) return std::nullopt;
  const Candidate& chosen = report.candidates[report.chosen.front()];
  change.node = report.NodeName(chosen.node);
  change.victims = chosen.victims.size();
  return change;
}

std::optional<Proposal> Trials::Try(Pod changed, const std::string& text) {
  if (left_ == 0) return std::nullopt;
  --left_;
  const FeasibilityReport report = Evaluate(input_->cluster, changed, input_->options.evaluate);
  std::optional<Change> change = ChangeOf(report, kind_, text);
  if (!change) return std::nullopt;
  return Proposal{std::move(*change), std::move(changed)};
}

std::vector<Proposal> FindProposals(const SearchInput& input) {
  std::vector<Proposal> proposals;
  if (!IsWorthASearch(input.report) || input.cluster.nodes.empty()) return proposals;
  for (const SearchRow& search : kSearches) {
    if (search.last_resort && !proposals.empty()) continue;
    for (Proposal& proposal : search.run(input)) proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::vector<Change> FindChanges(const PreparedCluster& cluster, const ClusterSnapshot& snapshot,
                                const FeasibilityReport& report, const Pod& incoming, const OutlookOptions& options) {
  std::vector<Change> changes;
  for (Proposal& proposal : FindProposals({cluster, snapshot, report, incoming, options}))
    changes.push_back(std::move(proposal.change));
  return changes;
}

}  // namespace podium
