#include "admission/classify.h"

#include <algorithm>

#include "admission/decide.h"
#include "core/text.h"
#include "rules/catalog.h"
#include "rules/matching.h"

namespace podium {
namespace {

constexpr std::string_view kHashLabel = "pod-template-hash";

// --- what is visible ------------------------------------------------------------------------------------------------

// "chat-5bf4965fdc" of hash "5bf4965fdc" -> "chat". Empty when the name does not end in the hash.
std::string_view WithoutHash(std::string_view name, std::string_view hash) {
  const bool fits = name.size() > hash.size() + 1 && name.ends_with(hash) && name[name.size() - hash.size() - 1] == '-';
  return fits ? name.substr(0, name.size() - hash.size() - 1) : std::string_view();
}

// A kind that Kubernetes has is that kind only in its own group: anybody may write an owner reference.
bool IsWhatItSeems(const OwnerReference& owner) {
  const std::string_view group = std::string_view(owner.api_version).substr(0, owner.api_version.find('/'));
  if (owner.kind == "Job" || owner.kind == "CronJob") return group == "batch";
  const bool apps = owner.kind == "ReplicaSet" || owner.kind == "Deployment" || owner.kind == "StatefulSet" ||
                    owner.kind == "DaemonSet";
  return !apps || group == "apps";
}

// A Deployment never owns a Pod itself, nor does a CronJob.
bool MayOwn(std::string_view kind, const OwnerReference& owner) {
  const bool indirect = owner.kind == "Deployment" || owner.kind == "CronJob";
  return IsWhatItSeems(owner) && !(kind == "Pod" && indirect);
}

bool ShowsItsController(std::string_view kind) { return kind == "Pod" || kind == "ReplicaSet" || kind == "Job"; }

// The kind that will control the pods of a template of `kind`.
std::string_view ControllerOfPods(std::string_view kind) {
  if (kind == "Deployment") return "ReplicaSet";
  if (kind == "CronJob") return "Job";
  return kind;
}

std::string_view OwnerKind(const AdmissionRequest& request, const PodTemplate& pod) {
  if (!pod.path.empty()) return ControllerOfPods(request.kind.kind);
  const OwnerReference* controller = pod.metadata.Controller();
  const bool known = controller != nullptr && MayOwn(request.kind.kind, *controller);
  return known ? std::string_view(controller->kind) : std::string_view();
}

// --- the conditions of a clause -------------------------------------------------------------------------------------

struct Subject {
  const AdmissionRequest& request;
  const PodTemplate& pod;
  const std::vector<GpuRequest>& gpus;
  const ClusterSnapshot* snapshot;
  const std::string* type_label;  // looked up once, asked by nearly every clause
};

bool PodLabelsMatch(const Labels& wanted, const Subject& subject) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const std::string* found =
        label.first == kWorkloadTypeLabel ? subject.type_label : FindLabel(subject.pod.metadata.labels, label.first);
    return LabelValueMatches(label.second, found);
  });
}

// A namespace that the snapshot does not have does not match: nobody knows its labels.
bool NamespaceLabelsMatch(const Labels& wanted, const Subject& subject) {
  if (wanted.empty()) return true;
  if (subject.snapshot == nullptr) return false;
  const Namespace* known = subject.snapshot->namespaces.Find(subject.request.namespace_name);
  return known != nullptr && LabelsMatch(wanted, known->labels);
}

bool AnyKindVisible(const std::vector<std::string>& wanted, const AdmissionRequest& request) {
  const VisibleWorkload workload = SeeWorkload(request);
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& kind) {
    return std::find(workload.kinds.begin(), workload.kinds.end(), kind) != workload.kinds.end();
  });
}

bool ServiceAccountMatches(const std::vector<std::string>& patterns, const Subject& subject) {
  if (patterns.empty()) return true;
  const std::string& account = subject.pod.spec.service_account;
  return AnyPatternMatches(patterns, subject.request.namespace_name + ":" + (account.empty() ? "default" : account));
}

