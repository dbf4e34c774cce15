// Any bytes as a policy file: either a policy or at least one error, and every diagnostic has a place.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "policy/compile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const podium::CompiledPolicy compiled = podium::CompilePolicy({{"policy.yaml", text}}, podium::TimePoint{});
  bool error = false;
  for (const podium::Diagnostic& diagnostic : compiled.diagnostics) {
    if (diagnostic.span.file != "policy.yaml" || diagnostic.message.empty()) std::abort();
    error = error || diagnostic.severity == podium::DiagnosticSeverity::kError;
  }
  if (error == compiled.policy.has_value()) std::abort();
  return 0;
}
