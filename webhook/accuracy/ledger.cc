#include "accuracy/ledger.h"

#include <algorithm>
#include <unordered_map>

namespace podium {
namespace {

bool IsPodCreate(const AdmissionRequest& request) {
  return request.kind.group.empty() && request.kind.kind == "Pod" && request.operation == Operation::kCreate &&
         request.endpoint == Endpoint::kValidate && !request.dry_run && request.object && !request.object->uid.empty();
}

std::shared_ptr<const Advice> AdviceOf(const Decision& decision) {
  if (decision.verdict != Verdict::kAllow || decision.templates.size() != 1) return nullptr;
  const std::optional<TemplateAdvice>& advice = decision.templates.front().advice;
  const bool claims = advice && advice->given && advice->given->verdict != Feasibility::kUnknown;
  return claims ? advice->given : nullptr;
}

// As it was when the scheduler first saw it.
Pod Fresh(const Pod& pod) {
  Pod fresh = pod;
  fresh.node_name = {};
  fresh.phase = PodPhase::kPending;
  fresh.ready = false;
  fresh.deleting = false;
  fresh.start_time = {};
  fresh.standing = {};
  return fresh;
}

// Who may have moved because of the pod itself.
std::vector<std::string> Concerned(const std::string& uid, const Advice& advice, const Evictions& evictions) {
  std::vector<std::string> uids = evictions.marked;
  uids.push_back(uid);
  for (const AdvisedPlan& plan : advice.chosen) uids.insert(uids.end(), plan.victims.begin(), plan.victims.end());
  std::sort(uids.begin(), uids.end());
  return uids;
}

// A victim stays one when it is gone.
Evictions WithEarlier(Evictions seen, const std::vector<std::string>& marked_earlier) {
  std::vector<std::string>& marked = seen.marked;
  marked.insert(marked.end(), marked_earlier.begin(), marked_earlier.end());
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  return seen;
}

const Pod* FindWaiting(const ClusterSnapshot& snapshot, const std::string& namespace_name, const std::string& name) {
  const auto before = [](const std::shared_ptr<const Pod>& pod,
                         const std::pair<std::string_view, std::string_view>& key) {
    return std::pair<std::string_view, std::string_view>(*pod->namespace_name, pod->name) < key;
  };
  const std::pair<std::string_view, std::string_view> key(namespace_name, name);
  const auto found = std::lower_bound(snapshot.waiting.begin(), snapshot.waiting.end(), key, before);
  const bool same =
      found != snapshot.waiting.end() && *(*found)->namespace_name == namespace_name && (*found)->name == name;
  return same ? found->get() : nullptr;
}

// Pods that are on nodes which changed since `before`, by uid. Nobody else can have been bound meanwhile.
std::unordered_map<std::string_view, const Pod*> NewlyPlaced(const ClusterSnapshot* before,
                                                             const ClusterSnapshot& now) {
  std::unordered_map<std::string_view, const Pod*> placed;
  const bool same_nodes = before != nullptr && before->nodes.size() == now.nodes.size();
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    if (same_nodes && before->nodes.rows()[i] == now.nodes.rows()[i]) continue;
    for (const auto& pod : now.nodes.rows()[i]->value.pods) placed.emplace(pod->uid, pod.get());
  }
  return placed;
}

}  // namespace

struct AccuracyLedger::Glance {
  const std::shared_ptr<const Advisor>& advisor;
  const ClusterSnapshot& snapshot;
  TimePoint now{};
  std::unordered_map<std::string_view, const Pod*> placed;
  std::size_t checks = 0;
  std::vector<std::string> disagreements;
};

void AccuracyLedger::Remember(const AdmissionRequest& request, const Decision& decision, TimePoint now) {
  if (!IsPodCreate(request)) return;
  std::shared_ptr<const Advice> advice = AdviceOf(decision);
  if (advice == nullptr) return;
  Entry entry;
  entry.namespace_name = request.namespace_name;
  entry.name = request.object->metadata.name;
  entry.uid = request.object->uid;
  entry.advice = std::move(advice);
  entry.at = now;
  const MutexLock lock(mutex_);
  if (incoming_.size() < kMostPods)
    incoming_.push_back(std::move(entry));
  else  // nobody looks
    ++counts_[{entry.advice->verdict, Actual::kNothing, Outcome::kUnknown}];
}

void AccuracyLedger::TakeIn() {
  std::vector<Entry> incoming;
  {
    const MutexLock lock(mutex_);
    incoming.swap(incoming_);
  }
  for (Entry& entry : incoming) {
    // Asked again by the API server (a conflict, a second webhook): the last word counts.
    std::erase_if(entries_, [&](const Entry& known) { return known.uid == entry.uid; });
    entries_.push_back(std::move(entry));
  }
  for (; entries_.size() > kMostPods; entries_.pop_front()) GiveUp(entries_.front());
}

