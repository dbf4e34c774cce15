#include "core/placement_draft.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace podium {

std::size_t PlacementDraft::NameHash::operator()(const PodName& name) const {
  const std::hash<std::string_view> hash{};
  return hash(name.name) * 31 + hash(name.namespace_name);
}

bool PlacementDraft::Before(const Pod& a, const Pod& b) {
  const int by_namespace = a.namespace_name->compare(*b.namespace_name);
  return by_namespace != 0 ? by_namespace < 0 : a.name < b.name;
}

std::size_t PlacementDraft::interned_count() const {
  return names_.size() + labels_.size() + owners_.size() + specs_.size() + schedulings_.size() + standings_.size();
}

const Pod* PlacementDraft::FindPod(std::string_view namespace_name, std::string_view name) const {
  const auto found = pods_.find(PodName{namespace_name, name});
  return found == pods_.end() ? nullptr : found->get();
}

PlacementDraft::PodPointer PlacementDraft::Interning(Pod pod) {
  pod.namespace_name = names_.Intern(std::move(pod.namespace_name));
  pod.node_name = names_.Intern(std::move(pod.node_name));
  pod.labels = labels_.Intern(std::move(pod.labels));
  pod.spec = specs_.Intern(std::move(pod.spec));
  // Most have the empty one, which every pod shares already.
  if (pod.scheduling.pointer() != Interned<SchedulingSpec>().pointer())
    pod.scheduling = schedulings_.Intern(std::move(pod.scheduling));
  if (pod.standing.pointer() != Interned<SchedulingStatus>().pointer())
    pod.standing = standings_.Intern(std::move(pod.standing));
  if (pod.controller) pod.controller = owners_.Intern(std::move(*pod.controller));
  pod.name.shrink_to_fit();
  pod.uid.shrink_to_fit();
  return std::make_shared<const Pod>(std::move(pod));
}

// --- pods -----------------------------------------------------------------------------------------------------------

void PlacementDraft::PutPod(Pod pod) {
  const auto old = pods_.find(NameOf(pod));
  const bool same = old != pods_.end() && **old == pod;
  const PodPointer next = same ? *old : Interning(std::move(pod));
  if (listed_pods_) {
    listed_pods_->erase(next);  // of pods that are listed twice the last one counts
    listed_pods_->insert(next);
    return;
  }
  if (same) return;
  if (old == pods_.end()) {
    Attach(next);
  } else {
    Replace(*old, next);
    pods_.erase(old);
  }
  pods_.insert(next);
}

void PlacementDraft::RemovePod(std::string_view namespace_name, std::string_view name) {
  const auto found = pods_.find(PodName{namespace_name, name});
  if (found == pods_.end()) return;
  Detach(**found);
  pods_.erase(found);
}

void PlacementDraft::EndPods() {
  if (!listed_pods_) return;
  for (const PodPointer& old : pods_)
    if (!listed_pods_->contains(old)) Detach(*old);
  for (const PodPointer& pod : *listed_pods_) {
    const auto old = pods_.find(pod);
    if (old != pods_.end() && *old != pod) Replace(*old, pod);
    if (old == pods_.end()) {
      Slot& slot = SlotOf(*pod->node_name);
      Draft(*pod->node_name, slot).pods.push_back(pod);
      slot.sorted = false;  // one sort in the end, not one insertion each
    }
  }
  pods_ = std::move(*listed_pods_);
  listed_pods_.reset();
}

void PlacementDraft::Replace(const PodPointer& old, const PodPointer& pod) {
  if (*old->node_name != *pod->node_name) {
    Detach(*old);
    return Attach(pod);
  }
  Slot& slot = SlotOf(*pod->node_name);
  PodList& pods = Draft(*pod->node_name, slot).pods;
  *std::find(pods.begin(), pods.end(), old) = pod;
}

void PlacementDraft::Attach(const PodPointer& pod) {
  Slot& slot = SlotOf(*pod->node_name);
  PodList& pods = Draft(*pod->node_name, slot).pods;
  Sort(slot);
  pods.insert(std::upper_bound(pods.begin(), pods.end(), pod, [](auto& a, auto& b) { return Before(*a, *b); }), pod);
}

