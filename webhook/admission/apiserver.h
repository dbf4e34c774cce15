// What a kube-apiserver does to a manifest before it calls a webhook: for reviews without a cluster, and for tests.
#pragma once

#include <string>
#include <string_view>

#include "podium/admission.h"
#include "podium/result.h"
#include "rules/classes.h"

namespace podium {

// The body a 1.36 API server would POST for `kubectl create` of this object: namespace filled in, on Pods requests from
// limits and the Priority step (class, number, policy) done. kInvalidInput: not an object with apiVersion and kind, or
// refused by the Priority step, with the API server's reason.
Result<std::string> AsAdmissionReview(std::string_view object_json, std::string_view default_namespace,
                                      const ClassView& classes);

// The error is the API server's own refusal ("pods "x" is forbidden: ..."): an outcome, not unusable input.
bool IsApiServersRefusal(const Error& error);

// The stored form of a patched Pod (JSON): the Priority step once more, as after a mutating webhook. Other kinds come
// back as they are.
Result<std::string> AfterPriorityStep(std::string_view object_json, const ClassView& classes);

}  // namespace podium
