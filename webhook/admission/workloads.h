// Where the pod templates of each workload kind are. A new kind is one row here and one case.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "podium/admission.h"

namespace podium {

struct WorkloadKind {
  std::string_view group;
  std::string_view kind;
  // JSON pointers of the objects that hold metadata and spec of a pod; a '*' segment stands for every array item or
  // every object member. "" is the object itself.
  std::vector<std::string_view> template_paths;
  bool injectable;        // the class may be set in the template (custom workloads get it on their pods only)
  bool template_mutable;  // the template may still change on UPDATE
};

std::span<const WorkloadKind> WorkloadKinds();

// Null: a kind without pods as far as Podium knows. The version is not looked at.
const WorkloadKind* FindWorkloadKind(const GroupVersionKind& kind);

bool IsQuota(const GroupVersionKind& kind);

}  // namespace podium
