#include "rules/matching.h"

#include <algorithm>

#include "core/text.h"

namespace podium {

bool LabelValueMatches(const std::string& wanted, const std::string* found) {
  return found != nullptr && (wanted == "*" || wanted == *found);
}

bool LabelsMatch(const Labels& wanted, const Labels& found) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& label) { return LabelValueMatches(label.second, FindLabel(found, label.first)); });
}

bool AnyPatternMatches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return MatchesPattern(pattern, text); });
}

const std::string* FindLabel(const Labels& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? nullptr : &found->second;
}

}  // namespace podium
