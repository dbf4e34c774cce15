// How many pods count at each (topology key, value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "podium/objects.h"

namespace podium {

// Keys and values are those of objects that outlive it.
class TopologyCounts {
 public:
  // The position of `key`, which is added when it is new.
  std::size_t Position(const std::string& key) {
    const std::size_t found = Find(key);
    if (found == keys_.size()) {
      keys_.push_back(&key);
      counts_.emplace_back();
    }
    return found;
  }

  // keys().size() when there is no such key.
  [[nodiscard]] std::size_t Find(const std::string& key) const {
    std::size_t i = 0;
    while (i < keys_.size() && *keys_[i] != key) ++i;
    return i;
  }

  void Add(std::size_t position, std::string_view value) {
    ++counts_[position][value];
    ++total_;
  }

  [[nodiscard]] std::int64_t Count(std::size_t position, std::string_view value) const {
    const auto found = counts_[position].find(value);
    return found == counts_[position].end() ? 0 : found->second;
  }

  [[nodiscard]] const std::vector<const std::string*>& keys() const { return keys_; }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  std::vector<const std::string*> keys_;
  std::vector<std::unordered_map<std::string_view, std::int64_t>> counts_;
  std::int64_t total_ = 0;
};

// Null: the node has no such label.
inline const std::string* LabelOf(const Node& node, const std::string& key) {
  const auto found = node.labels.find(key);
  return found == node.labels.end() ? nullptr : &found->second;
}

}  // namespace podium
