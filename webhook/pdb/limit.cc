#include "pdb/limit.h"

#include <algorithm>
#include <charconv>

namespace podium {
namespace {

constexpr std::int64_t kMostReplicas = INT32_MAX;  // of the API; keeps the products below in range

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMostReplicas) return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> ScaledLimit(std::string_view limit, std::int64_t replicas, Rounding rounding) {
  if (!limit.ends_with('%')) return WholeNumber(limit);
  limit.remove_suffix(1);
  const std::optional<std::int64_t> percent = WholeNumber(limit);
  if (!percent) return {};
  const std::int64_t hundredfold = *percent * std::clamp<std::int64_t>(replicas, 0, kMostReplicas);
  return (hundredfold + (rounding == Rounding::kUp ? 99 : 0)) / 100;
}

std::optional<std::int64_t> DesiredHealthy(const BudgetTemplate& budget, std::int64_t replicas) {
  if (budget.max_unavailable) {
    const std::optional<std::int64_t> down = ScaledLimit(*budget.max_unavailable, replicas, Rounding::kUp);
    if (!down) return {};
    return std::max<std::int64_t>(0, replicas - *down);
  }
  if (!budget.min_available) return {};
  return ScaledLimit(*budget.min_available, replicas, Rounding::kUp);
}

std::optional<std::int64_t> RolloutTakes(std::string_view max_unavailable, std::int64_t replicas) {
  const std::optional<std::int64_t> down = ScaledLimit(max_unavailable, replicas, Rounding::kDown);
  if (!down) return {};
  return std::min(*down, replicas);
}

}  // namespace podium
