// Compiling a text in tests, and saying what the compiler said about it.
#pragma once

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "policy/compile.h"

namespace podium {

inline constexpr TimePoint kNow{std::chrono::sys_days(std::chrono::year(2026) / 11 / 29)};

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A file p.yaml with this spec: the spec begins at line 5, column 3.
inline std::string WithSpec(std::string_view spec) {
  return "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: t}\nspec:\n" + std::string(spec);
}

inline std::string Lint(const std::vector<PolicyFile>& files) {
  const CompiledPolicy compiled = CompilePolicy(files, kNow);
  std::string lines;
  bool has_errors = false;
  for (const Diagnostic& diagnostic : compiled.diagnostics) {
    lines += FormatDiagnostic(diagnostic) + "\n";
    has_errors = has_errors || diagnostic.severity == DiagnosticSeverity::kError;
  }
  return lines + (compiled.policy.has_value() == has_errors ? "BUG: a policy exactly when there is no error\n" : "");
}

inline std::string LintText(std::string_view text) { return Lint({{"p.yaml", std::string(text)}}); }

inline std::string LintSpec(std::string_view spec) { return LintText(WithSpec(spec)); }

}  // namespace podium
