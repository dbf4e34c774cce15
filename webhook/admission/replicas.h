// How many pods a workload runs at once, read from its object.
#pragma once

#include <cstdint>
#include <string_view>

#include "podium/admission.h"
#include "podium/outlook.h"
#include "wire/decode.h"

namespace podium {

struct ReplicaCount {
  std::int64_t replicas = 1;
  bool per_node = false;                 // one on each node: DaemonSet
  Placing placing = Placing::kOneByOne;  // all-or-nothing where a part of the pods is of no use
  bool operator==(const ReplicaCount&) const = default;
};

// Of the template at `path` (a JSON pointer) of `object`. What is absent or no number has the API's default; 1 for
// kinds that are not in the table.
ReplicaCount CountReplicas(const GroupVersionKind& kind, JsonElement object, std::string_view path);

// There is a row for this kind.
bool HasReplicaRow(std::string_view group, std::string_view kind);

}  // namespace podium