bool GpusMatch(const std::optional<GpuMatch>& wanted, const std::vector<GpuRequest>& gpus) {
  if (!wanted) return true;
  std::int64_t total = 0;
  for (const GpuRequest& gpu : gpus) {
    const bool counts = (!wanted->unit || *wanted->unit == gpu.unit) && MatchesPattern(wanted->resource, gpu.resource);
    if (counts && __builtin_add_overflow(total, gpu.count, &total)) total = INT64_MAX;
  }
  return total >= wanted->count.at_least && total <= wanted->count.at_most;
}

bool OwnerKindMatches(const std::vector<std::string>& wanted, const Subject& subject) {
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), OwnerKind(subject.request, subject.pod)) != wanted.end();
}

bool ClauseMatches(const MatchClause& clause, const Subject& subject) {
  return PodLabelsMatch(clause.labels, subject) &&
         (clause.namespaces.empty() || AnyPatternMatches(clause.namespaces, subject.request.namespace_name)) &&
         (clause.kinds.empty() || AnyKindVisible(clause.kinds, subject.request)) &&
         OwnerKindMatches(clause.owner_kinds, subject) && GpusMatch(clause.gpus, subject.gpus) &&
         ServiceAccountMatches(clause.service_accounts, subject) &&
         NamespaceLabelsMatch(clause.namespace_labels, subject);
}

ClassificationSource SourceOf(const MatchClause& clause) {
  static const std::string key(kWorkloadTypeLabel);
  return clause.labels.contains(key) ? ClassificationSource::kLabel : ClassificationSource::kMatch;
}

}  // namespace

VisibleWorkload SeeWorkload(const AdmissionRequest& request) {
  VisibleWorkload seen;
  seen.kinds[0] = request.kind.kind;
  seen.names[0] = request.DisplayName();
  if (!request.object || !ShowsItsController(request.kind.kind)) return seen;
  const ObjectMeta& metadata = request.object->metadata;
  const OwnerReference* controller = metadata.Controller();
  if (controller == nullptr || !MayOwn(request.kind.kind, *controller)) return seen;
  seen.kinds[1] = controller->kind;
  seen.names[1] = controller->name;
  const auto hash = metadata.labels.find(std::string(kHashLabel));
  if (controller->kind != "ReplicaSet" || hash == metadata.labels.end()) return seen;
  seen.kinds[2] = "Deployment";
  seen.names[2] = WithoutHash(controller->name, hash->second);
  return seen;
}

bool IsExempted(const Exemption& exemption, std::string_view rule, const AdmissionRequest& request, TimePoint now) {
  if (now >= exemption.expires_at) return false;
  if (std::find(exemption.rules.begin(), exemption.rules.end(), rule) == exemption.rules.end()) return false;
  if (!MatchesPattern(exemption.namespace_pattern, request.namespace_name)) return false;
  if (!exemption.kinds.empty() && !AnyKindVisible(exemption.kinds, request)) return false;
  // An exemption that is written for a Deployment has to hold for its ReplicaSets and pods, whose names only begin
  // alike.
  const VisibleWorkload workload = SeeWorkload(request);
  for (std::size_t i = 0; i < workload.kinds.size(); ++i)
    if (!workload.kinds[i].empty() && MatchesPattern(exemption.name_pattern, workload.names[i])) return true;
  return false;
}

Classification Classify(const AdmissionRequest& request, const PodTemplate& pod, const std::vector<GpuRequest>& gpus,
                        const Policy& policy, const ClusterSnapshot* snapshot) {
  const Subject subject{request, pod, gpus, snapshot, WorkloadTypeLabel(request, pod)};
  for (const WorkloadType& type : policy.workload_types) {
    const auto clause = std::find_if(type.any.begin(), type.any.end(),
                                     [&](const MatchClause& each) { return ClauseMatches(each, subject); });
    if (clause != type.any.end()) return {type.name, SourceOf(*clause)};
  }
  return {};
}

}  // namespace podium
