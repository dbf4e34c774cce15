// spec.gpus and spec.classes.
#include <limits>

#include "policy/draft.h"

namespace podium {
namespace {

constexpr IntRange kClassValues{std::numeric_limits<std::int32_t>::min(), 1'000'000'000};
// cluster-autoscaler --expendable-pods-priority-cutoff, default -10.
constexpr std::int64_t kAutoscalerCutoff = -10;

// kSystem is missing: it belongs to Kubernetes' own two classes.
constexpr Word<Tier> kTierWords[] = {
    {"high", Tier::kHigh}, {"standard", Tier::kStandard}, {"preemptible", Tier::kPreemptible}};
constexpr Word<PreemptionPolicy> kPreemptionWords[] = {
    {"PreemptLowerPriority", PreemptionPolicy::kPreemptLowerPriority}, {"Never", PreemptionPolicy::kNever}};

bool ReadResource(GpuResource& gpu, const Field& value) {
  std::optional<std::string> text = value.Text(kResourcePattern);
  if (!text) return false;
  if (text->starts_with("requests.") || text->starts_with("limits.")) {
    const std::string bare = text->substr(text->find('.') + 1);
    value.Error(value.path() + " is " + InQuotes(*text) + ", which is how a ResourceQuota writes it; write " +
                InQuotes(bare));
    return false;
  }
  gpu.pattern = std::move(*text);
  return true;
}

constexpr KeyRow<GpuResource> kGpuRows[] = {
    {"resource", Presence::kRequired, ReadResource},
    {"unit", Presence::kRequired, ReadWord<kUnitWords, &GpuResource::unit, GpuResource>, TextsOf<kUnitWords>},
};
constexpr KeyTable<GpuResource> kGpuKeys{"gpu", "a GPU resource", kGpuRows};

bool ReadClassName(LadderClass& row, const Field& value) {
  const std::optional<std::string> text = value.Text();
  if (!text) return false;
  // Kept even when it is no good, so that a workload type that names it is not reported as well.
  row.priority_class.name = *text;
  if (!value.Text(kDnsSubdomain)) return false;
  if (!text->starts_with("system-")) return true;
  value.Error(value.path() + " is " + InQuotes(*text) +
              "; names that begin with 'system-' are Kubernetes' own and need no entry here");
  return false;
}

bool ReadClassValue(LadderClass& row, const Field& value) {
  const std::optional<std::int64_t> number = value.Integer(kClassValues);
  if (!number) return false;
  if (*number < kAutoscalerCutoff)
    value.Warn(value.path() + " is " + std::to_string(*number) +
               "; below -10 the cluster autoscaler's default neither adds nodes for such pods nor keeps nodes because "
               "of them (--expendable-pods-priority-cutoff)");
  row.priority_class.value = static_cast<std::int32_t>(*number);
  return true;
}

constexpr KeyRow<LadderClass> kClassRows[] = {
    {"name", Presence::kRequired, ReadClassName},
    {"value", Presence::kRequired, ReadClassValue},
    {"tier", Presence::kOptional, ReadWord<kTierWords, &LadderClass::tier, LadderClass>, TextsOf<kTierWords>},
    {"preemptionPolicy", Presence::kOptional,
     [](LadderClass& row, const Field& value) {
       return Set(row.priority_class.preemption_policy, value.OneOf(kPreemptionWords));
     },
     TextsOf<kPreemptionWords>},
    {"globalDefault", Presence::kOptional,
     [](LadderClass& row, const Field& value) { return Set(row.priority_class.global_default, value.Boolean()); }},
    {"description", Presence::kOptional,
     [](LadderClass& row, const Field& value) { return Set(row.description, value.Text(kProse)); }},
};
constexpr KeyTable<LadderClass> kClassKeys{"class", "a class", kClassRows};

}  // namespace

bool ReadGpus(PolicyDraft& draft, const Field& value) {
  draft.gpus_given = true;
  for (Draft<GpuResource>& gpu : ReadList(value, kGpuKeys)) draft.gpus.push_back(std::move(gpu));
  return true;
}

bool ReadClasses(PolicyDraft& draft, const Field& value) {
  for (Draft<LadderClass>& row : ReadList(value, kClassKeys)) draft.classes.push_back(std::move(row));
  return true;
}

std::vector<GpuResource> DefaultGpus() {
  return {{"nvidia.com/gpu", GpuUnit::kDevice},
          {"nvidia.com/gpu.shared", GpuUnit::kShared},
          {"nvidia.com/mig-*.shared", GpuUnit::kShared},
          {"nvidia.com/mig-*", GpuUnit::kSlice},
          {"amd.com/gpu", GpuUnit::kDevice}};
}

std::vector<MappingInfo> LadderLanguage() { return {Describe(kGpuKeys), Describe(kClassKeys)}; }

}  // namespace podium
