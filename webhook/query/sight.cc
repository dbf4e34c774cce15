#include "query/sight.h"

#include <algorithm>
#include <unordered_map>

namespace podium {
namespace {

using Names = std::set<std::string, std::less<>>;

// --- every pod and every text of a report, once ---------------------------------------------------------------------
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

template <typename VisitText>
void EachTextOf(FeasibilityReport& report, const VisitText& visit) {
  visit(report.message);
  for (NodeStatus& status : report.statuses)
    for (std::string& reason : status.reasons) visit(reason);
  for (Caveat& caveat : report.caveats) visit(caveat.text);
}

template <typename VisitText>
void EachTextOf(Outlook& outlook, const VisitText& visit) {
  EachTextOf(outlook.report, visit);
  for (Change& change : outlook.changes) visit(change.text);
  for (std::string& warning : outlook.warnings) visit(warning);
}

template <typename VisitText>
void EachTextOf(WorkloadReport& report, const VisitText& visit) {
  visit(report.exactness_reason);
  if (report.stopped_by) EachTextOf(*report.stopped_by, visit);
}

// --- hiding ---------------------------------------------------------------------------------------------------------

bool IsOfAName(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

// Whole words only: a pod called "a" must not take every a with it. A full stop at the end is not a part of a word.
std::string WithoutWords(std::string_view text, const Names& words) {
  std::string result;
  while (!text.empty()) {
    const auto begin = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), IsOfAName) - text.begin());
    result += text.substr(0, begin);
    text.remove_prefix(begin);
    auto length = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), IsOfAName) - text.begin());
    while (length > 0 && text[length - 1] == '.') --length;
    const std::string_view word = text.substr(0, length);
    result += words.contains(word) ? kHiddenName : word;
    text.remove_prefix(length);
    if (length > 0 || text.empty()) continue;
    result += text.front();  // full stops alone
    text.remove_prefix(1);
  }
  return result;
}

// The text of a change may name pods that stand on its node, victims or not; it has no pointers to them.
template <typename VisitPod>
void EachPodAt(const Change& change, const FeasibilityReport& report, const VisitPod& visit) {
  const NodeState* state = report.nodes.Find(change.node);
  if (state == nullptr) return;
  for (const auto& pod : state->pods) visit(*pod);
}

bool Mentions(std::string_view text, const std::string& word) { return WithoutWords(text, {word}) != text; }

// Replaces pods, each always by the same stand-in, and remembers what they were called.
class Curtain {
 public:
  explicit Curtain(const Sight& sight) : sight_(sight) {}

  void Hide(const Pod*& pod) {
    if (!HideWordsOf(*pod)) return;
    std::shared_ptr<const Pod>& stand_in = by_pod_[pod];
    if (stand_in == nullptr) stand_in = std::make_shared<const Pod>(Without(*pod));
    pod = stand_in.get();
  }

  // False: the pod may be seen.
  bool HideWordsOf(const Pod& pod) {
    if (sight_.Sees(*pod.namespace_name)) return false;
    words_.insert(pod.name);
    words_.insert(*pod.namespace_name);
    return true;
  }

  void Hide(std::string& text) const {
    if (!words_.empty()) text = WithoutWords(text, words_);
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

  const Sight& sight_;
  std::unordered_map<const Pod*, std::shared_ptr<const Pod>> by_pod_;
  Names words_;
};

}  // namespace

Result<Sight> LookUpSight(AccessReviewer& reviewer, const Caller& caller, const std::set<std::string>& wanted,
                          std::size_t most) {
  Sight sight;
  if (wanted.empty()) return sight;
  const Result<bool> everywhere = reviewer.May(caller, {"list", "pods", ""});
  if (!everywhere) return everywhere.error();
  sight.everywhere = *everywhere;
  if (sight.everywhere) return sight;
  std::size_t left = most;
  for (const std::string& name : wanted) {
    if (left-- == 0) break;
    const Result<bool> here = reviewer.May(caller, {"list", "pods", name});
    if (!here) return here.error();
    if (*here) sight.namespaces.insert(name);
  }
  return sight;
}

std::set<std::string> NamespacesIn(const Outlook& outlook) {
  std::set<std::string> names;
  EachPodOfOutlook(outlook, [&](const Pod* pod) { names.insert(*pod->namespace_name); });
  for (const Change& change : outlook.changes)
    EachPodAt(change, outlook.report, [&](const Pod& pod) {
      if (Mentions(change.text, pod.name)) names.insert(*pod.namespace_name);
    });
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
  for (const Change& change : outlook.changes)
    EachPodAt(change, outlook.report, [&](const Pod& pod) { curtain.HideWordsOf(pod); });
  EachTextOf(seen.outlook, [&](std::string& text) { curtain.Hide(text); });
  seen.stand_ins = curtain.StandIns();
  return seen;
}

SeenWorkload SeenBy(const Sight& sight, const WorkloadReport& report) {
  SeenWorkload seen{report, {}};
  Curtain curtain(sight);
  EachPodOfWorkload(seen.report, [&](const Pod*& pod) { curtain.Hide(pod); });
  EachTextOf(seen.report, [&](std::string& text) { curtain.Hide(text); });
  seen.stand_ins = curtain.StandIns();
  return seen;
}

}  // namespace podium
