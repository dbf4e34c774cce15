// One recorded case of the scheduler conformance sets as Podium's values, and the evaluator's answer in their format.
#pragma once

#include <simdjson.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "podium/feasibility.h"
#include "wire/decode_cluster.h"

namespace podium {

struct RecordedCase {
  ClusterSnapshot snapshot;
  Pod incoming;
};

namespace recorded {

// Decodes every element of the list `member`, in order, and hands it to `take`. What cannot be decoded goes to `skip`.
template <typename Decoder, typename Take, typename Skip>
void EachOf(JsonElement json, std::string_view member, Decoder decode, Take take, Skip skip) {
  simdjson::dom::array list;
  if (json[member].get(list) != simdjson::SUCCESS) return;
  for (const JsonElement item : list) {
    auto object = decode(item, member);
    if (object)
      take(std::move(*object));
    else
      skip(object.error());
  }
}

// Keys that keep the order of the list: the recorded results belong to it.
inline std::string KeyInOrder(std::size_t position, const std::string& name) {
  char number[16];
  std::snprintf(number, sizeof number, "%06zu/", position);
  return number + name;
}

inline Pod WithDefaults(Pod pod) {
  if (pod.namespace_name->empty()) pod.namespace_name = std::string("default");
  return pod;
}

inline NodeState& StateOf(std::map<std::string, NodeState>& nodes, const std::string& name) {
  return nodes.find(name)->second;
}

}  // namespace recorded

// The order of pods on a node, and of budgets, is that of the case.
inline Result<RecordedCase> ReadCase(JsonElement json) {
  RecordedCase read;
  std::optional<Error> problem;
  const auto fail = [&](const Error& error) { problem = error; };
  std::map<std::string, NodeState> nodes;
  recorded::EachOf(
      json, "nodes", DecodeNode, [&](Node node) { nodes[node.name].node = node; }, fail);
  recorded::EachOf(
      json, "namespaces", DecodeNamespace, [&](Namespace ns) { read.snapshot.namespaces.Put(ns.name, ns); }, fail);
  std::size_t budgets = 0;
  // A budget whose selector cannot be parsed protects nothing.
  recorded::EachOf(
      json, "pdbs", DecodePdb,
      [&](Pdb pdb) { read.snapshot.budgets.Put(recorded::KeyInOrder(budgets++, pdb.name), pdb); }, [](const Error&) {});
  recorded::EachOf(
      json, "pods", DecodePodObject,
      [&](Pod pod) {
        auto shared = std::make_shared<const Pod>(recorded::WithDefaults(std::move(pod)));
        if (nodes.contains(*shared->node_name))
          recorded::StateOf(nodes, *shared->node_name).pods.push_back(std::move(shared));
        else
          read.snapshot.waiting.push_back(std::move(shared));
      },
      fail);
  Table<NodeState>::Rows rows;
  for (auto& [name, state] : nodes)
    rows.push_back(std::make_shared<const Table<NodeState>::Row>(Table<NodeState>::Row{name, std::move(state)}));
  read.snapshot.nodes = Table<NodeState>(std::move(rows));
  JsonElement pod;
  if (json["pod"].get(pod) != simdjson::SUCCESS) return Error{ErrorKind::kInvalidInput, "the case has no pod"};
  Result<Pod> incoming = DecodePodObject(pod, "pod");
  if (!incoming) return incoming.error();
  read.incoming = recorded::WithDefaults(std::move(*incoming));
  if (problem) return *problem;
  return read;
}

namespace recorded {

inline std::string VerdictOf(const FeasibilityReport& report) {
  if (report.ineligible) return "ineligible";
  switch (report.verdict) {
    case Feasibility::kFitsNow: return "fits";
    case Feasibility::kFitsAfterPreemption: return "preempts";
    case Feasibility::kPreemptionCannotHelp:
    case Feasibility::kShapeNeverFits: return "unschedulable";
    default: return std::string(ToString(report.verdict));
  }
}

inline nlohmann::json StatusesOf(const FeasibilityReport& report, const std::vector<NodeOutcome>& outcomes) {
  nlohmann::json statuses = nlohmann::json::object();
  for (const NodeOutcome& outcome : outcomes) {
    const NodeStatus& status = report.statuses[outcome.status];
    nlohmann::json& entry = statuses[report.NodeName(outcome.node)];
    entry["code"] = status.code == StatusCode::kUnschedulable ? "Unschedulable" : "UnschedulableAndUnresolvable";
    if (!status.plugin.empty()) entry["plugin"] = status.plugin;
    entry["reasons"] = status.reasons;
  }
  return statuses;
}

inline nlohmann::json CandidateOf(const Candidate& candidate) {
  nlohmann::json victims = nlohmann::json::array();
  for (const Pod* victim : candidate.victims) victims.push_back(*victim->namespace_name + '/' + victim->name);
  return {{"pdbViolations", candidate.budget_violations}, {"victims", std::move(victims)}};
}

}  // namespace recorded

// The report in the format of the recorded results.
inline nlohmann::json ResultOf(const FeasibilityReport& report) {
  nlohmann::json result = {
      {"verdict", recorded::VerdictOf(report)}, {"message", report.message},
      {"fitNodes", nlohmann::json::array()},    {"nodeStatus", recorded::StatusesOf(report, report.refused)},
      {"candidates", nlohmann::json::object()}, {"chosen", nlohmann::json::array()}};
  if (report.ineligible) {
    std::string reason(ToString(*report.ineligible));  // recorded with a small initial
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
    result["ineligibleReason"] = reason;
  }
  for (const std::uint32_t node : report.fit_nodes) result["fitNodes"].push_back(report.NodeName(node));
  if (report.bind_node) result["bindNode"] = report.NodeName(*report.bind_node);
  if (!report.dry_run.empty()) result["preemptStatus"] = recorded::StatusesOf(report, report.dry_run);
  for (const Candidate& candidate : report.candidates)
    result["candidates"][report.NodeName(candidate.node)] = recorded::CandidateOf(candidate);
  for (const std::uint32_t i : report.chosen) result["chosen"].push_back(report.NodeName(report.candidates[i].node));
  return result;
}

}  // namespace podium