std::vector<std::string> AccuracyLedger::Look(const std::shared_ptr<const Advisor>& advisor, TimePoint now) {
  TakeIn();
  Glance glance{advisor, *advisor->snapshot(), now, {}, 0, {}};
  if (!entries_.empty()) {
    glance.placed = NewlyPlaced(previous_ == nullptr ? nullptr : previous_->snapshot().get(), glance.snapshot);
    std::erase_if(entries_, [&](Entry& entry) { return IsDone(entry, glance); });
  }
  previous_ = advisor;
  const MutexLock lock(mutex_);
  held_ = entries_.size();
  return std::move(glance.disagreements);
}

bool AccuracyLedger::IsDone(Entry& entry, Glance& glance) {
  const auto bound = glance.placed.find(entry.uid);
  const Pod* pod =
      bound != glance.placed.end() ? bound->second : FindWaiting(glance.snapshot, entry.namespace_name, entry.name);
  const bool is_there = pod != nullptr && pod->uid == entry.uid;
  if (is_there && Judge(entry, *pod, glance)) return true;
  const bool was_deleted = entry.was_seen && !is_there;
  entry.was_seen = entry.was_seen || is_there;
  if (!was_deleted && glance.now - entry.at < kPatience) return false;
  GiveUp(entry);
  return true;
}

// True: it is compared, and done with.
bool AccuracyLedger::Judge(Entry& entry, const Pod& pod, Glance& glance) {
  const Sighting sighting = See(pod);
  const bool nominated_before = entry.nomination.what == Actual::kNominated;
  if (sighting.what == Actual::kNothing && !nominated_before) return false;
  if (sighting.what == Actual::kNominated || nominated_before) return Settle(entry, pod, sighting, glance);
  entry.before = previous_;
  if (const NodeState* node = glance.snapshot.nodes.Find(sighting.node))
    entry.evictions = SeeEvictions(*node, entry.at);
  Compare(entry, pod, sighting, glance);
  return true;
}

// Victims are marked one after the other, before or after the nomination is seen.
bool AccuracyLedger::Settle(Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance) {
  const bool is_new = entry.nomination.what != Actual::kNominated;
  if (is_new) {
    entry.nomination = sighting;
    entry.nominated_at = glance.now;
    entry.before = previous_;
  }
  if (const NodeState* node = glance.snapshot.nodes.Find(entry.nomination.node))
    entry.evictions = WithEarlier(SeeEvictions(*node, entry.at), entry.evictions.marked);
  if (is_new && entry.before != nullptr)
    entry.moved =
        MovedBeside(*entry.before->snapshot(), glance.snapshot, Concerned(entry.uid, *entry.advice, entry.evictions));
  const bool is_over = sighting.what != Actual::kNominated;
  if (!is_over && glance.now - entry.nominated_at < kSettle) return false;
  Compare(entry, pod, entry.nomination, glance);
  return true;
}

void AccuracyLedger::Compare(const Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance) {
  const Outcome outcome =
      Agrees(*entry.advice, sighting, entry.evictions) ? Outcome::kAgreed : WhyNot(entry, pod, sighting, glance);
  Count(entry.advice->verdict, sighting.what, outcome);
  if (outcome != Outcome::kDisagreed) return;
  glance.disagreements.push_back(entry.namespace_name + '/' + entry.name + ": Podium said " + Describe(*entry.advice) +
                                 "; the scheduler: " + Describe(sighting));
}

Outcome AccuracyLedger::WhyNot(const Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance) const {
  if (entry.before == nullptr || glance.checks >= kMostChecks) return Outcome::kUnknown;
  ++glance.checks;
  const Pod fresh = Fresh(pod);
  if (Agrees(*entry.before->Ask(fresh, {}), sighting, entry.evictions)) return Outcome::kOvertaken;
  const bool still_to_place = sighting.what == Actual::kUnschedulable;
  if (still_to_place && Agrees(*glance.advisor->Ask(fresh, {}), sighting, entry.evictions)) return Outcome::kOvertaken;
  return Moved(entry, sighting, glance) ? Outcome::kOvertaken : Outcome::kDisagreed;
}

// A nomination is compared some looks after it was seen.
bool AccuracyLedger::Moved(const Entry& entry, const Sighting& sighting, const Glance& glance) {
  if (sighting.what == Actual::kNominated) return entry.moved;
  return MovedBeside(*entry.before->snapshot(), glance.snapshot, Concerned(entry.uid, *entry.advice, entry.evictions));
}

void AccuracyLedger::GiveUp(const Entry& entry) { Count(entry.advice->verdict, Actual::kNothing, Outcome::kUnknown); }

void AccuracyLedger::Count(Feasibility predicted, Actual actual, Outcome outcome) {
  const MutexLock lock(mutex_);
  ++counts_[{predicted, actual, outcome}];
}

std::vector<AccuracyCount> AccuracyLedger::Counts() const {
  const MutexLock lock(mutex_);
  std::vector<AccuracyCount> counts;
  for (const auto& [cell, count] : counts_)
    counts.push_back({std::get<0>(cell), std::get<1>(cell), std::get<2>(cell), count});
  return counts;
}

std::size_t AccuracyLedger::waiting() const {
  const MutexLock lock(mutex_);
  return held_ + incoming_.size();
}

}  // namespace podium
