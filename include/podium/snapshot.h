// Immutable picture of the cluster. Any number of threads may read one snapshot; nobody may change it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/objects.h"

namespace podium {

// Objects of one kind, sorted by key: the name, or "namespace/name". Copies share their rows, so the next snapshot
// copies one pointer for each row that did not change, or just one when none did.
template <typename T>
class Table {
 public:
  struct Row {
    std::string key;
    T value;
    bool operator==(const Row&) const = default;
  };
  using Rows = std::vector<std::shared_ptr<const Row>>;

  class Iterator {
   public:
    explicit Iterator(typename Rows::const_iterator at) : at_(at) {}
    const Row& operator*() const { return **at_; }
    const Row* operator->() const { return at_->get(); }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator&) const = default;

   private:
    typename Rows::const_iterator at_;
  };

  Table() : rows_(std::make_shared<const Rows>()) {}
  // Requires: sorted by key, no key twice, no null.
  explicit Table(Rows sorted) : rows_(std::make_shared<const Rows>(std::move(sorted))) {}

  [[nodiscard]] Iterator begin() const { return Iterator(rows_->begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(rows_->end()); }
  [[nodiscard]] std::size_t size() const { return rows_->size(); }
  [[nodiscard]] bool empty() const { return rows_->empty(); }
  [[nodiscard]] const Rows& rows() const { return *rows_; }

  // Null: there is none.
  [[nodiscard]] const T* Find(std::string_view key) const {
    const auto found = LowerBound(*rows_, key);
    return found == rows_->end() || (*found)->key != key ? nullptr : &(*found)->value;
  }

  // Adds or replaces one row. Copies the pointers of all rows: for building small tables.
  void Put(std::string key, T value) {
    Rows rows = *rows_;
    auto at = rows.begin() + (LowerBound(*rows_, key) - rows_->begin());
    auto row = std::make_shared<const Row>(Row{std::move(key), std::move(value)});
    if (at != rows.end() && (*at)->key == row->key)
      *at = std::move(row);
    else
      rows.insert(at, std::move(row));
    rows_ = std::make_shared<const Rows>(std::move(rows));
  }

  friend bool operator==(const Table& a, const Table& b) {
    return std::equal(a.rows_->begin(), a.rows_->end(), b.rows_->begin(), b.rows_->end(),
                      [](const auto& x, const auto& y) { return x == y || *x == *y; });
  }

 private:
  static typename Rows::const_iterator LowerBound(const Rows& rows, std::string_view key) {
    return std::lower_bound(rows.begin(), rows.end(), key,
                            [](const auto& row, std::string_view wanted) { return row->key < wanted; });
  }

  std::shared_ptr<const Rows> rows_;
};

using PodList = std::vector<std::shared_ptr<const Pod>>;  // no null in it; sorted by namespace and name

// A node and the pods bound to it, also those that are over. One event copies one of these, not the cluster.
struct NodeState {
  Node node;
  PodList pods;
};

// One watched kind: how far this snapshot can be trusted about it.
struct SourceState {
  bool synced = false;      // its first list is complete
  TimePoint last_event{};   // the last list, event or bookmark; the epoch: none yet
  std::size_t objects = 0;  // held
  std::size_t skipped = 0;  // could not be read and are left out
  bool operator==(const SourceState&) const = default;
};

struct ClusterSnapshot {
  std::uint64_t generation = 0;  // grows with every published snapshot
  TimePoint taken_at{};
  // By resource as in the API: "pods", "deployments.apps". Empty for a cluster that was read from a file, which is as
  // fresh as its reader wants it to be.
  std::map<std::string, SourceState> sources;
  Table<PriorityClass> classes;
  Table<Namespace> namespaces;
  Table<NodeState> nodes;
  PodList waiting;  // pods that are bound to no node, or to one that is not in `nodes`
  Table<Quota> quotas;
  Table<Pdb> budgets;
  Table<Workload> workloads;  // by "Kind.group/namespace/name": "Deployment.apps/ml/chat" (WorkloadKey)
  Table<Autoscaler> autoscalers;
};

}  // namespace podium
