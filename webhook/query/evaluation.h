// The answer to a question before anybody's rights have been looked at, and the same as one caller may read it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/question.h"
#include "feasibility/outlook.h"
#include "feasibility/prepared_cluster.h"
#include "feasibility/workload.h"
#include "podium/outlook.h"
#include "query/sight.h"

namespace podium {

// A snapshot and what was prepared from it; they live and end together. Immutable.
struct PreparedSnapshot {
  PreparedSnapshot(std::shared_ptr<const ClusterSnapshot> of, const SchedulerVersion& by)
      : snapshot(std::move(of)), version(by), cluster(Prepare(*snapshot, RulesOf(version))) {}

  std::shared_ptr<const ClusterSnapshot> snapshot;
  SchedulerVersion version;
  PreparedCluster cluster;
};

// One pod template.
struct EvaluatedPod {
  PodQuestion question;
  Outlook outlook;                         // of one pod
  std::optional<WorkloadReport> workload;  // of all of them
};

// Immutable, and good for every caller: what one of them may not see is taken out when it is written.
struct Evaluation {
  std::shared_ptr<const PreparedSnapshot> on;  // the pointers in `pods` lead there
  std::vector<EvaluatedPod> pods;
  std::set<std::string> namespaces;  // of all pods that it names
};

enum class Extent {
  kOnePod,
  kWorkload,  // also what becomes of all replicas
};

struct EvaluationOptions {
  OutlookOptions outlook;
  WorkloadBounds bounds;  // of all pod templates together
  Extent extent = Extent::kWorkload;
};

// Pure, and takes as long as the evaluator does.
Evaluation EvaluateAll(std::shared_ptr<const PreparedSnapshot> on, std::vector<PodQuestion> questions,
                       const EvaluationOptions& options);

// One FeasibilityReport, with "template", "replicas", "perNode" and "workload" where it is about more than a plain pod;
// a FeasibilityReportList of them for an object with several pod templates (docs/feasibility-service.md). `warnings`
// are added to those of each report.
std::string WriteEvaluation(const Evaluation& evaluation, const Sight& sight, const std::vector<std::string>& warnings);

}  // namespace podium
