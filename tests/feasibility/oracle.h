// What kube-scheduler does with one pod, worked out the slow way from its documented rules on plain numbers. Shares
// nothing with the evaluator: no filters, no sums kept, no sorted lists kept; everything is counted anew each time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "feasibility/toy_world.h"

namespace podium {

// By names, so that it can be printed and compared.
struct OracleAnswer {
  std::string verdict;  // as ToString(Feasibility)
  std::vector<std::string> fit_nodes;
  std::string bind_node;
  std::map<std::string, std::string> refused;                  // node -> "Unschedulable: Insufficient cpu, ..."
  std::map<std::string, std::string> dry_run;                  // likewise, of nodes that evictions do not open
  std::map<std::string, std::vector<std::string>> candidates;  // node -> victims, most important first
  std::map<std::string, std::int64_t> violations;              // node -> victims that break a budget
  std::vector<std::string> chosen;
  bool operator==(const OracleAnswer&) const = default;
};

// Requires: a world of ToyScope::kNodesOnly. `minor`: 36 or 37.
OracleAnswer AskOracle(const ToyWorld& world, int minor);

// No set of pods of lower priority opens the node, tried one by one. Requires: as above.
bool NoSetOfVictimsHelps(const ToyWorld& world, std::size_t node);

// The pod fits on the node once `victims` are gone, and with none of them put back.
bool IsNeeded(const ToyWorld& world, std::size_t node, const std::vector<std::string>& victims);

}  // namespace podium
