// A quota that looks strict and limits nothing: of an extended resource only `requests.<name>` is charged.
#include "rules/catalog.h"
#include "rules/quota_keys.h"

namespace podium {
namespace {

// One finding for each resource names all of its keys. Keys arrive sorted, so a resource's keys are apart from each
// other.
std::string OtherKeysOf(const std::vector<GpuQuotaKey>& keys, std::string_view resource) {
  std::string out;
  for (const GpuQuotaKey& each : keys) {
    if (each.charged || each.resource != resource) continue;
    out += (out.empty() ? "" : ", ") + std::string(each.key);
  }
  return out;
}

bool IsFirstOf(const std::vector<GpuQuotaKey>& keys, const GpuQuotaKey& key) {
  for (const GpuQuotaKey& each : keys)
    if (!each.charged && each.resource == key.resource) return each.key == key.key;
  return false;
}

}  // namespace

RuleOutput UnchargedQuotaKey(const RuleInput& in) {
  const std::vector<GpuQuotaKey> keys = GpuQuotaKeys(in);
  RuleOutput out;
  for (const GpuQuotaKey& key : keys) {
    if (key.charged || !IsFirstOf(keys, key)) continue;
    out.AddFinding("spec.hard[" + std::string(key.key) + "]",
                   OtherKeysOf(keys, key.resource) + ": never charged, so nothing is limited; use requests." +
                       std::string(key.resource));
  }
  return out;
}

}  // namespace podium
