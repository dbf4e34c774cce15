#include "feasibility/workload_course.h"

#include <algorithm>
#include <utility>

namespace podium {
namespace {

constexpr std::int64_t kChecksOfANode = 10;
constexpr std::int64_t kChecksOfAMove = 20;

class Walk {
 public:
  explicit Walk(const CourseSetting& setting)
      : setting_(setting), cluster_(std::make_unique<ChangedCluster>(*setting.before)) {}

  void Repeat(const std::vector<Move>& moves) {
    for (const Move& move : moves) Make(move);
  }

  void Continue(const CourseGuide& guide, SearchBudget& budget) {
    Prospect prospect(*cluster_, *setting_.replica.pod, *setting_.options, budget);
    course_.reach = prospect.reach();
    course_.one_on_a_node = prospect.IsOneOnANode();
    while (static_cast<std::int64_t>(course_.moves.size()) < setting_.replicas) {
      std::optional<Choices> choices = prospect.Look();
      if (!choices) return End(CourseEnd::kBudgetSpent);
      course_.stopped_with = choices->verdict;
      if (choices->nodes.empty()) return End(CourseEnd::kNoPlace);
      Note(*choices);
      if (guide && !guide(course_, prospect, *choices)) return End(CourseEnd::kBroken);
      const std::uint32_t node = choices->nodes.front();
      const bool evicts = choices->verdict == Feasibility::kFitsAfterPreemption;
      Make({node, evicts ? prospect.VictimsOn(node) : std::vector<std::uint32_t>{}});
    }
  }

  CourseResult Take() { return {std::move(course_), std::move(cluster_)}; }

 private:
  void End(CourseEnd end) { course_.end = end; }

  void Note(const Choices& choices) {
    const bool evicts = choices.verdict == Feasibility::kFitsAfterPreemption;
    course_.had_a_choice = course_.had_a_choice || choices.nodes.size() > 1;
    course_.had_a_choice_of_victims = course_.had_a_choice_of_victims || (evicts && choices.nodes.size() > 1);
    course_.budget_order_mattered = course_.budget_order_mattered || choices.budget_order_matters;
    course_.budgets_changed = course_.budgets_changed || (evicts && budgets_touched_);
  }

  void Make(const Move& move) {
    ReplicaOutcome outcome;
    outcome.node = move.node;
    outcome.verdict = move.victims.empty() ? Feasibility::kFitsNow : Feasibility::kFitsAfterPreemption;
    if (!move.victims.empty()) {
      for (const std::uint32_t victim : move.victims) Touch(cluster_->prepared().nodes[move.node].pods[victim]);
      outcome.victims =
          cluster_->Evict(move.node, move.victims, *setting_.replica.pod, setting_.options->scheduler_name);
    }
    cluster_->Place(move.node, setting_.replica);
    ++(move.victims.empty() ? course_.fit_now : course_.fit_after);
    course_.steps.push_back(std::move(outcome));
    course_.moves.push_back(move);
  }

  void Touch(const PreparedPod& victim) {
    budgets_touched_ = budgets_touched_ || !cluster_->prepared().budgets[victim.group].empty();
  }

  const CourseSetting& setting_;
  std::unique_ptr<ChangedCluster> cluster_;
  Course course_;
  bool budgets_touched_ = false;
};

}  // namespace

CourseResult FollowCourse(const CourseSetting& setting, const std::vector<Move>& beginning, const CourseGuide& guide,
                          SearchBudget& budget) {
  // For the copy of the cluster, the pod's own evaluation, and the moves.
  const auto nodes = static_cast<std::int64_t>(setting.before->prepared().nodes.size());
  budget.checks -= kChecksOfANode * nodes + kChecksOfAMove * static_cast<std::int64_t>(beginning.size());
  Walk walk(setting);
  walk.Repeat(beginning);
  walk.Continue(guide, budget);
  return walk.Take();
}

}  // namespace podium