void PlacementDraft::Detach(const Pod& pod) {
  Slot& slot = SlotOf(*pod.node_name);
  PodList& pods = Draft(*pod.node_name, slot).pods;
  pods.erase(std::find_if(pods.begin(), pods.end(), [&](const PodPointer& other) { return other.get() == &pod; }));
}

void PlacementDraft::Sort(Slot& slot) {
  if (slot.sorted) return;
  PodList& pods = slot.draft->value.pods;
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return Before(*a, *b); });
  slot.sorted = true;
}

// --- nodes ----------------------------------------------------------------------------------------------------------

void PlacementDraft::PutNode(Node node) {
  if (listed_nodes_) {
    const std::string name = node.name;
    listed_nodes_->insert_or_assign(name, std::move(node));
    return;
  }
  const std::string name = node.name;
  Slot& slot = SlotOf(name);
  if (slot.known && slot.Latest().value.node == node) return;
  if (!slot.known) ++node_count_;
  slot.known = true;
  Draft(name, slot).node = std::move(node);
}

void PlacementDraft::RemoveNode(std::string_view name) {
  const auto found = slots_.find(std::string(name));
  if (found != slots_.end() && found->second.known) Forget(found->first, found->second);
}

void PlacementDraft::EndNodes() {
  if (!listed_nodes_) return;
  auto listed = std::move(*listed_nodes_);
  listed_nodes_.reset();
  for (auto& [name, slot] : slots_)
    if (slot.known && !listed.contains(name)) Forget(name, slot);
  for (auto& [name, node] : listed) PutNode(std::move(node));
}

void PlacementDraft::Forget(const std::string& node_name, Slot& slot) {
  Draft(node_name, slot).node = Node{};
  slot.known = false;
  --node_count_;
}

PlacementDraft::Slot& PlacementDraft::SlotOf(const std::string& node_name) { return slots_[node_name]; }

// The state to change: copied from the last snapshot's at the first change since then.
NodeState& PlacementDraft::Draft(const std::string& node_name, Slot& slot) {
  if (!slot.draft) {
    slot.draft = slot.row ? std::make_shared<Row>(*slot.row) : std::make_shared<Row>(Row{node_name, {}});
    changed_.push_back(node_name);
  }
  return slot.draft->value;
}

// --- the snapshot ---------------------------------------------------------------------------------------------------

void PlacementDraft::BuildInto(ClusterSnapshot& snapshot) {
  if (!changed_.empty()) {
    const bool waiting_changed = std::any_of(changed_.begin(), changed_.end(), [&](const std::string& name) {
      const Slot& slot = slots_.find(name)->second;
      return !slot.known || !slot.was_known;
    });
    for (const std::string& name : changed_) Settle(name);
    changed_.clear();
    built_ = Table<NodeState>(rows_);
    if (waiting_changed) waiting_ = Waiting();
  }
  snapshot.nodes = built_;
  snapshot.waiting = waiting_;
}

void PlacementDraft::Settle(const std::string& node_name) {
  const auto found = slots_.find(node_name);
  Slot& slot = found->second;
  Sort(slot);
  slot.draft->value.pods.shrink_to_fit();
  slot.row = std::move(slot.draft);
  slot.draft.reset();
  SettleRow(node_name, slot);
  slot.was_known = slot.known;
  const bool waits = !slot.known && !slot.row->value.pods.empty();
  if (waits)
    unknown_.insert(node_name);
  else
    unknown_.erase(node_name);
  if (!waits && !slot.known) slots_.erase(found);
}

void PlacementDraft::SettleRow(const std::string& node_name, const Slot& slot) {
  const auto before = [](const std::shared_ptr<const Row>& row, const std::string& key) { return row->key < key; };
  const auto at = std::lower_bound(rows_.begin(), rows_.end(), node_name, before);
  if (slot.known && slot.was_known)
    *at = slot.row;
  else if (slot.known)
    rows_.insert(at, slot.row);
  else if (slot.was_known)
    rows_.erase(at);
}

PodList PlacementDraft::Waiting() const {
  PodList waiting;
  for (const std::string& name : unknown_) {
    const PodList& pods = slots_.find(name)->second.row->value.pods;
    const auto middle = waiting.insert(waiting.end(), pods.begin(), pods.end());
    std::inplace_merge(waiting.begin(), middle, waiting.end(),
                       [](const auto& a, const auto& b) { return Before(*a, *b); });
  }
  return waiting;
}

}  // namespace podium
