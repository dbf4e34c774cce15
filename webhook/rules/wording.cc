#include "rules/wording.h"

#include <algorithm>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::size_t kQuotedBytes = 80;

}  // namespace

std::string Quote(std::string_view text) { return Quoted(text, kQuotedBytes); }

std::string ListNames(const std::vector<std::string_view>& names, std::size_t at_most) {
  if (names.empty()) return "none";
  std::string out;
  const std::size_t shown = std::min(names.size(), at_most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += ", ";
    out += names[i];
  }
  if (shown < names.size()) out += " and " + std::to_string(names.size() - shown) + " more";
  return out;
}

std::string EndOrDidYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::optional<std::string_view> nearest = NearestName(word, candidates);
  return nearest ? "; did you mean '" + std::string(*nearest) + "'?" : std::string(".");
}

}  // namespace podium
