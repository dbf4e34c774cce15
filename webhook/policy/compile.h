// PriorityPolicy files -> Policy. All problems at once, each with what was found, what is allowed and where.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/result.h"

namespace podium {

enum class DiagnosticSeverity { kError, kWarning };

struct Diagnostic {
  DiagnosticSeverity severity = DiagnosticSeverity::kError;
  SourceSpan span;
  std::string message;  // "unknown key 'nmae'; allowed: name, value, ...; did you mean 'name'?"
  bool operator==(const Diagnostic&) const = default;
};

// "policy.yaml:2:5: error: unknown key ..."
std::string FormatDiagnostic(const Diagnostic& diagnostic);

struct PolicyFile {
  std::string name;  // as the user gave it, for messages
  std::string text;
};

struct CompiledPolicy {
  std::optional<Policy> policy;         // present when there is no error
  std::vector<Diagnostic> diagnostics;  // errors and warnings, in file order
};

// Several files are one policy (a directory): lists are joined in file order, each single value (name, posture, the
// binding of one rule) may be given once. `now` only decides which exemptions have expired (a warning). Pure.
CompiledPolicy CompilePolicy(const std::vector<PolicyFile>& files, TimePoint now);

// `path`: a file, or a directory whose *.yaml and *.yml (not hidden, not recursive, sorted by name) are taken.
// Directories and files are read through symlinks, as a mounted ConfigMap needs it. kNotFound when there is no file.
Result<std::vector<PolicyFile>> ReadPolicyFiles(const std::string& path);

}  // namespace podium
