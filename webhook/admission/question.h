// From an object that is being admitted to the pods that the scheduler will be asked to place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/decide.h"
#include "podium/admission.h"
#include "podium/outlook.h"
#include "podium/result.h"
#include "rules/classes.h"

namespace podium {

struct PodQuestion {
  std::string path;  // of the template, as in TemplateDecision; "" for a Pod
  // As the API server will store it: class, number and policy as decided, limits copied into missing requests, the
  // tolerations that every pod gets. Named after its workload. What only controllers add (pod-template-hash, ...) and
  // what other webhooks do is not in it.
  Pod pod;
  std::int64_t replicas = 1;  // pods that run at once; 0: scaled to nothing
  bool per_node = false;      // a DaemonSet's: one on each node that takes it, whatever `replicas` says
  Placing placing = Placing::kOneByOne;
};

// One question for each template that the request changes, in the order of its templates. `review` is the body that
// `request` was decoded from; it is parsed again, so ask only when the answer is wanted: the templates' `gpus` in
// `decision` tell. kInvalidInput: a scheduling field that Kubernetes would refuse, with its pointer.
// Pure: any number of threads.
Result<std::vector<PodQuestion>> QuestionsOf(const AdmissionRequest& request, const Decision& decision,
                                             const ClassView& classes, std::string_view review);

// What a manifest is asked with. The policy and the snapshot must outlive the call only.
struct AskOptions {
  const Policy& policy;
  const ClusterSnapshot* snapshot = nullptr;  // null: the policy's ladder stands in for the classes
  std::string default_namespace = "default";
  DecideOptions decide = {};
  std::size_t most_templates = SIZE_MAX;  // an object with more is kInvalidInput
  TimePoint now{};
};

struct ManifestQuestions {
  std::string name;                    // of the object, or the prefix it will be generated from
  std::string namespace_name;          // where it would be created
  Decision decision;                   // the policy's, or the API server's own refusal
  std::vector<PodQuestion> questions;  // empty when refused, and for kinds without pods
};

// A manifest's way through admission as on creation. kInvalidInput: it cannot be sent, or not be read.
Result<ManifestQuestions> AskAbout(std::string_view object_json, const AskOptions& options);

}  // namespace podium
