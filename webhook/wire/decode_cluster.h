// What a cluster holds, from JSON. As in wire/decode.h: unknown fields are ignored, null is absent, a known field of
// the wrong type is an error that names its pointer. All of these never throw. `pointer` is the place of `json` in its
// document. A namespace that is not written stays empty.
#pragma once

#include <string>
#include <string_view>

#include "wire/decode.h"

namespace podium {

struct ObjectKind {
  std::string api_version;
  std::string kind;
  bool operator==(const ObjectKind&) const = default;
};

// Which object: enough to delete it. `kind` is empty where the object does not say it, as in typed lists.
struct ObjectName {
  ObjectKind kind;
  std::string namespace_name;
  std::string name;
  bool operator==(const ObjectName&) const = default;
};

// kInvalidInput when there is no name.
Result<ObjectName> DecodeObjectName(JsonElement json, std::string_view pointer);

Result<Pod> DecodePodObject(JsonElement json, std::string_view pointer);
Result<Node> DecodeNode(JsonElement json, std::string_view pointer);
Result<Namespace> DecodeNamespace(JsonElement json, std::string_view pointer);
Result<LabelSelector> DecodeLabelSelector(JsonElement json, std::string_view pointer);  // metav1.LabelSelector
Result<Pdb> DecodePdb(JsonElement json, std::string_view pointer);
Result<Autoscaler> DecodeAutoscaler(JsonElement json, std::string_view pointer);

// Deployment, StatefulSet, ReplicaSet, DaemonSet, ReplicationController, Job, CronJob; of any other kind spec.replicas,
// spec.selector (a LabelSelector) and spec.template are read where they are. `kind` counts where the object does not
// say what it is.
Result<Workload> DecodeWorkload(JsonElement json, std::string_view pointer, const ObjectKind& kind);

}  // namespace podium
