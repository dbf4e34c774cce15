#include "feasibility/oracle.h"

#include <algorithm>
#include <climits>

namespace podium {
namespace {

using Names = std::vector<std::string>;

bool Contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Below(const ToyPod& pod, const ToyWorld& world) { return pod.priority < world.incoming.priority; }

// Pods that count on a node: bound and not over. In the order in which they became known.
std::vector<ToyPod> PodsOn(const ToyWorld& world, std::size_t node) {
  std::vector<ToyPod> pods;
  for (const ToyPod& pod : world.pods)
    if (!pod.over && pod.node == static_cast<std::int64_t>(node)) pods.push_back(pod);
  return pods;
}

// Unbound pods to which room on the node was promised, if the incoming pod has to respect them.
std::vector<ToyPod> PromisedOn(const ToyWorld& world, std::size_t node) {
  std::vector<ToyPod> pods;
  for (const ToyPod& pod : world.pods)
    if (pod.node < 0 && !pod.over && pod.nominated == static_cast<std::int64_t>(node) && !Below(pod, world))
      pods.push_back(pod);
  return pods;
}

// A node as a list of pods that are on it, and the ports in use: a set, so what two pods use is freed by the first that
// goes.
struct Occupied {
  std::vector<ToyPod> pods;
  bool port_in_use = false;

