// Kinds of objects, as `kinds` and `ownerKinds` name them.
#include <algorithm>

#include "policy/draft.h"

namespace podium {
namespace {

// Kinds whose pods are seen on GPU clusters. Any other kind may be named too; it is only likely to be a slip.
constexpr std::string_view kKnownKinds[] = {
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "RayJob",
    "RayCluster",
    "RayService",
    "JobSet",
    "LeaderWorkerSet",
    "PyTorchJob",
    "TFJob",
    "MPIJob",
    "XGBoostJob",
    "PaddleJob",
    "JAXJob",
    "TrainJob",
    "SparkApplication",
    "Notebook",
    "InferenceService",
    "LLMInferenceService",
    "Workflow",
    "CronWorkflow",
    "Rollout",
    "AppWrapper",
    "CloneSet",
    "Service",
    "Revision",
    "PodClique",
    "PodCliqueSet",
    "DynamoGraphDeployment",
    "Node",
    "ResourceQuota",
};

}  // namespace

std::optional<std::vector<std::string>> ReadKinds(const Field& value) {
  std::optional<std::vector<std::string>> kinds = value.Texts(kKind);
  if (!kinds) return std::nullopt;
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    const std::string& kind = (*kinds)[i];
    if (std::find(std::begin(kKnownKinds), std::end(kKnownKinds), kind) != std::end(kKnownKinds)) continue;
    value.problems().Warn(value.node().items[i].span, "kind " + InQuotes(kind) +
                                                          " is not one that Podium knows; it is compared as written" +
                                                          DidYouMean(kind, kKnownKinds));
  }
  return kinds;
}

}  // namespace podium
