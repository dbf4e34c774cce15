// Spread of waiting times, without a random source: pure code stays pure and two replicas still do not move in step.
#pragma once

#include <cstdint>
#include <string_view>

namespace podium {

// A fraction in [0, 1) that only `seed` and `turn` decide, spread evenly over turns. FNV-1a of the seed, then the
// finalizer of splitmix64.
constexpr double Fraction(std::string_view seed, std::uint64_t turn) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash += (turn + 1) * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

}  // namespace podium
