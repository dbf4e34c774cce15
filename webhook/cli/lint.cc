#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "core/text.h"
#include "policy/compile.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace podium {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string form = "text";
  bool strict = false;
};

// One argument: a file, or a folder that is one policy.
struct Linted {
  std::string path;
  std::vector<Diagnostic> diagnostics;
  std::optional<Policy> policy;
};

struct Totals {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

constexpr const char* kFooter =
    "A folder is one policy: its *.yaml and *.yml files, sorted by name, are read together.\n\n"
    "Exit codes: 0 no errors; 1 errors (with --strict also warnings); 2 a file cannot be read.";

Totals Count(const std::vector<Linted>& all) {
  Totals totals;
  for (const Linted& linted : all)
    for (const Diagnostic& diagnostic : linted.diagnostics)
      ++(diagnostic.severity == DiagnosticSeverity::kError ? totals.errors : totals.warnings);
  return totals;
}

std::string Plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void PrintText(const std::vector<Linted>& all, Io& io) {
  for (const Linted& linted : all) {
    for (const Diagnostic& diagnostic : linted.diagnostics) io.out << Printable(FormatDiagnostic(diagnostic)) << "\n";
    if (!linted.policy) continue;
    const Policy& policy = *linted.policy;
    io.out << Printable(linted.path + ": policy '" + policy.name + "': ") << policy.ladder.size()
           << (policy.ladder.size() == 1 ? " class, " : " classes, ")
           << Plural(policy.workload_types.size(), "workload type") << ", "
           << Plural(policy.exemptions.size(), "exemption") << "\n";
  }
  const Totals totals = Count(all);
  io.out << Plural(totals.errors, "error") << ", " << Plural(totals.warnings, "warning") << "\n";
}

void WriteDiagnostic(const Diagnostic& diagnostic, JsonWriter& json) {
  json.BeginObject();
  json.Key("severity");
  json.String(diagnostic.severity == DiagnosticSeverity::kError ? "error" : "warning");
  json.Key("file");
  json.String(diagnostic.span.file);
  json.Key("line");
  json.Int(diagnostic.span.line);
  json.Key("column");
  json.Int(diagnostic.span.column);
  json.Key("message");
  json.String(diagnostic.message);
  json.EndObject();
}

void PrintJson(const std::vector<Linted>& all, Io& io) {
  std::string text;
  JsonWriter json(text);
  const Totals totals = Count(all);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("podium.gpu/v1");
  json.Key("kind");
  json.String("LintReport");
  json.Key("errors");
  json.Int(static_cast<std::int64_t>(totals.errors));
  json.Key("warnings");
  json.Int(static_cast<std::int64_t>(totals.warnings));
  json.Key("items");
  json.BeginArray();
  for (const Linted& linted : all)
    for (const Diagnostic& diagnostic : linted.diagnostics) WriteDiagnostic(diagnostic, json);
  json.EndArray();
  json.EndObject();
  const Result<std::string> pretty = PrettyJson(text);
  io.out << (pretty ? *pretty : text) << "\n";
}

Result<std::vector<PolicyFile>> ReadArgument(const std::string& path, Io& io) {
  if (path != "-") return ReadPolicyFiles(path);
  Result<std::string> text = ReadStream(path, io.in, YamlLimits{}.bytes);
  if (!text) return text.error();
  return std::vector<PolicyFile>{{path, *std::move(text)}};
}

int Run(const Options& options, Io& io) {
  std::vector<Linted> all;
  bool unreadable = false;
  for (const std::string& path : options.paths) {
    const Result<std::vector<PolicyFile>> files = ReadArgument(path, io);
    if (!files) {
      all.push_back({path, {{DiagnosticSeverity::kError, {path, 1, 1}, files.error().message}}, std::nullopt});
      unreadable = true;
      continue;
    }
    CompiledPolicy compiled = CompilePolicy(*files, io.now);
    all.push_back({path, std::move(compiled.diagnostics), std::move(compiled.policy)});
  }
  if (options.form == "json")
    PrintJson(all, io);
  else
    PrintText(all, io);
  if (unreadable) return kExitUnusable;
  const Totals totals = Count(all);
  return totals.errors > 0 || (options.strict && totals.warnings > 0) ? kExitRefused : kExitOk;
}

}  // namespace

Action SetUpLint(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->paths, "Policy files, folders of them, or - for standard input")->required();
  app.add_option("-o,--output", options->form, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--strict", options->strict, "Warnings are errors");
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
