#include "feasibility/workload.h"

#include <algorithm>
#include <string>
#include <utility>

#include "feasibility/cascade.h"
#include "feasibility/gang_search.h"
#include "feasibility/workload_course.h"

namespace podium {
namespace {

PreparedPod AnnounceReplica(ChangedCluster& cluster, Pod replica) {
  cluster.DropPromise(replica.uid);
  replica.standing = {};
  return cluster.Announce(std::move(replica));
}

std::int64_t HeldOf(const std::vector<Amount>& shape, ResourceId resource) {
  const auto found =
      std::find_if(shape.begin(), shape.end(), [&](auto& amount) { return amount.resource == resource; });
  return found == shape.end() ? 0 : found->value;
}

// Whether an eviction can leave room for a second replica: see EvaluateWorkload.
bool MayMakeRoomForMore(const PreparedCluster& cluster, const PreparedPod& replica) {
  const RequestTable& requests = cluster.requests;
  const std::vector<Amount>& wanted = requests.shapes[replica.shape];
  std::vector<char> holds_more;  // by shape: of anything that a replica asks for
  for (const std::vector<Amount>& shape : requests.shapes) {
    const bool holds = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const Amount& amount) { return HeldOf(shape, amount.resource) > amount.value; });
    holds_more.push_back(holds ? 1 : 0);
  }
  return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const PreparedNode& node) {
    return std::any_of(node.pods.begin(), node.pods.end(), [&](const PreparedPod& pod) {
      return pod.priority < replica.priority && holds_more[pod.shape] != 0;
    });
  });
}

class WorkloadEvaluation {
 public:
  WorkloadEvaluation(const PreparedCluster& prepared, const ClusterSnapshot& snapshot, const Pod& replica,
                     std::int64_t replicas, Placing placing, const EvaluateOptions& options,
                     const WorkloadBounds& bounds)
      : options_(options),
        bounds_(bounds),
        before_(prepared, snapshot.budgets),
        setting_{&before_, AnnounceReplica(before_, replica),
                 std::clamp<std::int64_t>(replicas, 0, std::max<std::int64_t>(bounds.replicas, 0)), &options_},
        budget_{bounds.node_checks} {
    report_.placing = placing;
    report_.wanted = std::max<std::int64_t>(replicas, 0);
    report_.nodes = snapshot.nodes;
  }

  WorkloadReport Run() {
    CourseResult result = FollowCourse(setting_, {}, {}, budget_);
    if (report_.placing == Placing::kAllOrNothing)
      result = JudgeGang(std::move(result));
    else
      JudgeCourse(result.course);
    JudgeInput(result.course);
    Publish(result);
    if (report_.feasible || report_.placing == Placing::kOneByOne) Displace(result);
    return std::move(report_);
  }

 private:
  bool AllPlaced(const Course& course) const {
    return static_cast<std::int64_t>(course.moves.size()) == report_.wanted;
  }

  // --- how certain it is --------------------------------------------------------------------------------------------

  void Doubt(const std::string& reason) {
    report_.exactness = Exactness::kBounded;
    report_.exactness_reason += (report_.exactness_reason.empty() ? "" : "; ") + reason;
  }

  void JudgeCourse(const Course& course) {
    if (course.end == CourseEnd::kBudgetSpent) return DoubtEnd(course);
    if (course.reach == Reach::kCluster && course.had_a_choice)
      Doubt(
          "replicas see each other or pods on other nodes (spreading, affinity), so that where the scheduler puts one "
          "decides where the next can go; one course was followed");
    if (course.reach != Reach::kCluster && course.had_a_choice_of_victims && !IsDivisionCertain(course))
      Doubt(
          "the scheduler may evict on another node that is as good, and what that frees decides how many replicas "
          "need no eviction; the total does not depend on it");
  }

  // Whatever node the scheduler takes among equal ones, as many replicas need an eviction.
  bool IsDivisionCertain(const Course& course) const {
    if (course.end == CourseEnd::kNoPlace || course.one_on_a_node) return true;
    return course.reach == Reach::kResources && !MayMakeRoomForMore(before_.prepared(), setting_.replica);
  }

