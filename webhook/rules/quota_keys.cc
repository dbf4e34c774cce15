#include "rules/quota_keys.h"

#include <algorithm>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kLimits = "limits.";

GpuQuotaKey ParseKey(std::string_view key, Quantity amount) {
  if (key.starts_with(kRequests)) return {key, key.substr(kRequests.size()), true, amount};
  if (key.starts_with(kLimits)) return {key, key.substr(kLimits.size()), false, amount};
  return {key, key, false, amount};
}

bool IsGpu(const Policy& policy, std::string_view resource) {
  return std::any_of(policy.gpus.begin(), policy.gpus.end(),
                     [&](const GpuResource& gpu) { return MatchesPattern(gpu.pattern, resource); });
}

}  // namespace

std::vector<GpuQuotaKey> GpuQuotaKeys(const RuleInput& in) {
  std::vector<GpuQuotaKey> keys;
  if (!in.request.object || !in.request.object->quota) return keys;
  for (const auto& [key, amount] : in.request.object->quota->hard) {
    const GpuQuotaKey parsed = ParseKey(key, amount);
    if (IsGpu(in.policy, parsed.resource)) keys.push_back(parsed);
  }
  return keys;
}

}  // namespace podium
