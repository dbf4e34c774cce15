// Which of many selectors select a pod, without asking all of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "podium/objects.h"

namespace podium {

// Built once, then read. Holds pointers: what `entries` points at must outlive it.
class SelectorIndex {
 public:
  struct Entry {
    std::string_view namespace_name;
    const LabelSelector* selector = nullptr;  // null selects nothing, an empty one everything in its namespace
  };
  explicit SelectorIndex(std::vector<Entry> entries);

  // Positions in `entries` of those that select such a pod, ascending.
  [[nodiscard]] std::vector<std::size_t> Matching(std::string_view namespace_name, const Labels& labels) const;

 private:
  std::vector<Entry> entries_;
  // Each entry stands in one bucket only: that of the rarest of its labels, or of its namespace when it has none.
  std::unordered_map<std::string, std::vector<std::size_t>> buckets_;
};

}  // namespace podium
