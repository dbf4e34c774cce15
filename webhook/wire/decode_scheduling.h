// What the scheduler reads of pods and nodes, from JSON. Only for wire's own sources.
#pragma once

#include "wire/field_reader.h"

namespace podium {

// What Pod holds beside its template.
struct PodScheduling {
  SchedulingSpec spec;
  SchedulingStatus status;
  TimePoint start_time{};
};

// Of the whole Pod object. A selector that Kubernetes' validation refuses is an error.
PodScheduling ReadPodScheduling(FieldReader& in, JsonElement pod, const At& at);

// Of a PodSpec, as in a template.
SchedulingSpec ReadSchedulingSpec(FieldReader& in, JsonElement spec, const At& at);

// Leaves out the containers whose report only repeats their spec: nothing follows from those, and the status of most
// pods then is the empty one. Of an infeasible resize every report counts.
SchedulingStatus WithoutRepetition(SchedulingStatus status, const PodSpec& spec);

Taint ReadTaint(FieldReader& in, JsonElement json, const At& at);

}  // namespace podium
