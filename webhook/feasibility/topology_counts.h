// How many pods count at each (topology key, value).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "feasibility/prepared_cluster.h"

namespace podium {

// Null: the node has no such label.
inline const std::string* LabelOf(const Node& node, const std::string& key) {
  const auto found = node.labels.find(key);
  return found == node.labels.end() ? nullptr : &found->second;
}

constexpr std::uint32_t kNoDomain = std::numeric_limits<std::uint32_t>::max();

// The values of one label, numbered, and which of them each node has: looked up once, not for every pod.
struct Domains {
  std::vector<std::uint32_t> of_node;  // kNoDomain: the node has no such label
  std::uint32_t count = 0;
};

inline Domains DomainsOf(const std::vector<PreparedNode>& nodes, const std::string& key) {
  Domains domains;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  domains.of_node.reserve(nodes.size());
  for (const PreparedNode& node : nodes) {
    const std::string* value = LabelOf(node.state->node, key);
    domains.of_node.push_back(value == nullptr ? kNoDomain : numbers.try_emplace(*value, domains.count).first->second);
    domains.count = static_cast<std::uint32_t>(numbers.size());
  }
  return domains;
}

// Requires: nodes and keys outlive it.
class TopologyCounts {
 public:
  explicit TopologyCounts(const std::vector<PreparedNode>& nodes) : nodes_(&nodes) {}

  // The position of `key`, which is added when it is new.
  std::size_t Position(const std::string& key) {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (*keys_[i].name == key) return i;
    Domains domains = DomainsOf(*nodes_, key);
    std::vector<std::int64_t> counts(domains.count);
    keys_.push_back({&key, std::move(domains), std::move(counts)});
    return keys_.size() - 1;
  }

  [[nodiscard]] bool HasDomain(std::size_t position, std::uint32_t node) const {
    return keys_[position].domains.of_node[node] != kNoDomain;
  }

  // Nothing when the node has no such label.
  void Add(std::size_t position, std::uint32_t node, std::int64_t pods) {
    if (!HasDomain(position, node)) return;
    Key& key = keys_[position];
    key.counts[key.domains.of_node[node]] += pods;
    total_ += pods;
  }

  // Requires: HasDomain(position, node).
  [[nodiscard]] std::int64_t Count(std::size_t position, std::uint32_t node) const {
    const Key& key = keys_[position];
    return key.counts[key.domains.of_node[node]];
  }

  // True without any key.
  [[nodiscard]] bool EachDomainIsOneNode() const {
    return std::all_of(keys_.begin(), keys_.end(), [](const Key& key) {
      const std::vector<std::uint32_t>& domains = key.domains.of_node;
      return std::count_if(domains.begin(), domains.end(), [](std::uint32_t domain) { return domain != kNoDomain; }) ==
             key.domains.count;
    });
  }

  [[nodiscard]] std::size_t key_count() const { return keys_.size(); }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  struct Key {
    const std::string* name = nullptr;
    Domains domains;
    std::vector<std::int64_t> counts;  // by domain
  };

  const std::vector<PreparedNode>* nodes_;
  std::vector<Key> keys_;
  std::int64_t total_ = 0;
};

}  // namespace podium
