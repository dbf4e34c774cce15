// Objects of one kind on their way into a snapshot.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "podium/snapshot.h"

namespace podium {

// For one thread at a time. Tables that were built stay as they are; unchanged rows, and the whole table when nothing
// changed, are shared with the next one. An object that is put again with the same value is no change.
template <typename T>
class TableDraft {
 public:
  using Row = typename Table<T>::Row;
  using Rows = typename Table<T>::Rows;

  void Put(std::string key, T value) {
    auto row = std::make_shared<const Row>(Row{std::move(key), std::move(value)});
    if (listed_) return listed_->push_back(std::move(row));
    const auto at = LowerBound(rows_, row->key);
    if (at == rows_.end() || (*at)->key != row->key)
      rows_.insert(at, std::move(row));
    else if (**at == *row)
      return;
    else
      *at = std::move(row);
    changed_ = true;
  }

  void Remove(std::string_view key) {
    const auto at = LowerBound(rows_, key);
    if (at == rows_.end() || (*at)->key != key) return;
    rows_.erase(at);
    changed_ = true;
  }

  // From here to EndList, Put collects the list that will replace everything; AbandonList forgets it.
  void BeginList() { listed_.emplace(); }
  void AbandonList() { listed_.reset(); }
  void EndList() {
    if (!listed_) return;
    Rows rows = SortedOnce(std::move(*listed_));
    listed_.reset();
    for (auto& row : rows) {
      const auto old = LowerBound(rows_, row->key);
      if (old != rows_.end() && **old == *row) row = *old;
    }
    changed_ = changed_ || rows != rows_;
    rows_ = std::move(rows);
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] const Row* Find(std::string_view key) const {
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), key, Before);
    return at == rows_.end() || (*at)->key != key ? nullptr : at->get();
  }
  void MarkBuilt() { changed_ = false; }

  Table<T> Build() {
    if (changed_) built_ = Table<T>(rows_);
    changed_ = false;
    return built_;
  }

 private:
  static bool Before(const std::shared_ptr<const Row>& row, std::string_view key) { return row->key < key; }
  static auto LowerBound(Rows& rows, std::string_view key) {
    return std::lower_bound(rows.begin(), rows.end(), key, Before);
  }

  // Of objects that are listed twice the last one counts.
  static Rows SortedOnce(Rows rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a->key < b->key; });
    const auto same = [](const auto& a, const auto& b) { return a->key == b->key; };
    rows.erase(rows.begin(), std::unique(rows.rbegin(), rows.rend(), same).base());
    return rows;
  }

  Rows rows_;  // sorted by key
  std::optional<Rows> listed_;
  Table<T> built_;
  bool changed_ = false;
};

}  // namespace podium
