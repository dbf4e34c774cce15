// What budget one workload should have, were it alone in its namespace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "admission/decide.h"
#include "podium/objects.h"
#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

enum class Standing {
  kWanted,    // it gets `budget`
  kNoNew,     // the policy would refuse it now: as kWanted where it has one already, but it is not given one
  kUnwanted,  // it has none
  kUntouched  // whatever it has stays as it is
};

struct Wish {
  Standing standing = Standing::kUnwanted;
  std::string workload_type;
  BudgetTemplate budget;  // never blocks evictions for ever: limits are adapted to the number of replicas
  std::string reason;     // one sentence for people
};

// What wishes need to look up; built once for a snapshot. Holds pointers into it.
class Surroundings {
 public:
  explicit Surroundings(const ClusterSnapshot& snapshot);

  // The owner that can carry a budget for `workload`, as near to the top as the snapshot shows. Null: there is none.
  [[nodiscard]] const Workload* OwnerWithBudget(const Workload& workload) const;
  // The lowest minReplicas of the autoscalers that target it.
  [[nodiscard]] std::optional<std::int64_t> AutoscalerMinimum(const Workload& workload) const;
  // Null: the snapshot does not show it.
  [[nodiscard]] const Workload* Find(const OwnerReference& owner, std::string_view namespace_name) const;

 private:
  std::map<std::string, const Workload*, std::less<>> workloads_;
  std::map<std::string, std::int64_t, std::less<>> minimums_;
};

struct WishInput {
  const ClusterSnapshot& snapshot;
  const Policy& policy;
  const Surroundings& surroundings;
  const DecideOptions& options;
  TimePoint now;
};

Wish WishOf(const Workload& workload, const WishInput& input);

}  // namespace podium
