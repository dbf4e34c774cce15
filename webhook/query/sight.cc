#include "query/sight.h"

#include <algorithm>
#include <unordered_map>

namespace podium {
namespace {

// --- every pod of a report, once ---------------------------------------------------------------------
// One walk for looking and for changing, so that nothing can be looked at and then be forgotten.

template <typename Report, typename VisitPod>
void EachPodOfReport(Report& report, const VisitPod& visit) {
  for (auto& candidate : report.candidates)
    for (auto& victim : candidate.victims) visit(victim);
}

template <typename Report, typename VisitPod>
void EachPodOfOutlook(Report& outlook, const VisitPod& visit) {
  EachPodOfReport(outlook.report, visit);
  if (!outlook.plan) return;
  for (auto& victim : outlook.plan->victims) visit(victim.pod);
  for (auto& pod : outlook.plan->lost_promise) visit(pod);
}

template <typename Report, typename VisitPod>
void EachPodOfWorkload(Report& workload, const VisitPod& visit) {
  for (auto& step : workload.steps)
    for (auto& victim : step.victims) visit(victim);
  for (auto& displaced : workload.displaced) visit(displaced.pod);
  if (workload.stopped_by) EachPodOfReport(*workload.stopped_by, visit);
}

// --- hiding ---------------------------------------------------------------------------------------------------------

std::string KeyOf(const Pod& pod) { return *pod.namespace_name + '/' + pod.name; }

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// Replaces pods, each always by the same stand-in. No free text is searched for names: a hole in the scheduler's
// wording, or in what the caller wrote, would tell them.
class Curtain {
 public:
  explicit Curtain(const Sight& sight) : sight_(sight) {}

  void Hide(const Pod*& pod) {
    if (sight_.Sees(*pod->namespace_name)) return;
    std::shared_ptr<const Pod>& stand_in = by_pod_[pod];
    if (stand_in == nullptr) stand_in = std::make_shared<const Pod>(Without(*pod));
    pod = stand_in.get();
  }

  // The text has the names of its pods as KeyOf writes them; longer ones first, one may be the beginning of another.
  void Hide(Change& change) {
    std::set<std::string, Longer> keys;
    for (const Pod*& pod : change.named) {
      if (!sight_.Sees(*pod->namespace_name)) keys.insert(KeyOf(*pod));
      Hide(pod);
    }
    static const std::string hidden = std::string(kHiddenName) + '/' + std::string(kHiddenName);
    for (const std::string& key : keys) change.text = Replaced(std::move(change.text), key, hidden);
  }

  [[nodiscard]] std::vector<std::shared_ptr<const Pod>> StandIns() const {
    std::vector<std::shared_ptr<const Pod>> all;
    all.reserve(by_pod_.size());
    for (const auto& [pod, stand_in] : by_pod_) all.push_back(stand_in);
    return all;
  }

 private:
  // Only what a report shows of a pod, so that a writer that shows more one day shows nothing.
  static Pod Without(const Pod& pod) {
    Pod stand_in;
    stand_in.name = kHiddenName;
    stand_in.namespace_name = std::string(kHiddenName);
    PodSpec spec;
    spec.trio = pod.spec->trio;
    stand_in.spec = std::move(spec);
    return stand_in;
  }

  struct Longer {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };

  const Sight& sight_;
  std::unordered_map<const Pod*, std::shared_ptr<const Pod>> by_pod_;
};

}  // namespace

Result<Sight> LookUpSight(AccessReviewer& reviewer, const Caller& caller, const std::set<std::string>& wanted,
                          const SightLimits& limits) {
  Sight sight;
  if (wanted.empty()) return sight;
  const Result<bool> everywhere = reviewer.May(caller, {"list", "pods", ""});
  if (!everywhere) return everywhere.error();
  sight.everywhere = *everywhere;
  if (sight.everywhere) return sight;
  std::size_t left = limits.namespaces;
  for (const std::string& name : wanted) {
    if (left-- == 0 || (limits.is_over && limits.is_over())) break;
    const Result<bool> here = reviewer.May(caller, {"list", "pods", name});
    if (!here) break;  // who they are and that they may ask is known; what cannot be looked up stays unseen
    if (*here) sight.namespaces.insert(name);
  }
  return sight;
}

std::set<std::string> NamespacesIn(const Outlook& outlook) {
  std::set<std::string> names;
  EachPodOfOutlook(outlook, [&](const Pod* pod) { names.insert(*pod->namespace_name); });
  for (const Change& change : outlook.changes)
    for (const Pod* pod : change.named) names.insert(*pod->namespace_name);
  return names;
}

std::set<std::string> NamespacesIn(const WorkloadReport& report) {
  std::set<std::string> names;
  EachPodOfWorkload(report, [&](const Pod* pod) { names.insert(*pod->namespace_name); });
  return names;
}

SeenOutlook SeenBy(const Sight& sight, const Outlook& outlook) {
  SeenOutlook seen{outlook, {}};
  Curtain curtain(sight);
  EachPodOfOutlook(seen.outlook, [&](const Pod*& pod) { curtain.Hide(pod); });
  for (Change& change : seen.outlook.changes) curtain.Hide(change);
  seen.stand_ins = curtain.StandIns();
  return seen;
}

SeenWorkload SeenBy(const Sight& sight, const WorkloadReport& report) {
  SeenWorkload seen{report, {}};
  Curtain curtain(sight);
  EachPodOfWorkload(seen.report, [&](const Pod*& pod) { curtain.Hide(pod); });
  seen.stand_ins = curtain.StandIns();
  return seen;
}

}  // namespace podium
