// One review through the whole webhook, without the network: decode, decide, encode. And what the API server does next.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/codec.h"
#include "admission/decide.h"
#include "core/text.h"
#include "policy/compile.h"

namespace podium::conformance {

using Json = nlohmann::json;

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

// The day of the recordings; no test looks at the clock.
inline TimePoint RecordedAt() { return *ParseDate("2026-11-29"); }

inline Policy PolicyOf(const std::string& name, const std::string& text) {
  CompiledPolicy compiled = CompilePolicy({{name, text}}, RecordedAt());
  std::string problems;
  for (const Diagnostic& each : compiled.diagnostics) problems += FormatDiagnostic(each) + "\n";
  if (!compiled.policy) throw std::runtime_error(problems);
  return std::move(*compiled.policy);
}

inline const Policy& ShippedPolicy() {
  static const Policy policy = PolicyOf("default.yaml", ReadText(PODIUM_SOURCE_DIR "/policies/default.yaml"));
  return policy;
}

inline PriorityClass Class(std::string name, std::int32_t value,
                           PreemptionPolicy policy = PreemptionPolicy::kPreemptLowerPriority) {
  PriorityClass made;
  made.name = std::move(name);
  made.value = value;
  made.preemption_policy = policy;
  return made;
}

// The classes of the cases and of the recordings. Empty `global_default`: none is.
inline ClusterSnapshot Cluster(const std::string& global_default = "cluster-default") {
  ClusterSnapshot cluster;
  cluster.generation = 1;
  for (PriorityClass each :
       {Class("cluster-default", 100), Class("inference-batch", 1000),
        Class("training-queue-jumper", 500000, PreemptionPolicy::kNever), Class("inference-interactive", 1000000)}) {
    each.global_default = each.name == global_default;
    cluster.classes.Put(each.name, each);
  }
  return cluster;
}

struct Scene {
  Policy policy = ShippedPolicy();
  std::optional<ClusterSnapshot> cluster;  // absent: not synced
  TimePoint now = RecordedAt();

  [[nodiscard]] const ClusterSnapshot* snapshot() const { return cluster ? &*cluster : nullptr; }
};

struct Answer {
  Endpoint endpoint = Endpoint::kMutate;
  Json review;  // the request's body
  AdmissionRequest request;
  Decision decision;
  Json body;  // of our answer

  [[nodiscard]] const Json& response() const { return body.at("response"); }
  [[nodiscard]] bool allowed() const { return response().at("allowed"); }
  [[nodiscard]] std::string message() const { return response().value("/status/message"_json_pointer, std::string()); }
};

// Standard alphabet; written here so that a fault of ours does not cancel out.
inline std::string DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) throw std::runtime_error("base64 without its padding");
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) throw std::runtime_error("not base64");
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
  }
  return bytes;
}

inline Answer Ask(const Scene& scene, const std::string& body, Endpoint endpoint) {
  Result<AdmissionRequest> request = ReviewDecoder().Decode(body);
  if (!request) throw std::runtime_error(request.error().message);
  request->endpoint = endpoint;
  Decision decision = Decide(*request, scene.policy, scene.snapshot(), {}, scene.now);
  std::string encoded = EncodeReview(decision, endpoint);
  return {endpoint, Json::parse(body), *request, std::move(decision), Json::parse(encoded)};
}

// The operations of the answer's patch; an empty array without one.
inline Json PatchOf(const Answer& answer) {
  if (!answer.response().contains("patch")) return Json::array();
  return Json::parse(DecodeBase64(answer.response()["patch"].get<std::string>()));
}

// The object after the patch. Throws, as the API server would answer 500, when the patch does not apply.
inline Json Patched(const Answer& answer) {
  return answer.review.at("/request/object"_json_pointer).patch(PatchOf(answer));
}

// The review of an object as it comes again (reinvocation): another uid, the object as it is by then.
inline std::string ComesAgain(const Answer& answer, const Json& object) {
  Json review = answer.review;
  review["request"]["uid"] = answer.request.uid.substr(0, 100) + "-again";
  review["request"]["object"] = object;
  return review.dump();
}

}  // namespace podium::conformance
