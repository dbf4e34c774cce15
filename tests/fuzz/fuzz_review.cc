// Any bytes as an AdmissionReview: decoded, decided, answered and recorded. Nothing may crash, an answer has the uid of
// the request, an audit line is one line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "admission/codec.h"
#include "admission/decide.h"
#include "audit/record.h"
#include "policy/compile.h"

namespace {

podium::Policy ShippedPolicy() {
  auto files = podium::ReadPolicyFiles(PODIUM_SOURCE_DIR "/policies/default.yaml");
  if (!files) std::abort();
  auto compiled = podium::CompilePolicy(*files, podium::TimePoint{});
  if (!compiled.policy) std::abort();
  return *compiled.policy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const podium::Policy policy = ShippedPolicy();
  static podium::ReviewDecoder decoder;
  const auto request = decoder.Decode({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  const podium::Decision decision = podium::Decide(*request, policy, nullptr, {}, podium::TimePoint{});
  if (decision.request_uid != request->uid) std::abort();
  for (const auto endpoint : {podium::Endpoint::kMutate, podium::Endpoint::kValidate})
    if (podium::EncodeReview(decision, endpoint).empty()) std::abort();
  const std::string line = podium::MakeRecord(*request, decision, {});
  if (line.size() > 4096 || line.find('\n') != std::string::npos) std::abort();
  return 0;
}
