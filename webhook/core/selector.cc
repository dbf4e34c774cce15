#include "core/selector.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace podium {
namespace {

bool Holds(const SelectorRequirement& requirement, const Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool present = label != labels.end();
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), label->second) != requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOp::kIn: return present && listed();
    case SelectorOp::kNotIn: return !present || !listed();
    case SelectorOp::kExists: return present;
    case SelectorOp::kDoesNotExist: return !present;
  }
  return false;
}

std::string Listed(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  std::string text = "(";
  for (const std::string& value : values) text += (text.size() > 1 ? "," : "") + value;
  return text + ')';
}

std::string Format(const SelectorRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOp::kIn: return requirement.key + " in " + Listed(requirement.values);
    case SelectorOp::kNotIn: return requirement.key + " notin " + Listed(requirement.values);
    case SelectorOp::kExists: return requirement.key;
    case SelectorOp::kDoesNotExist: return '!' + requirement.key;
  }
  return requirement.key;
}

}  // namespace

bool Matches(const LabelSelector& selector, const Labels& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const SelectorRequirement& requirement) { return Holds(requirement, labels); });
}

std::string FormatSelector(const LabelSelector& selector) {
  std::vector<std::pair<std::string_view, std::string>> parts;  // key, text
  for (const auto& [key, value] : selector.match_labels) parts.emplace_back(key, key + '=' + value);
  for (const SelectorRequirement& requirement : selector.match_expressions)
    parts.emplace_back(requirement.key, Format(requirement));
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [key, part] : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace podium
