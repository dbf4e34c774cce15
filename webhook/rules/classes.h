// The PriorityClasses a decision may rely on: the snapshot's when there is one, else the policy's ladder; in both cases
// with Kubernetes' own two system classes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

// A view: `policy` and `snapshot` must outlive it. Cheap to make (nothing is copied).
class ClassView {
 public:
  ClassView(const Policy& policy, const ClusterSnapshot* snapshot) : policy_(policy), snapshot_(snapshot) {}

  [[nodiscard]] const PriorityClass* Find(std::string_view name) const;  // null: does not exist
  // What a pod without a class gets. Of several the lowest value counts, as in the API server. Null: there is none.
  [[nodiscard]] const PriorityClass* GlobalDefault() const;
  // Of a class that the ladder does not name: kSystem for Kubernetes' own, else kStandard.
  [[nodiscard]] Tier TierOf(std::string_view name) const;
  // Every class but the system ones, highest value first: for "allowed: ..." in messages.
  [[nodiscard]] std::vector<std::string_view> Names() const;

 private:
  const Policy& policy_;
  const ClusterSnapshot* snapshot_;
};

}  // namespace podium
