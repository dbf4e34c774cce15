// One entry of what a pod says about nodes and neighbours: dropped, or with another value.
#include <algorithm>
#include <functional>
#include <utility>

#include "feasibility/change_search.h"
#include "feasibility/changed_pod.h"

namespace podium {
namespace {

// An entry that can go. `with_value` says how it would accept another value of the label `key`; none where it cannot.
// Both make their copy when they are called: there may be thousands of entries, and a few are tried.
struct Entry {
  std::string key;
  std::string text;  // "node selector gpu-model=h100"
  std::function<SchedulingSpec()> without;
  std::function<SchedulingSpec(const std::string& value)> with_value = {};
  std::string before_value = {};  // "select gpu-model="
  std::string after_value = {};   // " instead of h100"
};

constexpr std::string_view OperatorText(NodeSelectorOp op) {
  switch (op) {
    case NodeSelectorOp::kIn: return " In ";
    case NodeSelectorOp::kNotIn: return " NotIn ";
    case NodeSelectorOp::kExists: return " Exists";
    case NodeSelectorOp::kDoesNotExist: return " DoesNotExist";
    case NodeSelectorOp::kGt: return " Gt ";
    case NodeSelectorOp::kLt: return " Lt ";
    case NodeSelectorOp::kInvalid: break;
  }
  return " ? ";
}

std::string RequirementText(const NodeRequirement& requirement) {
  std::string values;
  for (const std::string& value : requirement.values) values += (values.empty() ? "" : ", ") + value;
  std::string text = requirement.key;
  text.append(OperatorText(requirement.op));
  return requirement.values.empty() ? text : text.append("[").append(values).append("]");
}

void AddSelectors(const SchedulingSpec& spec, std::vector<Entry>& entries) {
  for (const auto& [key, value] : spec.node_selector) {
    Entry entry{key, std::string("node selector ").append(key).append("=").append(value), {}};
    entry.without = [&spec, name = key] {
      SchedulingSpec changed = spec;
      changed.node_selector.erase(name);
      return changed;
    };
    entry.with_value = [&spec, name = key](const std::string& other) {
      SchedulingSpec changed = spec;
      changed.node_selector[name] = other;
      return changed;
    };
    entry.before_value = "select " + key + '=';
    entry.after_value = " instead of " + value;
    entries.push_back(std::move(entry));
  }
}

using Requirements = std::vector<NodeRequirement> NodeSelectorTerm::*;

// A term that is left empty would match nothing; what is meant is everything.
SchedulingSpec WithoutRequirement(SchedulingSpec spec, std::size_t term, Requirements list, std::size_t position) {
  NodeSelectorTerm& changed = spec.node_affinity->terms[term];
  (changed.*list).erase((changed.*list).begin() + static_cast<std::ptrdiff_t>(position));
  if (changed.expressions.empty() && changed.fields.empty()) spec.node_affinity.reset();
  return spec;
}

void AddRequirements(const SchedulingSpec& spec, std::size_t term, Requirements list, std::vector<Entry>& entries) {
  const std::vector<NodeRequirement>& requirements = spec.node_affinity->terms[term].*list;
  for (std::size_t i = 0; i < requirements.size(); ++i) {
    const NodeRequirement& requirement = requirements[i];
    Entry entry{requirement.key, "node affinity entry " + RequirementText(requirement),
                [&spec, term, list, i] { return WithoutRequirement(spec, term, list, i); }};
    if (list == &NodeSelectorTerm::expressions && requirement.op == NodeSelectorOp::kIn) {
      entry.with_value = [&spec, term, i](const std::string& other) {
        SchedulingSpec changed = spec;
        changed.node_affinity->terms[term].expressions[i].values.push_back(other);
        return changed;
      };
      entry.before_value = "let its node affinity also accept " + requirement.key + '=';
    }
    entries.push_back(std::move(entry));
  }
}

void AddPodTerms(const SchedulingSpec& spec, std::vector<PodAffinityTerm> SchedulingSpec::*list, const char* name,
                 std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < (spec.*list).size(); ++i) {
    const std::string& key = (spec.*list)[i].topology_key;
    entries.push_back({key, std::string(name) + " over " + key, [&spec, list, i] {
                         SchedulingSpec changed = spec;
                         (changed.*list).erase((changed.*list).begin() + static_cast<std::ptrdiff_t>(i));
                         return changed;
                       }});
  }
}

void AddSpread(const SchedulingSpec& spec, std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < spec.spread.size(); ++i) {
    const std::string& key = spec.spread[i].topology_key;
    entries.push_back({key, "topology spread constraint over " + key + " (or set ScheduleAnyway)", [&spec, i] {
                         SchedulingSpec changed = spec;
                         changed.spread.erase(changed.spread.begin() + static_cast<std::ptrdiff_t>(i));
                         return changed;
                       }});
  }
}

// They refer to `spec`.
std::vector<Entry> EntriesOf(const SchedulingSpec& spec) {
  std::vector<Entry> entries;
  AddSelectors(spec, entries);
  const std::size_t terms = spec.node_affinity ? spec.node_affinity->terms.size() : 0;
  for (std::size_t term = 0; term < terms; ++term) {
    AddRequirements(spec, term, &NodeSelectorTerm::expressions, entries);
    AddRequirements(spec, term, &NodeSelectorTerm::fields, entries);
  }
  AddPodTerms(spec, &SchedulingSpec::pod_affinity, "required pod affinity", entries);
  AddPodTerms(spec, &SchedulingSpec::pod_anti_affinity, "required pod anti-affinity", entries);
  AddSpread(spec, entries);
  return entries;
}

// The label's value on the node that the pod would go to without the entry says more than "without it".
std::optional<Proposal> TryValue(const SearchInput& input, const Entry& entry, const std::string& node,
                                 Trials& trials) {
  if (!entry.with_value) return std::nullopt;
  const Labels& labels = input.cluster.nodes[input.cluster.node_ids.at(node)].state->node.labels;
  const auto label = labels.find(entry.key);
  if (label == labels.end()) return std::nullopt;
  return trials.Try(WithScheduling(input.incoming, entry.with_value(label->second)),
                    entry.before_value + label->second + entry.after_value);
}

}  // namespace

std::vector<Proposal> ChangeOneEntry(const SearchInput& input) {
  std::vector<Proposal> proposals;
  Trials trials(input, ChangeKind::kOtherLabel);
  for (const Entry& entry : EntriesOf(*input.incoming.scheduling)) {
    if (trials.used_up()) break;
    std::optional<Proposal> dropped =
        trials.Try(WithScheduling(input.incoming, entry.without()), "drop the " + entry.text);
    if (!dropped) continue;
    std::optional<Proposal> other = TryValue(input, entry, dropped->change.node, trials);
    proposals.push_back(std::move(other ? *other : *dropped));
  }
  return proposals;
}

}  // namespace podium
