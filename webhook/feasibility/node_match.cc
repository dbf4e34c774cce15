#include "feasibility/node_match.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace podium {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// strconv.ParseInt(text, 10, 64): a plus sign is fine there.
std::optional<std::int64_t> WholeNumber(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Compares(const NodeRequirement& requirement, const std::string& label) {
  if (requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> bound = WholeNumber(requirement.values.front());
  const std::optional<std::int64_t> number = WholeNumber(label);
  if (!bound || !number) return false;
  return requirement.op == NodeSelectorOp::kGt ? *number > *bound : *number < *bound;
}

bool IsWellFormed(const NodeRequirement& requirement) {
  switch (requirement.op) {
    case NodeSelectorOp::kIn:
    case NodeSelectorOp::kNotIn: return !requirement.values.empty();
    case NodeSelectorOp::kExists:
    case NodeSelectorOp::kDoesNotExist: return requirement.values.empty();
    case NodeSelectorOp::kGt:
    case NodeSelectorOp::kLt: return requirement.values.size() == 1;
    case NodeSelectorOp::kInvalid: return false;
  }
  return false;
}

bool HoldsLabels(const NodeRequirement& requirement, const Labels& labels) {
  if (!IsWellFormed(requirement)) return false;
  const auto label = labels.find(requirement.key);
  const bool present = label != labels.end();
  switch (requirement.op) {
    case NodeSelectorOp::kIn: return present && Contains(requirement.values, label->second);
    case NodeSelectorOp::kNotIn: return !present || !Contains(requirement.values, label->second);
    case NodeSelectorOp::kExists: return present;
    case NodeSelectorOp::kDoesNotExist: return !present;
    case NodeSelectorOp::kGt:
    case NodeSelectorOp::kLt: return present && Compares(requirement, label->second);
    case NodeSelectorOp::kInvalid: return false;
  }
  return false;
}

bool HoldsName(const NodeRequirement& requirement, const std::string& name) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
  const bool same = requirement.values.front() == name;
  return requirement.op == NodeSelectorOp::kIn ? same : requirement.op == NodeSelectorOp::kNotIn && !same;
}

bool Holds(const NodeSelectorTerm& term, const Node& node) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const NodeRequirement& requirement) { return HoldsLabels(requirement, node.labels); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const NodeRequirement& requirement) { return HoldsName(requirement, node.name); });
}

bool IsTolerated(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

// Entries are ANDed; absent: the term names no node.
std::optional<std::vector<std::string>> NamesOf(const NodeSelectorTerm& term) {
  std::optional<std::vector<std::string>> names;
  for (const NodeRequirement& requirement : term.fields) {
    if (requirement.key != "metadata.name" || requirement.op != NodeSelectorOp::kIn) continue;
    if (!names) {
      names = requirement.values;
      continue;
    }
    std::erase_if(*names, [&](const std::string& name) { return !Contains(requirement.values, name); });
  }
  return names;
}

}  // namespace

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) { return IsTolerated(toleration, taint); });
}

bool ToleratesTaintsOf(const SchedulingSpec& pod, const Node& node) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return (taint.effect != "NoSchedule" && taint.effect != "NoExecute") || Tolerates(pod.tolerations, taint);
  });
}

bool AcceptsLabelsOf(const SchedulingSpec& pod, const Node& node) {
  for (const auto& [key, value] : pod.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  if (!pod.node_affinity) return true;
  const std::vector<NodeSelectorTerm>& terms = pod.node_affinity->terms;
  return std::any_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) { return Holds(term, node); });
}

std::optional<std::vector<std::string>> NodesByName(const SchedulingSpec& pod) {
  if (!pod.node_affinity || pod.node_affinity->terms.empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const NodeSelectorTerm& term : pod.node_affinity->terms) {
    std::optional<std::vector<std::string>> names = NamesOf(term);
    if (!names) return std::nullopt;
    std::move(names->begin(), names->end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace podium
