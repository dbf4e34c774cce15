// What the scheduler reads of pods and nodes, from JSON. Only for wire's own sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

// `pod` so far, with what its status says.
PodScheduling WithPodStatus(PodScheduling pod, FieldReader& in, JsonElement status, const At& at);

// The member "name".
std::string ReadName(FieldReader& in, JsonElement json, const At& at);

// RFC 3339, down to microseconds. A text that is no time counts as absent: too little to lose a whole pod for.
std::optional<TimePoint> ReadTime(FieldReader& in, JsonElement json, const At& at);

// read(reader, item, at) for each item of a list.
template <typename Read>
auto ListOf(FieldReader& in, JsonElement json, const At& at, Read read) {
  return in.List(json, at, [&](JsonElement item, const At& here) { return read(in, item, here); });
}

Taint ReadTaint(FieldReader& in, JsonElement json, const At& at);

}  // namespace podium
