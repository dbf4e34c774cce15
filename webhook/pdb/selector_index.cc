#include "pdb/selector_index.h"

#include <algorithm>
#include <utility>

#include "core/selector.h"

namespace podium {
namespace {

// Neither a namespace nor a label can hold a zero byte.
std::string BucketOf(std::string_view namespace_name, std::string_view key, std::string_view value) {
  std::string out(namespace_name);
  out += '\0';
  out += key;
  out += '\0';
  return out += value;
}

using Counts = std::unordered_map<std::string, std::size_t>;

Counts CountLabels(const std::vector<SelectorIndex::Entry>& entries) {
  Counts counts;
  for (const SelectorIndex::Entry& entry : entries) {
    if (entry.selector == nullptr) continue;
    for (const auto& [key, value] : entry.selector->match_labels) ++counts[BucketOf(entry.namespace_name, key, value)];
  }
  return counts;
}

std::string RarestBucket(const SelectorIndex::Entry& entry, const Counts& counts) {
  std::string rarest = BucketOf(entry.namespace_name, "", "");
  std::size_t fewest = SIZE_MAX;
  for (const auto& [key, value] : entry.selector->match_labels) {
    std::string bucket = BucketOf(entry.namespace_name, key, value);
    const std::size_t count = counts.at(bucket);
    if (count >= fewest) continue;
    fewest = count;
    rarest = std::move(bucket);
  }
  return rarest;
}

}  // namespace

SelectorIndex::SelectorIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  const Counts counts = CountLabels(entries_);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].selector != nullptr) buckets_[RarestBucket(entries_[i], counts)].push_back(i);
}

std::vector<std::size_t> SelectorIndex::Matching(std::string_view namespace_name, const Labels& labels) const {
  std::vector<std::size_t> found;
  const auto look_in = [&](const std::string& bucket) {
    const auto at = buckets_.find(bucket);
    if (at == buckets_.end()) return;
    for (const std::size_t i : at->second)
      if (Matches(*entries_[i].selector, labels)) found.push_back(i);
  };
  look_in(BucketOf(namespace_name, "", ""));
  for (const auto& [key, value] : labels) look_in(BucketOf(namespace_name, key, value));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace podium
