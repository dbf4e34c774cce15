// What was said of a pod at admission next to what the scheduler then did with it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podium/advice.h"
#include "podium/snapshot.h"

namespace podium {

enum class Actual {
  kNothing,        // it was not seen, or the scheduler's turn was not
  kBound,          // spec.nodeName
  kNominated,      // status.nominatedNodeName: room is being made
  kUnschedulable,  // the condition PodScheduled, and no node nominated
};

enum class Outcome {
  kAgreed,
  kDisagreed,
  kOvertaken,  // the cluster changed between the verdict and the scheduler's turn
  kUnknown,    // nothing to compare with
};

std::string_view ToString(Actual actual);    // "Bound"
std::string_view ToString(Outcome outcome);  // "agreed"

// What a picture of the cluster shows of one pod.
struct Sighting {
  Actual what = Actual::kNothing;
  std::string node;     // bound to, or nominated
  std::string message;  // of the condition
  bool operator==(const Sighting&) const = default;
};

Sighting See(const Pod& pod);

// What has become of evictions on the nominated node, over all pictures since.
struct Evictions {
  std::vector<std::string> marked;    // uids of pods that the scheduler marked as its victims since the verdict, sorted
  std::vector<std::string> standing;  // uids of pods there that are not on their way out, sorted
};

// The pods of `node`. Victims that were told to go before `since` are somebody else's.
Evictions SeeEvictions(const NodeState& node, TimePoint since);

// The verdict says that, and of a nominated (or bound) preemptor also: the node is one of those that are equal to the
// scheduler, all planned victims go, and no other pod there was marked. Of the victims of a node that is not among
// Advice::chosen (too many nodes or pods are equal) nothing is known: the node counts.
bool Agrees(const Advice& advice, const Sighting& sighting, const Evictions& evictions);

// Something beside these pods (uids, sorted) is not as it was: nodes, the pods on them, nominations, budgets.
bool MovedBeside(const ClusterSnapshot& before, const ClusterSnapshot& after, const std::vector<std::string>& uids);

// "FitsNow on one of 3 nodes", "PreemptionCannotHelp: 0/4 nodes are available: ..."
std::string Describe(const Advice& advice);
std::string Describe(const Sighting& sighting);

}  // namespace podium
