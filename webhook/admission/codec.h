// AdmissionReview v1 bytes <-> values. Source: k8s.io/api/admission/v1.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "podium/admission.h"
#include "podium/result.h"

namespace podium {

// Reads reviews; reuses its buffers, so keep one for each thread. Not thread-safe.
class ReviewDecoder {
 public:
  ReviewDecoder();
  ~ReviewDecoder();
  ReviewDecoder(ReviewDecoder&&) noexcept;
  ReviewDecoder& operator=(ReviewDecoder&&) noexcept;

  // kInvalidInput: not JSON, over the limits, not an admission.k8s.io/v1 AdmissionReview, no usable uid or operation:
  // an HTTP 400. A review that can be answered but whose object cannot be read comes back with decode_error set.
  Result<AdmissionRequest> Decode(std::string_view body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The answer: uid, allowed, status (when refused), patch (kMutate, when there is one), warnings, audit annotations
// workload-type, priority-class, policy-revision, feasibility: nothing but the decision is in them, so that a second
// call does not contradict them.
std::string EncodeReview(const Decision& decision, Endpoint endpoint);

}  // namespace podium
