#include "feasibility/gang_search.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "feasibility/filters.h"

namespace podium {
namespace {

constexpr std::size_t kMostOpenBranches = 100'000;
constexpr std::int64_t kChecksOfAKeyPart = 8;  // for the memory more than for the time

// What is placed and who is gone, whatever the order.
using StateKey = std::vector<std::uintptr_t>;

StateKey KeyOf(const Course& course) {
  StateKey key;
  for (const ReplicaOutcome& step : course.steps) {
    key.push_back(*step.node);
    for (const Pod* victim : step.victims) key.push_back(reinterpret_cast<std::uintptr_t>(victim));
  }
  std::sort(key.begin(), key.end());
  key.push_back(course.steps.size());
  return key;
}

// The nodes that look alike to spreading and affinity have one number.
std::vector<std::size_t> PlacesOf(const PreparedCluster& cluster, const SchedulingSpec& spec) {
  std::set<std::string> keys;
  for (const PodAffinityTerm& term : spec.pod_affinity) keys.insert(term.topology_key);
  for (const PodAffinityTerm& term : spec.pod_anti_affinity) keys.insert(term.topology_key);
  for (const SpreadConstraint& constraint : spec.spread) keys.insert(constraint.topology_key);
  std::map<std::vector<std::string>, std::size_t> numbers;
  std::vector<std::size_t> places;
  for (const PreparedNode& node : cluster.nodes) {
    std::vector<std::string> values;
    for (const std::string& key : keys) {
      const std::string* value = LabelOf(node.state->node, key);
      values.push_back(value == nullptr ? "" : '=' + *value);
    }
    places.push_back(numbers.try_emplace(std::move(values), numbers.size()).first->second);
  }
  return places;
}

// A move that was not taken.
struct Branch {
  std::shared_ptr<const std::vector<Move>> moves;  // of the course it branches off from
  std::size_t length = 0;                          // how many of them come before it
  Move other;
};

class Search {
 public:
  Search(const CourseSetting& setting, SearchBudget& budget)
      : setting_(setting),
        budget_(budget),
        places_(PlacesOf(setting.before->prepared(), *setting.replica.pod->scheduling)) {}

  // Breadth first: where the first replicas go decides most.
  GangSearch Run(CourseResult first) {
    best_ = std::move(first);
    Explore({});
    while (best_.course.end != CourseEnd::kAllPlaced && !open_.empty() && !budget_.IsSpent()) {
      const Branch branch = std::move(open_.front());
      open_.pop_front();
      const auto fork = branch.moves->begin() + static_cast<std::ptrdiff_t>(branch.length);
      std::vector<Move> moves(branch.moves->begin(), fork);
      moves.push_back(branch.other);
      Explore(moves);
    }
    return {std::move(best_), open_.empty() && !cut_};
  }

 private:
  struct Fork {
    std::size_t length = 0;
    std::vector<Move> others;
  };

  void Explore(const std::vector<Move>& beginning) {
    std::vector<Fork> forks;
    const CourseGuide guide = [&](const Course& so_far, const Prospect& prospect, Choices& choices) {
      return IsNew(so_far) && (forks.push_back(ForkAt(so_far, prospect, choices)), true);
    };
    CourseResult result = FollowCourse(setting_, beginning, guide, budget_);
    cut_ = cut_ || result.course.end == CourseEnd::kBudgetSpent;
    const auto moves = std::make_shared<const std::vector<Move>>(result.course.moves);
    for (Fork& fork : forks)
      for (Move& other : fork.others) Open({moves, fork.length, std::move(other)});
    const bool came_further = result.course.moves.size() > best_.course.moves.size();
    if (came_further && result.course.end != CourseEnd::kBroken) best_ = std::move(result);
  }

  // False: what can follow from here has been or will be looked at.
  bool IsNew(const Course& so_far) {
    StateKey key = KeyOf(so_far);
    budget_.checks -= kChecksOfAKeyPart * static_cast<std::int64_t>(key.size());
    return seen_.insert(std::move(key)).second;
  }