  void Put(const ToyPod& pod) {
    pods.push_back(pod);
    port_in_use = port_in_use || pod.wants_port;
  }
  void Take(const std::string& name) {
    const auto pod = std::find_if(pods.begin(), pods.end(), [&](const ToyPod& each) { return each.name == name; });
    if (pod->wants_port) port_in_use = false;
    pods.erase(pod);
  }
};

Occupied Occupy(const ToyWorld& world, std::size_t node) {
  Occupied occupied;
  for (const ToyPod& pod : PodsOn(world, node)) occupied.Put(pod);
  return occupied;
}

// "": it fits.
std::string Refusal(const ToyWorld& world, std::size_t n, const Occupied& occupied) {
  const ToyNode& node = world.nodes[n];
  const ToyPod& pod = world.incoming;
  if (node.cordoned) return "Unresolvable: node(s) were unschedulable";
  if (node.taint && node.taint->effect != "PreferNoSchedule" && node.taint->value != pod.tolerates)
    return "Unresolvable: node(s) had untolerated taint(s)";
  const bool disk_matches = pod.wants_disk.empty() || pod.wants_disk == node.disk;
  const bool zone_matches = pod.zones.empty() || (!node.zone.empty() && Contains(pod.zones, node.zone));
  if (!disk_matches || !zone_matches) return "Unresolvable: node(s) didn't match Pod's node affinity/selector";
  if (pod.wants_port && occupied.port_in_use)
    return "Unschedulable: node(s) didn't have free ports for the requested pod ports";
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  for (const ToyPod& other : occupied.pods) {
    gpus += other.gpus;
    cpus += other.cpus;
  }
  Names reasons;
  bool hopeless = false;
  if (pod.cpus > 0 && pod.cpus > node.cpus - cpus) {
    reasons.emplace_back("Insufficient cpu");
    hopeless = hopeless || pod.cpus > node.cpus;
  }
  if (pod.gpus > 0 && pod.gpus > node.gpus - gpus) {
    reasons.emplace_back("Insufficient nvidia.com/gpu");
    hopeless = hopeless || pod.gpus > node.gpus;
  }
  if (static_cast<std::int64_t>(occupied.pods.size()) + 1 > node.pods) reasons.emplace_back("Too many pods");
  if (reasons.empty()) return "";
  std::string text = hopeless ? "Unresolvable: " : "Unschedulable: ";
  for (const std::string& reason : reasons) text += (reason == reasons.front() ? "" : ", ") + reason;
  return text;
}

// With promised pods first, then without.
std::string RefusalInBothPasses(const ToyWorld& world, std::size_t node, const Occupied& occupied) {
  Occupied with_promised = occupied;
  for (const ToyPod& pod : PromisedOn(world, node)) with_promised.Put(pod);
  const std::string refusal = Refusal(world, node, with_promised);
  return refusal.empty() ? Refusal(world, node, occupied) : refusal;
}

int StartOf(const ToyPod& pod) { return pod.start_minute == 0 ? INT_MAX : pod.start_minute; }

bool IsMoreImportant(const ToyPod& a, const ToyPod& b) {
  return a.priority != b.priority ? a.priority > b.priority : StartOf(a) < StartOf(b);
}

void SortByImportance(std::vector<ToyPod>& pods) {
  for (std::size_t i = 1; i < pods.size(); ++i)
    for (std::size_t j = i; j > 0 && IsMoreImportant(pods[j], pods[j - 1]); --j) std::swap(pods[j], pods[j - 1]);
}

// Which of the possible victims break a budget, most important first.
Names Violating(const ToyWorld& world, const std::vector<ToyPod>& possible, int minor) {
  std::vector<std::int64_t> left;
  for (const ToyBudget& budget : world.budgets) left.push_back(budget.allowed);
  Names violating;
  for (const ToyPod& pod : possible) {
    bool breaks = false;
    for (std::size_t b = 0; b < world.budgets.size(); ++b) {
      const ToyBudget& budget = world.budgets[b];
      const bool matches = !pod.app.empty() && !budget.app.empty() && budget.app == pod.app;
      if (!matches || Contains(budget.disrupted, pod.name)) continue;
      if (breaks && minor >= 37) break;
      --left[b];
      breaks = breaks || left[b] < 0;
    }
    if (breaks) violating.push_back(pod.name);
  }
  return violating;
}

struct Eviction {
  std::string refusal;  // "": there are victims
  std::vector<ToyPod> victims;
  std::int64_t violations = 0;
};

Eviction TryEviction(const ToyWorld& world, std::size_t node, int minor) {
  Eviction eviction;
  std::vector<ToyPod> possible;
  for (const ToyPod& pod : PodsOn(world, node))
    if (Below(pod, world)) possible.push_back(pod);
  if (possible.empty()) {
    eviction.refusal = "Unresolvable: No preemption victims found for incoming pod";
    return eviction;
  }
  SortByImportance(possible);
  Occupied occupied = Occupy(world, node);
  for (const ToyPod& pod : possible) occupied.Take(pod.name);
  eviction.refusal = RefusalInBothPasses(world, node, occupied);
  if (!eviction.refusal.empty()) return eviction;
  const Names violating = Violating(world, possible, minor);
  for (const bool breaks_budget : {true, false}) {
    for (const ToyPod& pod : possible) {
      if (Contains(violating, pod.name) != breaks_budget) continue;
      Occupied with_it = occupied;
      with_it.Put(pod);
      if (RefusalInBothPasses(world, node, with_it).empty()) {
        occupied = with_it;
        continue;
      }
      // Put on and taken off again: a port that it shares with a pod that stays is free now.
      with_it.Take(pod.name);
      occupied = with_it;
      eviction.victims.push_back(pod);
      eviction.violations += breaks_budget ? 1 : 0;
    }
  }
  SortByImportance(eviction.victims);
  return eviction;
}

std::vector<std::int64_t> CostOf(const Eviction& eviction) {
  const std::int64_t top = eviction.victims.front().priority;
  std::int64_t sum = 0;
  std::int64_t earliest = INT_MAX;
  for (const ToyPod& victim : eviction.victims) {
    sum += victim.priority + (std::int64_t{1} << 31);
    if (victim.priority == top) earliest = std::min<std::int64_t>(earliest, StartOf(victim));
  }
  return {eviction.violations, top, sum, static_cast<std::int64_t>(eviction.victims.size()), -earliest};
}

bool WaitsForVictims(const ToyWorld& world, const OracleAnswer& answer) {
  if (world.incoming.nominated < 0) return false;
  const auto nominated = static_cast<std::size_t>(world.incoming.nominated);
  if (answer.refused.at(world.nodes[nominated].name).starts_with("Unresolvable")) return false;
  const std::vector<ToyPod> pods = PodsOn(world, nominated);
  return std::any_of(pods.begin(), pods.end(),
                     [&](const ToyPod& pod) { return Below(pod, world) && pod.deleting && pod.preempted; });
}

// Podium's own: no node is big enough for the requests alone.
bool IsAnyNodeBigEnough(const ToyWorld& world) {
  return std::any_of(world.nodes.begin(), world.nodes.end(), [&](const ToyNode& node) {
    return node.pods > 0 && node.gpus >= world.incoming.gpus && node.cpus >= world.incoming.cpus;
  });
}

void Evict(const ToyWorld& world, int minor, OracleAnswer& answer) {
  std::map<std::string, std::vector<std::int64_t>> costs;
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const std::string& name = world.nodes[n].name;
    if (answer.refused.at(name).starts_with("Unresolvable")) continue;
    const Eviction eviction = TryEviction(world, n, minor);
    if (!eviction.refusal.empty()) {
      answer.dry_run[name] = eviction.refusal;
      continue;
    }
    for (const ToyPod& victim : eviction.victims) answer.candidates[name].push_back(victim.name);
    answer.violations[name] = eviction.violations;
    costs[name] = CostOf(eviction);
  }
  for (const auto& [name, cost] : costs)
    if (std::all_of(costs.begin(), costs.end(), [&](const auto& other) { return cost <= other.second; }))
      answer.chosen.push_back(name);
}

}  // namespace

