// The evaluator's word on a decision that was made.
#pragma once

#include <string_view>

#include "admission/advisor.h"
#include "podium/admission.h"

namespace podium {

struct AdviseInput {
  const AdmissionRequest& request;
  const Policy& policy;
  const Advisor& advisor;   // on the snapshot that was decided on
  std::string_view review;  // the body that `request` was decoded from
  TimePoint now{};
};

// How the finding of a refused pod template is called.
inline constexpr std::string_view kAdviceRule = "feasibility";

// Asks whether the pods will fit, for each pod template with GPUs of a decision that lets the object in, and does with
// the answer what the workload type's `advice` says (docs/advice.md). Only at /validate: there the object is what will
// be stored. Nothing is asked when the picture of the cluster is stale: no claim and no refusal rests on one. A
// template that a controller made is never refused: whoever wrote it has long had the answer. On an update only
// kShapeNeverFits is told and refused: the workload's own pods may make room. Others wait for this thread: what would
// take longer than a tenth of a second is not evaluated (NoAdvice::kTooMuch). Cannot fail; pure but for
// the advisor's memory.
Decision WithAdvice(Decision decision, const AdviseInput& input);

// Some pod could be asked about: preparing pictures for it is worth the time.
bool AsksForAdvice(const Policy& policy);

// The same where there is nobody to ask: what is missing is recorded.
Decision WithoutAdvice(Decision decision, const AdmissionRequest& request, const Policy& policy, NoAdvice why);

// What keeps `snapshot` from being evaluated at `now`. A cluster file is never stale: it names no sources.
NoAdvice WhyNoAdvice(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now);

}  // namespace podium