  Fork ForkAt(const Course& so_far, const Prospect& prospect, Choices& choices) const {
    Fork fork{so_far.moves.size(), {}};
    const bool evicts = choices.verdict == Feasibility::kFitsAfterPreemption;
    for (const std::uint32_t node : NewPlacesFirst(choices.nodes))
      fork.others.push_back({node, evicts ? prospect.VictimsOn(node) : std::vector<std::uint32_t>{}});
    return fork;
  }

  // Without the first, which is taken.
  std::vector<std::uint32_t> NewPlacesFirst(const std::vector<std::uint32_t>& nodes) const {
    std::set<std::size_t> known = {places_[nodes.front()]};
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> others;
    for (std::size_t i = 1; i < nodes.size(); ++i)
      (known.insert(places_[nodes[i]]).second ? first : others).push_back(nodes[i]);
    first.insert(first.end(), others.begin(), others.end());
    return first;
  }

  void Open(Branch branch) {
    if (open_.size() < kMostOpenBranches)
      open_.push_back(std::move(branch));
    else
      cut_ = true;
  }

  const CourseSetting& setting_;
  SearchBudget& budget_;
  const std::vector<std::size_t> places_;
  std::set<StateKey> seen_;
  std::deque<Branch> open_;
  CourseResult best_;
  bool cut_ = false;  // something was left out
};

// --- the capacity argument ------------------------------------------------------------------------------------------

bool AcceptsNode(const Overlay& node) {
  const std::vector<const FilterRow*>& filters = node.cycle().filters;
  return std::all_of(filters.begin(), filters.end(),
                     [&](const FilterRow* filter) { return filter->sees_pods || filter->run(node).passed(); });
}

// Replicas on one node whose pods of lower priority have been taken away. A host port is there for one of them: it
// evicts everybody of lower priority who holds it.
std::int64_t MostOn(const Overlay& node) {
  const Cycle& cycle = node.cycle();
  std::int64_t most = node.node().pod_limit - node.pod_count();
  for (std::size_t i = 0; i < cycle.demands.size(); ++i) most = std::min(most, node.free(i) / cycle.demands[i].amount);
  if (!cycle.spec->host_ports.empty()) most = std::min<std::int64_t>(most, 1);
  return std::max<std::int64_t>(most, 0);
}

// At most one in each domain of `key`.
std::int64_t MostApart(const std::vector<std::int64_t>& most, const Domains& domains) {
  std::vector<std::int64_t> by_domain(domains.count);
  std::int64_t sum = 0;
  for (std::size_t node = 0; node < most.size(); ++node) {
    const std::uint32_t domain = domains.of_node[node];
    if (domain == kNoDomain)
      sum += most[node];
    else
      by_domain[domain] = std::max(by_domain[domain], std::min<std::int64_t>(most[node], 1));
  }
  return std::accumulate(by_domain.begin(), by_domain.end(), sum);
}

}  // namespace

GangSearch SearchGang(const CourseSetting& setting, CourseResult first, SearchBudget& budget) {
  return Search(setting, budget).Run(std::move(first));
}

std::int64_t MostReplicas(const ChangedCluster& cluster, const PreparedPod& replica, const EvaluateOptions& options) {
  const PreparedCluster& prepared = cluster.prepared();
  const Cycle cycle = BeginCycle(prepared, *replica.pod, options);
  const bool evicts = replica.pod->spec->trio.preemption_policy != PreemptionPolicy::kNever;
  Overlay scratch(cycle);
  std::vector<std::int64_t> most;
  for (std::uint32_t node = 0; node < prepared.nodes.size(); ++node) {
    scratch.Reset(node);
    for (const PreparedPod& pod : prepared.nodes[node].pods)
      if (evicts && pod.priority < replica.priority) scratch.Remove(pod);
    most.push_back(AcceptsNode(scratch) ? MostOn(scratch) : 0);
  }
  std::int64_t bound = std::accumulate(most.begin(), most.end(), std::int64_t{0});
  for (const ResolvedTerm& term : cycle.affinity.anti_affinity)
    if (MatchesTerm(term, *replica.pod))
      bound = std::min(bound, MostApart(most, DomainsOf(prepared.nodes, term.term->topology_key)));
  return bound;
}

}  // namespace podium
