#include "policy/gpu_match.h"

#include <charconv>
#include <system_error>

namespace podium {
namespace {

// No node has more; a larger number is a slip.
constexpr std::int64_t kMostUnits = 1'000'000;
constexpr std::string_view kCountForms = R"("2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000)";

std::optional<std::int64_t> ParseUnits(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.front() == '-' || (text.size() > 1 && text.front() == '0') || number > kMostUnits) return std::nullopt;
  return number;
}

bool ReadCount(GpuMatch& match, const Field& value) {
  if (value.node().kind == YamlKind::kScalar && Set(match.count, ParseCount(value.node().scalar))) return true;
  value.Unfit(kCountForms);
  return false;
}

constexpr KeyRow<GpuMatch> kGpuMatchRows[] = {
    {"count", Presence::kOptional, ReadCount},
    {"unit", Presence::kOptional, ReadWord<kUnitWords, &GpuMatch::unit, GpuMatch>, TextsOf<kUnitWords>},
    {"resource", Presence::kOptional,
     [](GpuMatch& match, const Field& value) { return Set(match.resource, value.Text(kAnyPattern)); }},
};
constexpr KeyTable<GpuMatch> kGpuMatchKeys{"gpuMatch", "a condition on GPUs", kGpuMatchRows};

}  // namespace

std::optional<IntRange> ParseCount(std::string_view text) {
  if (text.starts_with(">=") || text.starts_with("<=")) {
    const std::optional<std::int64_t> bound = ParseUnits(text.substr(2));
    if (!bound) return std::nullopt;
    return text.front() == '>' ? IntRange{*bound, INT64_MAX} : IntRange{0, *bound};
  }
  const std::size_t dash = text.find('-');
  const std::optional<std::int64_t> first = ParseUnits(text.substr(0, dash));
  const std::optional<std::int64_t> last = dash == std::string_view::npos ? first : ParseUnits(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return IntRange{*first, *last};
}

bool ReadGpuMatch(MatchClause& clause, const Field& value) {
  if (value.node().kind != YamlKind::kMapping) {
    GpuMatch match;
    if (!ReadCount(match, value)) return false;
    clause.gpus = std::move(match);
    return true;
  }
  std::optional<Draft<GpuMatch>> draft = ReadMapping(value, kGpuMatchKeys);
  if (!draft) return false;
  clause.gpus = std::move(draft->value);
  return true;
}

MappingInfo GpuMatchLanguage() { return Describe(kGpuMatchKeys); }

}  // namespace podium
