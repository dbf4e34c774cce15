// What becomes of a whole workload: how many of its replicas find a place, and where those they evict go.
#pragma once

#include <cstdint>

#include "feasibility/prepared_cluster.h"
#include "podium/outlook.h"

namespace podium {

struct WorkloadBounds {
  std::int64_t replicas = 10'000;         // looked at one after the other
  std::int64_t node_checks = 50'000'000;  // about 50 ns each; the replicas and the displaced pods have that much each
};

// Places `replicas` pods like `replica` (unbound; a nomination is not read) one after the other, as the scheduler
// would: on a node where it fits, else where the scheduler evicts (the best candidate). Victims are gone at once, the
// preemptor stands on its node, disruption budgets and waiting pods stay as they are. Which of several fit nodes the
// scheduler takes is a matter of scores, which are not known here: the first is taken.
//
// When the numbers are exact (kExact):
// - What a replica meets on a node follows from that node's pods alone (Reach::kResources and kNode in prospect.h).
//   Each node then goes through its own sequence of states, whatever happens on others. Fits come before evictions, so
//   before each eviction every node is filled up, in whatever order that happened, and the cheapest eviction is the
//   same one. Without a tie between nodes the whole course is certain. With ties the total is certain all the same: who
//   stops has gone through the sequences of all nodes. The division into `fit_now` and `fit_after` is certain too when
//   replicas stop, when two of them never stand on one node (host ports, anti-affinity), or when nothing but resources
//   counts and no pod of lower priority holds more of anything than a replica asks for: whom a replica evicts then
//   never leaves room for a second one (each victim was tried back and did not fit).
// - Else: no step had a choice.
// A gang (kAllOrNothing): `feasible` says whether it can be placed as a whole; a course that does it is a proof. That
// there is none is exact when the courses do not differ (above), when the nodes could not hold that many even if all
// pods of lower priority were gone, or when every course was followed. The numbers then tell of the course that came
// furthest.
//
// Pure. Takes at most a few seconds: what is beyond `bounds` is not looked at and makes the report kBounded.
WorkloadReport EvaluateWorkload(const ClusterSnapshot& snapshot, const Pod& replica, std::int64_t replicas,
                                Placing placing, const EvaluateOptions& options, const WorkloadBounds& bounds = {});

// Requires: `prepared` was made from `snapshot` by the rules of `options.version`.
WorkloadReport EvaluateWorkload(const PreparedCluster& prepared, const ClusterSnapshot& snapshot, const Pod& replica,
                                std::int64_t replicas, Placing placing, const EvaluateOptions& options,
                                const WorkloadBounds& bounds = {});

}  // namespace podium