OracleAnswer AskOracle(const ToyWorld& world, int minor) {
  OracleAnswer answer;
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const std::string refusal = RefusalInBothPasses(world, n, Occupy(world, n));
    if (refusal.empty())
      answer.fit_nodes.push_back(world.nodes[n].name);
    else
      answer.refused[world.nodes[n].name] = refusal;
    if (refusal.empty() && world.incoming.nominated == static_cast<std::int64_t>(n))
      answer.bind_node = world.nodes[n].name;
  }
  if (!answer.fit_nodes.empty()) {
    answer.verdict = "FitsNow";
  } else if (world.incoming.never_preempts || WaitsForVictims(world, answer)) {
    answer.verdict = "PreemptionForbidden";
  } else {
    Evict(world, minor, answer);
    answer.verdict = !answer.chosen.empty()      ? "FitsAfterPreemption"
                     : IsAnyNodeBigEnough(world) ? "PreemptionCannotHelp"
                                                 : "ShapeNeverFits";
  }
  return answer;
}

bool NoSetOfVictimsHelps(const ToyWorld& world, std::size_t node) {
  Names possible;
  for (const ToyPod& pod : PodsOn(world, node))
    if (Below(pod, world)) possible.push_back(pod.name);
  for (std::size_t set = 0; set < (std::size_t{1} << possible.size()); ++set) {
    Occupied occupied = Occupy(world, node);
    for (std::size_t i = 0; i < possible.size(); ++i)
      if ((set >> i & 1) != 0) occupied.Take(possible[i]);
    if (RefusalInBothPasses(world, node, occupied).empty()) return false;
  }
  return true;
}

bool IsNeeded(const ToyWorld& world, std::size_t node, const Names& victims) {
  for (std::size_t spared = 0; spared <= victims.size(); ++spared) {
    Occupied occupied = Occupy(world, node);
    for (std::size_t i = 0; i < victims.size(); ++i)
      if (i != spared) occupied.Take(victims[i]);
    const bool fits = RefusalInBothPasses(world, node, occupied).empty();
    if (fits != (spared == victims.size())) return false;
  }
  return true;
}

}  // namespace podium
