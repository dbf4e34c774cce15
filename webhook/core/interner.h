// Finds the one shared copy of a value, so that equal values cost memory once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "podium/interned.h"
#include "podium/objects.h"

namespace podium {

// Equal values have equal hashes. Only for tables in memory: not stable between builds.
std::size_t HashOf(const std::string& value);
std::size_t HashOf(const Labels& value);
std::size_t HashOf(const OwnerReference& value);
std::size_t HashOf(const PodSpec& value);
std::size_t HashOf(const SchedulingSpec& value);
std::size_t HashOf(const SchedulingStatus& value);

// Used by one thread at a time; what it gave out may be read and dropped anywhere. A value that only the interner still
// holds is dropped when the table has doubled since it was last swept, or by Sweep.
template <typename T>
class Interner {
 public:
  Interned<T> Intern(Interned<T> value) {
    const std::size_t hash = HashOf(*value);
    const auto [first, last] = values_.equal_range(hash);
    for (auto found = first; found != last; ++found)
      if (*found->second == *value) return Interned<T>(found->second);
    if (values_.size() >= sweep_at_) Sweep();
    values_.emplace(hash, value.pointer());
    return value;
  }

  // A use count of 1 is final: this table is the only place a new holder could come from.
  void Sweep() {
    std::erase_if(values_, [](const auto& entry) { return entry.second.use_count() == 1; });
    sweep_at_ = 2 * values_.size() + kSmall;
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  static constexpr std::size_t kSmall = 64;  // not worth a sweep

  struct AsIs {
    std::size_t operator()(std::size_t hash) const { return hash; }
  };

  std::unordered_multimap<std::size_t, std::shared_ptr<const T>, AsIs> values_;
  std::size_t sweep_at_ = kSmall;
};

}  // namespace podium
