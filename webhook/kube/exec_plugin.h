// Running the credential program of a kubeconfig.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kube/cluster_access.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

// What a request proves itself with. Secrets.
struct Credential {
  std::string token;
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::optional<TimePoint> expires;
  bool operator==(const Credential&) const = default;
};

struct ExecLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t output_bytes = 1 << 20;
};

// Runs the plugin (no shell; standard input is empty, its standard error is ours) and reads what it prints. A plugin
// over a limit is killed with its process group. kUnavailable when it fails, kTimeout, kInvalidInput for an answer that
// is no ExecCredential. Errors never repeat its output.
Result<Credential> RunExecPlugin(const ExecPlugin& plugin, const ExecLimits& limits);

// The credential in an ExecCredential.
Result<Credential> ReadExecCredential(std::string_view json, std::string_view api_version);

// "2026-11-29T16:58:33Z", "...33.5+01:00" (fractions are dropped); all years after 2261 are the end of that one.
// Nothing for anything else.
std::optional<TimePoint> ParseRfc3339(std::string_view text);

}  // namespace podium