  void DoubtEnd(const Course& course) {
    Doubt("the search was ended after " + std::to_string(bounds_.node_checks) + " checks of a node, with " +
          std::to_string(course.moves.size()) + " replicas placed");
  }

  CourseResult JudgeGang(CourseResult first) {
    const Course& course = first.course;
    if (course.end == CourseEnd::kAllPlaced) return first;
    const bool is_certain =
        course.end == CourseEnd::kNoPlace && (course.reach != Reach::kCluster || !course.had_a_choice);
    if (is_certain || MostReplicas(before_, setting_.replica, options_) < setting_.replicas) return first;
    if (course.end == CourseEnd::kBudgetSpent) {
      DoubtEnd(course);
      return first;
    }
    GangSearch search = SearchGang(setting_, std::move(first), budget_);
    if (search.best.course.end != CourseEnd::kAllPlaced && !search.exhausted)
      Doubt("no placement of all replicas was found, but not every one was looked at");
    return std::move(search.best);
  }

  // What was not known or not looked at in any course.
  void JudgeInput(const Course& course) {
    const SchedulerRules& rules = before_.prepared().rules;
    if (options_.version != rules.version)
      Doubt("the behaviour of kube-scheduler " + FormatVersion(options_.version) +
            " is not known; these are the rules of " + FormatVersion(rules.version));
    if (course.end == CourseEnd::kAllPlaced && !AllPlaced(course))
      Doubt("only the first " + std::to_string(setting_.replicas) + " replicas were looked at");
    if (course.budgets_changed)
      Doubt("pods were evicted that a disruption budget protects; its status follows later and was taken as it is now");
    if (course.budget_order_mattered)
      Doubt("a possible victim breaks one of several disruption budgets, which the scheduler takes in a random order");
  }

  // --- the report ---------------------------------------------------------------------------------------------------

  void Publish(CourseResult& result) {
    Course& course = result.course;
    report_.fit_now = course.fit_now;
    report_.fit_after = course.fit_after;
    report_.feasible = AllPlaced(course);
    report_.steps = std::move(course.steps);
    if (course.end != CourseEnd::kNoPlace) return;
    report_.steps.push_back({course.stopped_with, std::nullopt, {}});
    report_.stopped_by = Evaluate(result.after->prepared(), *setting_.replica.pod, options_);
    DoubtUnknown(*report_.stopped_by);
  }

  void DoubtUnknown(const FeasibilityReport& stopped_by) {
    if (stopped_by.verdict != Feasibility::kUnknown || stopped_by.ineligible) return;
    for (const Caveat& caveat : stopped_by.caveats) Doubt(caveat.text);
  }

  void Displace(const CourseResult& result) {
    std::vector<const Pod*> victims;
    for (const ReplicaOutcome& step : report_.steps)
      victims.insert(victims.end(), step.victims.begin(), step.victims.end());
    SearchBudget budget{bounds_.node_checks};
    Cascade cascade = FollowCascade(*result.after, victims, options_, budget);
    report_.displaced = std::move(cascade.displaced);
    report_.homeless = cascade.homeless;
    if (cascade.not_looked_at > 0)
      Doubt("for " + std::to_string(cascade.not_looked_at) + " displaced pods no place was looked for");
  }

  const EvaluateOptions options_;
  const WorkloadBounds bounds_;
  ChangedCluster before_;
  CourseSetting setting_;
  SearchBudget budget_;
  WorkloadReport report_;
};

}  // namespace

WorkloadReport EvaluateWorkload(const PreparedCluster& prepared, const ClusterSnapshot& snapshot, const Pod& replica,
                                std::int64_t replicas, Placing placing, const EvaluateOptions& options,
                                const WorkloadBounds& bounds) {
  return WorkloadEvaluation(prepared, snapshot, replica, replicas, placing, options, bounds).Run();
}

WorkloadReport EvaluateWorkload(const ClusterSnapshot& snapshot, const Pod& replica, std::int64_t replicas,
                                Placing placing, const EvaluateOptions& options, const WorkloadBounds& bounds) {
  return EvaluateWorkload(Prepare(snapshot, RulesOf(options.version)), snapshot, replica, replicas, placing, options,
                          bounds);
}

}  // namespace podium
