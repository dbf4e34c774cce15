// Kubernetes JSON as Podium's values. Unknown fields are ignored (each release adds some); a known field of the wrong
// JSON type is an error that names its pointer. null counts as absent everywhere, and so does an empty
// priorityClassName. Of duplicate members the last one counts, as in the API server (which is where they are refused,
// if the client asks for it). Numbers and strings are both taken as quantities: a custom resource keeps them as
// written.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "podium/objects.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

using JsonElement = simdjson::dom::element;

// The limits every JSON input has: 7 MiB, 128 levels.
inline constexpr std::size_t kMaxJsonBytes = 7 << 20;
inline constexpr std::size_t kMaxJsonDepth = 128;

// `pointer` is the place of `json` in its document, for messages. All of these never throw.
Result<ObjectMeta> DecodeObjectMeta(JsonElement json, std::string_view pointer);
Result<PodTemplate> DecodePodTemplate(JsonElement json, std::string_view pointer);  // reads metadata and spec
// A Pod is its own template. `metadata` is what DecodeObjectMeta made of this Pod's.
Result<PodTemplate> DecodePod(JsonElement json, const ObjectMeta& metadata);
// What the scheduler reads of a PodSpec beside requests and class. A selector that Kubernetes' validation refuses is an
// error.
Result<SchedulingSpec> DecodeSchedulingSpec(JsonElement pod_spec, std::string_view pointer);
Result<Quota> DecodeQuota(JsonElement json, std::string_view pointer);  // the whole ResourceQuota object
Result<PriorityClass> DecodePriorityClass(JsonElement json, std::string_view pointer);

// Same value: object members in any order, numbers by value. Linear when members have the same order on both sides.
// Two spellings with duplicate members may count as different although their values are the same, never the reverse.
bool SameJson(JsonElement a, JsonElement b);

// A cluster file may be this long; one that `podium` wrote of a big cluster may be longer.
inline constexpr std::size_t kMaxClusterFileBytes = 16 << 20;
inline constexpr std::size_t kMaxSnapshotFileBytes = std::size_t{1} << 30;

// A cluster file: Namespace, Node, Pod, PriorityClass, ResourceQuota, PodDisruptionBudget, HorizontalPodAutoscaler, the
// built-in workloads (CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet) and custom
// resources with a spec, as YAML or JSON documents, or in a `kind: List` or typed list. An
// object without a namespace is in "default". The error names every problem (the first 50), one on a line:
// "file:line:column: /pointer: what". The snapshot's generation is 1. Never throws.
Result<ClusterSnapshot> DecodeClusterFile(std::string_view file, std::string_view text, TimePoint taken_at,
                                          std::size_t max_bytes = kMaxClusterFileBytes);

}  // namespace podium
