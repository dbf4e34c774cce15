#include "feasibility/scheduler_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/text.h"

namespace podium {
namespace {

constexpr SchedulerRules Before137(SchedulerVersion version, ResizeRule resize, std::int32_t needed_features) {
  return {.version = version,
          .resize = resize,
          .names_claims = true,
          .names_placement = false,
          .selects_unlabelled = true,
          .promises_to_gated_count = false,
          .charges_after_violation = true,
          .unstarted_in_reverse = true,
          .needed_features = needed_features};
}

constexpr std::array<SchedulerRules, 4> kRules = {
    Before137({1, 34}, ResizeRule::kByContainer, 0),
    Before137({1, 35}, ResizeRule::kByContainer, 0),
    Before137({1, 36}, ResizeRule::kByContainerAndPodTotal, 2),
    SchedulerRules{.version = {1, 37}},
};

// The number at the beginning of `text`, which loses it.
std::optional<std::int32_t> TakeNumber(std::string_view& text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

const SchedulerRules& RulesOf(SchedulerVersion version) {
  const auto newer = std::find_if(kRules.begin(), kRules.end(), [&](auto& rules) { return rules.version >= version; });
  return newer == kRules.end() ? kRules.back() : *newer;
}

std::string FormatVersion(SchedulerVersion version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

Result<SchedulerVersion> ParseSchedulerVersion(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('v')) rest.remove_prefix(1);
  const std::optional<std::int32_t> major = TakeNumber(rest);
  const bool dotted = rest.starts_with('.');
  if (dotted) rest.remove_prefix(1);
  const std::optional<std::int32_t> minor = TakeNumber(rest);
  if (major && dotted && minor && (rest.empty() || rest[0] == '.' || rest[0] == '+' || rest[0] == '-'))
    return SchedulerVersion{*major, *minor};
  return Error{ErrorKind::kInvalidInput, "found " + Quoted(text) + "; a version of Kubernetes is written as in 1.36"};
}

}  // namespace podium
