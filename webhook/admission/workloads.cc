#include "admission/workloads.h"

#include <algorithm>

namespace podium {
namespace {

// The built-in kinds whose template may be edited. A Job's template is immutable once stored; its mutable directives
// (pkg/apis/batch/validation: scheduling gates and node selection of suspended Jobs) do not touch the priority.
const std::vector<WorkloadKind>& Rows() {
  static const std::vector<WorkloadKind> rows = {
      // group, kind, template_paths, injectable, template_mutable
      {"", "Pod", {""}, true, false},
      {"", "PodTemplate", {"/template"}, true, true},
      {"", "ReplicationController", {"/spec/template"}, true, true},
      {"apps", "Deployment", {"/spec/template"}, true, true},
      {"apps", "StatefulSet", {"/spec/template"}, true, true},
      {"apps", "DaemonSet", {"/spec/template"}, true, true},
      {"apps", "ReplicaSet", {"/spec/template"}, true, true},
      {"batch", "Job", {"/spec/template"}, true, false},
      {"batch", "CronJob", {"/spec/jobTemplate/spec/template"}, true, true},
      // Custom workloads: their controllers own the template, so only their pods are injected.
      {"ray.io", "RayCluster", {"/spec/headGroupSpec/template", "/spec/workerGroupSpecs/*/template"}, false, true},
      {"ray.io",
       "RayJob",
       {"/spec/rayClusterSpec/headGroupSpec/template", "/spec/rayClusterSpec/workerGroupSpecs/*/template",
        "/spec/submitterPodTemplate"},
       false,
       true},
      {"ray.io",
       "RayService",
       {"/spec/rayClusterConfig/headGroupSpec/template", "/spec/rayClusterConfig/workerGroupSpecs/*/template"},
       false,
       true},
      {"jobset.x-k8s.io", "JobSet", {"/spec/replicatedJobs/*/template/spec/template"}, false, true},
      {"leaderworkerset.x-k8s.io",
       "LeaderWorkerSet",
       {"/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"},
       false,
       true},
      {"kubeflow.org", "PyTorchJob", {"/spec/pytorchReplicaSpecs/*/template"}, false, true},
      {"kubeflow.org", "TFJob", {"/spec/tfReplicaSpecs/*/template"}, false, true},
      {"kubeflow.org", "MPIJob", {"/spec/mpiReplicaSpecs/*/template"}, false, true},
      {"kubeflow.org", "XGBoostJob", {"/spec/xgbReplicaSpecs/*/template"}, false, true},
      {"kubeflow.org", "PaddleJob", {"/spec/paddleReplicaSpecs/*/template"}, false, true},
      {"kubeflow.org", "JAXJob", {"/spec/jaxReplicaSpecs/*/template"}, false, true},
      {"batch.volcano.sh", "Job", {"/spec/tasks/*/template"}, false, true},
      {"argoproj.io", "Rollout", {"/spec/template"}, false, true},
      {"serving.knative.dev", "Service", {"/spec/template"}, false, true},
  };
  return rows;
}

}  // namespace

std::span<const WorkloadKind> WorkloadKinds() { return Rows(); }

const WorkloadKind* FindWorkloadKind(const GroupVersionKind& kind) {
  const std::vector<WorkloadKind>& rows = Rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const WorkloadKind& each) {
    return each.kind == kind.kind && each.group == kind.group;
  });
  return row == rows.end() ? nullptr : &*row;
}

bool IsQuota(const GroupVersionKind& kind) { return kind.group.empty() && kind.kind == "ResourceQuota"; }

}  // namespace podium
