#include "feasibility/promises.h"

namespace podium {
namespace {

bool IsOfScheduler(const Pod& pod, const std::string& scheduler) {
  const std::string& name = pod.scheduling->scheduler_name;
  return name == scheduler || (name.empty() && scheduler == "default-scheduler");
}

bool IsAnother(const Pod& pod, const Pod& incoming) { return pod.uid.empty() || pod.uid != incoming.uid; }

}  // namespace

bool KeepsPromise(const PreparedPod& promised, const Pod& incoming, const std::string& scheduler) {
  return IsAnother(*promised.pod, incoming) && promised.priority >= PriorityOf(incoming) &&
         IsOfScheduler(*promised.pod, scheduler);
}

bool LosesPromise(const PreparedPod& promised, const Pod& incoming, const std::string& scheduler) {
  return promised.priority < PriorityOf(incoming) && IsOfScheduler(*promised.pod, scheduler);
}

}  // namespace podium
