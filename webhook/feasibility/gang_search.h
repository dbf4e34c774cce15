// Whether a number of pods that are of no use in a part can all be placed: a search over what the scheduler could
// choose.
#pragma once

#include <cstdint>

#include "feasibility/workload_course.h"

namespace podium {

struct GangSearch {
  CourseResult best;       // the first that places all, else the one that came furthest
  bool exhausted = false;  // every course was followed: what was not found does not exist
};

// Requires: `first` was followed without a guide and did not place all.
GangSearch SearchGang(const CourseSetting& setting, CourseResult first, SearchBudget& budget);

// Never less than what any course places: what the nodes could hold if every pod of lower priority were gone (unless
// the replica may not preempt) and spreading and affinity to others were not asked. Replicas that keep away from each
// other count once in each domain.
std::int64_t MostReplicas(const ChangedCluster& cluster, const PreparedPod& replica, const EvaluateOptions& options);

}  // namespace podium
