#include "rules/classes.h"

#include <algorithm>
#include <array>

namespace podium {
namespace {

// Source: pkg/apis/scheduling/types.go and helpers.go (SystemPriorityClasses).
const PriorityClass* FindSystemClass(std::string_view name) {
  static const std::array<PriorityClass, 2> classes = {{{.name = "system-cluster-critical", .value = 2'000'000'000},
                                                        {.name = "system-node-critical", .value = 2'000'001'000}}};
  const auto found =
      std::find_if(classes.begin(), classes.end(), [&](const PriorityClass& c) { return c.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

// Source: plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass.
const PriorityClass* LowerDefault(const PriorityClass* best, const PriorityClass& candidate) {
  if (!candidate.global_default) return best;
  return best == nullptr || candidate.value < best->value ? &candidate : best;
}

}  // namespace

const PriorityClass* ClassView::Find(std::string_view name) const {
  if (const PriorityClass* system = FindSystemClass(name)) return system;
  if (snapshot_ == nullptr) {
    const LadderClass* row = policy_.FindInLadder(name);
    return row == nullptr ? nullptr : &row->priority_class;
  }
  return snapshot_->classes.Find(name);
}

const PriorityClass* ClassView::GlobalDefault() const {
  const PriorityClass* best = nullptr;
  if (snapshot_ != nullptr) {
    for (const auto& [name, candidate] : snapshot_->classes) best = LowerDefault(best, candidate);
  } else {
    for (const LadderClass& row : policy_.ladder) best = LowerDefault(best, row.priority_class);
  }
  return best;
}

Tier ClassView::TierOf(std::string_view name) const {
  if (const LadderClass* row = policy_.FindInLadder(name)) return row->tier;
  return FindSystemClass(name) == nullptr ? Tier::kStandard : Tier::kSystem;
}

std::vector<std::string_view> ClassView::Names() const {
  std::vector<const PriorityClass*> classes;
  if (snapshot_ != nullptr) {
    for (const auto& [name, row] : snapshot_->classes) classes.push_back(&row);
  } else {
    for (const LadderClass& row : policy_.ladder) classes.push_back(&row.priority_class);
  }
  std::erase_if(classes, [](const PriorityClass* c) { return FindSystemClass(c->name) != nullptr; });
  std::sort(classes.begin(), classes.end(), [](const PriorityClass* a, const PriorityClass* b) {
    return a->value != b->value ? a->value > b->value : a->name < b->name;
  });
  std::vector<std::string_view> names;
  for (const PriorityClass* row : classes) names.emplace_back(row->name);
  return names;
}

}  // namespace podium
