#include "admission/replicas.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace podium {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// Counts are not negative and stay below 2^31, as in the API.
std::int64_t Product(std::int64_t a, std::int64_t b) {
  const std::int64_t product = std::clamp<std::int64_t>(a, 0, kMost) * std::clamp<std::int64_t>(b, 0, kMost);
  return std::min(product, kMost);
}

// A template in its object.
struct Place {
  JsonElement object;
  std::string_view path;

  // "/spec/workerGroupSpecs/0/template" without its last `levels` segments.
  [[nodiscard]] std::string Above(int levels) const {
    std::string_view rest = path;
    for (; levels > 0 && !rest.empty(); --levels) rest = rest.substr(0, rest.rfind('/'));
    return std::string(rest);
  }
  [[nodiscard]] bool Has(const std::string& pointer) const {
    JsonElement found;
    return object.at_pointer(pointer).get(found) == simdjson::SUCCESS && !found.is_null();
  }
  [[nodiscard]] std::int64_t Number(const std::string& pointer, std::int64_t otherwise) const {
    std::int64_t number = 0;
    if (object.at_pointer(pointer).get(number) != simdjson::SUCCESS) return otherwise;
    return std::clamp<std::int64_t>(number, 0, kMost);
  }
};

std::int64_t One(const Place&) { return 1; }

std::int64_t OfScale(const Place& place) { return place.Number("/spec/replicas", 1); }

// Beside the template: {"replicas": 4, "template": {...}}.
std::int64_t BesideTemplate(const Place& place) { return place.Number(place.Above(1) + "/replicas", 1); }

// A JobSpec's: no more at once than are left to complete.
std::int64_t OfJob(const Place& place) {
  const std::string spec = place.Above(1);
  return std::min(place.Number(spec + "/parallelism", 1), place.Number(spec + "/completions", kMost));
}

// "/spec/replicatedJobs/0/template/spec/template": so many Jobs.
std::int64_t OfJobSet(const Place& place) {
  return Product(place.Number(place.Above(3) + "/replicas", 1), OfJob(place));
}

// Heads and submitters are alone. Source: KubeRay, GetWorkerGroupDesiredReplicas.
std::int64_t OfRay(const Place& place) {
  if (place.path.find("/workerGroupSpecs/") == std::string_view::npos) return 1;
  const std::string group = place.Above(1);
  const std::int64_t replicas = std::max(place.Number(group + "/replicas", 0), place.Number(group + "/minReplicas", 0));
  return Product(replicas, place.Number(group + "/numOfHosts", 1));
}

// Groups of `size` pods, the first of which is the leader; it has the workers' template when it has none of its own.
std::int64_t OfLeaderWorkerSet(const Place& place) {
  const std::int64_t groups = OfScale(place);
  if (place.path.ends_with("/leaderTemplate")) return groups;
  const std::int64_t leaders = place.Has("/spec/leaderWorkerTemplate/leaderTemplate") ? 1 : 0;
  return Product(groups, place.Number("/spec/leaderWorkerTemplate/size", 1) - leaders);
}

struct CountRow {
  std::string_view group;
  std::string_view kind;
  std::int64_t (*count)(const Place&);
  Placing placing = Placing::kOneByOne;
  bool per_node = false;
};

// The kinds of admission/workloads.cc. A Knative Service is scaled by its traffic: one pod is asked about.
constexpr std::array kRows = {
    CountRow{"", "Pod", One},
    CountRow{"", "PodTemplate", One},
    CountRow{"", "ReplicationController", OfScale},
    CountRow{"apps", "Deployment", OfScale},
    CountRow{"apps", "StatefulSet", OfScale},
    CountRow{"apps", "DaemonSet", One, Placing::kOneByOne, true},
    CountRow{"apps", "ReplicaSet", OfScale},
    CountRow{"batch", "Job", OfJob},
    CountRow{"batch", "CronJob", OfJob},
    CountRow{"ray.io", "RayCluster", OfRay},
    CountRow{"ray.io", "RayJob", OfRay},
    CountRow{"ray.io", "RayService", OfRay},
    CountRow{"jobset.x-k8s.io", "JobSet", OfJobSet, Placing::kAllOrNothing},
    CountRow{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", OfLeaderWorkerSet, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "PyTorchJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "TFJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "MPIJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "XGBoostJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "PaddleJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"kubeflow.org", "JAXJob", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"batch.volcano.sh", "Job", BesideTemplate, Placing::kAllOrNothing},
    CountRow{"argoproj.io", "Rollout", OfScale},
    CountRow{"serving.knative.dev", "Service", One},
};

const CountRow* FindRow(std::string_view group, std::string_view kind) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                 [&](const CountRow& each) { return each.kind == kind && each.group == group; });
  return row == kRows.end() ? nullptr : row;
}

}  // namespace

ReplicaCount CountReplicas(const GroupVersionKind& kind, JsonElement object, std::string_view path) {
  const CountRow* row = FindRow(kind.group, kind.kind);
  if (row == nullptr) return {};
  return {row->count({object, path}), row->per_node, row->placing};
}

bool HasReplicaRow(std::string_view group, std::string_view kind) { return FindRow(group, kind) != nullptr; }

}  // namespace podium
