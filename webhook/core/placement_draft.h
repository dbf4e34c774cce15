// Nodes and the pods on them, on their way into a snapshot.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/interner.h"
#include "podium/snapshot.h"

namespace podium {

// For one thread at a time. Pods and nodes may come in any order. An object that is put again with the same value is no
// change (nodes beat every few seconds), and a changed pod copies the state of its node once until the next Build.
class PlacementDraft {
 public:
  void PutPod(Pod pod);
  void RemovePod(std::string_view namespace_name, std::string_view name);
  void PutNode(Node node);
  void RemoveNode(std::string_view name);

  // From Begin to End, Put collects the list that will replace all pods, or nodes; Abandon forgets it.
  void BeginPods() { listed_pods_.emplace(); }
  void AbandonPods() { listed_pods_.reset(); }
  void EndPods();
  void BeginNodes() { listed_nodes_.emplace(); }
  void AbandonNodes() { listed_nodes_.reset(); }
  void EndNodes();

  [[nodiscard]] std::size_t pod_count() const { return pods_.size(); }
  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  [[nodiscard]] std::size_t interned_count() const;
  [[nodiscard]] const Pod* FindPod(std::string_view namespace_name, std::string_view name) const;

  // Fills `nodes` and `waiting`.
  void BuildInto(ClusterSnapshot& snapshot);

 private:
  using PodPointer = std::shared_ptr<const Pod>;
  using Row = Table<NodeState>::Row;

  struct PodName {
    std::string_view namespace_name;
    std::string_view name;
  };
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(const PodName& name) const;
    std::size_t operator()(const PodPointer& pod) const { return (*this)(NameOf(*pod)); }
  };
  struct SameName {
    using is_transparent = void;
    static PodName Of(const PodName& name) { return name; }
    static PodName Of(const PodPointer& pod) { return NameOf(*pod); }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Of(a).name == Of(b).name && Of(a).namespace_name == Of(b).namespace_name;
    }
  };
  using PodSet = std::unordered_set<PodPointer, NameHash, SameName>;

  // What is bound to one node name, which may be empty or unknown.
  struct Slot {
    std::shared_ptr<const Row> row;  // as in the last snapshot; null: was in none
    std::shared_ptr<Row> draft;      // null: as `row`
    bool known = false;              // there is such a node
    bool was_known = false;          // in the last snapshot
    bool sorted = true;              // the pods of `draft`

    [[nodiscard]] const Row& Latest() const { return draft ? *draft : *row; }
  };
  using Slots = std::unordered_map<std::string, Slot>;

  static PodName NameOf(const Pod& pod) { return {*pod.namespace_name, pod.name}; }
  static bool Before(const Pod& a, const Pod& b);
  static void Sort(Slot& slot);

  PodPointer Interning(Pod pod);
  void Replace(const PodPointer& old, const PodPointer& pod);
  void Attach(const PodPointer& pod);
  void Detach(const Pod& pod);
  Slot& SlotOf(const std::string& node_name);
  NodeState& Draft(const std::string& node_name, Slot& slot);
  void Forget(const std::string& node_name, Slot& slot);
  void Settle(const std::string& node_name);
  void SettleRow(const std::string& node_name, const Slot& slot);
  PodList Waiting() const;

  Interner<std::string> names_;  // of namespaces and nodes
  Interner<Labels> labels_;
  Interner<OwnerReference> owners_;
  Interner<PodSpec> specs_;
  Interner<SchedulingSpec> schedulings_;
  Interner<SchedulingStatus> standings_;
  PodSet pods_;
  std::optional<PodSet> listed_pods_;
  std::optional<std::unordered_map<std::string, Node>> listed_nodes_;
  Slots slots_;                    // by node name
  std::set<std::string> unknown_;  // names of slots without a node that hold pods: almost always just ""
  std::size_t node_count_ = 0;
  std::vector<std::string> changed_;  // names of the slots that have a draft, or lost their node
  Table<NodeState>::Rows rows_;       // as in the last snapshot
  Table<NodeState> built_;
  PodList waiting_;
};

}  // namespace podium
