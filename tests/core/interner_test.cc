#include "core/interner.h"

#include <gtest/gtest.h>

#include <string>

namespace podium {
namespace {

PodSpec SpecOf(const std::string& container, std::int64_t gpus) {
  PodSpec spec;
  spec.containers = {{container, {{"nvidia.com/gpu", Quantity::FromUnits(gpus)}}, {}, false}};
  return spec;
}

TEST(Interner, EqualValuesAreOneObject) {
  Interner<PodSpec> specs;
  const Interned<PodSpec> first = specs.Intern(SpecOf("c", 1));
  EXPECT_EQ(specs.Intern(SpecOf("c", 1)).pointer(), first.pointer());
  EXPECT_NE(specs.Intern(SpecOf("c", 2)).pointer(), first.pointer());
  EXPECT_NE(specs.Intern(SpecOf("d", 1)).pointer(), first.pointer());
  EXPECT_EQ(specs.size(), 3U);  // nothing was swept yet
}

TEST(Interner, SweepDropsWhatNobodyHolds) {
  Interner<std::string> names;
  const Interned<std::string> held = names.Intern(std::string("held"));
  (void)names.Intern(std::string("dropped"));
  names.Sweep();
  EXPECT_EQ(names.size(), 1U);
  EXPECT_EQ(names.Intern(std::string("held")).pointer(), held.pointer());
}

TEST(Interner, SweepsItselfWhenItHasDoubled) {
  Interner<std::string> names;
  for (int i = 0; i < 10'000; ++i) (void)names.Intern("pod-" + std::to_string(i));
  EXPECT_LE(names.size(), 65U);
}

TEST(HashOf, OrderAndPlaceCount) {
  EXPECT_NE(HashOf(Labels{{"a", "b"}}), HashOf(Labels{{"b", "a"}}));
  EXPECT_NE(HashOf(Labels{{"a", "b"}, {"c", "d"}}), HashOf(Labels{{"a", "d"}, {"c", "b"}}));
  PodSpec limit;
  limit.containers = {{"c", {}, {{"nvidia.com/gpu", Quantity::FromUnits(1)}}, false}};
  EXPECT_NE(HashOf(SpecOf("c", 1)), HashOf(limit));
  EXPECT_EQ(HashOf(SpecOf("c", 1)), HashOf(SpecOf("c", 1)));
}

}  // namespace
}  // namespace podium
