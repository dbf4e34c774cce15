// Filters that look at the pods of whole domains.
#include "feasibility/filters.h"

namespace podium {

// Source: plugins/podtopologyspread/filtering.go.
FilterResult FilterSpread(const Overlay& node) {
  switch (CheckSpread(node.cycle().spread, node.id(), node.spread())) {
    case SpreadVerdict::kFits: return {};
    case SpreadVerdict::kNoLabel: return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kSpreadLabel)};
    case SpreadVerdict::kTooSkewed: return {.code = FilterCode::kUnschedulable, .reasons = Bit(Reason::kSpread)};
  }
  return {};
}

// Source: plugins/interpodaffinity/filtering.go. Affinity that is not met is taken as hopeless, also where waiting
// would help.
FilterResult FilterPodAffinity(const Overlay& node) {
  switch (CheckPodAffinity(node.cycle().affinity, node.id(), node.affinity())) {
    case AffinityVerdict::kFits: return {};
    case AffinityVerdict::kNotDrawn: return {.code = FilterCode::kUnresolvable, .reasons = Bit(Reason::kNotDrawn)};
    case AffinityVerdict::kRepelled: return {.code = FilterCode::kUnschedulable, .reasons = Bit(Reason::kRepelled)};
    case AffinityVerdict::kRefused: return {.code = FilterCode::kUnschedulable, .reasons = Bit(Reason::kRefused)};
  }
  return {};
}

}  // namespace podium
