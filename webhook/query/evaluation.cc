#include "query/evaluation.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "wire/feasibility_writer.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

// Nothing is gained by placing one pod of a pod's own twice. A DaemonSet has a pod for each node, not replicas.
bool IsWorkload(const PodQuestion& question) { return !question.path.empty() || question.replicas != 1; }

EvaluatedPod EvaluateOne(const PreparedSnapshot& on, PodQuestion question, const EvaluationOptions& options) {
  EvaluatedPod pod;
  pod.outlook = LookAhead(on.cluster, *on.snapshot, question.pod, options.outlook);
  if (options.extent == Extent::kWorkload && IsWorkload(question) && !question.per_node)
    pod.workload = EvaluateWorkload(on.cluster, *on.snapshot, question.pod, question.replicas, question.placing,
                                    options.outlook.evaluate, options.bounds);
  pod.question = std::move(question);
  return pod;
}

void WriteOne(JsonWriter& json, const EvaluatedPod& pod, const Sight& sight, const std::vector<std::string>& warnings) {
  const PodQuestion& question = pod.question;
  SeenOutlook seen = SeenBy(sight, pod.outlook);
  seen.outlook.warnings.insert(seen.outlook.warnings.end(), warnings.begin(), warnings.end());
  json.BeginObject();
  WriteOutlookMembers(json, seen.outlook, question.pod);
  if (IsWorkload(question)) {
    WriteText(json, "template", question.path);
    json.Key("replicas");
    json.Int(question.replicas);
    json.Key("perNode");
    json.Bool(question.per_node);
  }
  if (pod.workload) {
    const SeenWorkload workload = SeenBy(sight, *pod.workload);
    json.Key("workload");
    WriteWorkload(json, workload.report);
  }
  json.EndObject();
}

}  // namespace

Evaluation EvaluateAll(std::shared_ptr<const PreparedSnapshot> on, std::vector<PodQuestion> questions,
                       const EvaluationOptions& options) {
  EvaluationOptions of_one = options;
  of_one.bounds.node_checks /= std::max<std::int64_t>(1, static_cast<std::int64_t>(questions.size()));
  Evaluation evaluation;
  for (PodQuestion& question : questions) {
    EvaluatedPod pod = EvaluateOne(*on, std::move(question), of_one);
    evaluation.namespaces.merge(NamespacesIn(pod.outlook));
    if (pod.workload) evaluation.namespaces.merge(NamespacesIn(*pod.workload));
    evaluation.pods.push_back(std::move(pod));
  }
  evaluation.on = std::move(on);
  return evaluation;
}

std::string WriteEvaluation(const Evaluation& evaluation, const Sight& sight,
                            const std::vector<std::string>& warnings) {
  std::string text;
  JsonWriter json(text);
  if (evaluation.pods.size() == 1) {
    WriteOne(json, evaluation.pods.front(), sight, warnings);
    return text;
  }
  json.BeginObject();
  WriteText(json, "apiVersion", "podium.gpu/v1");
  WriteText(json, "kind", "FeasibilityReportList");
  json.Key("items");
  json.BeginArray();
  for (const EvaluatedPod& pod : evaluation.pods) WriteOne(json, pod, sight, warnings);
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace podium
