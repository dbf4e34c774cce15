#include "cli/inputs.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <system_error>
#include <utility>

#include "cli/embedded.h"
#include "core/regular_file.h"
#include "core/text.h"
#include "policy/compile.h"
#include "policy/text_rules.h"
#include "wire/decode.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

Error CannotRead(const std::string& path, const std::error_code& why) {
  return FileError(why.value()).WithContext(path + ": cannot read");
}

Error TooLarge(const std::string& name, std::size_t most_bytes) {
  return {ErrorKind::kInvalidInput,
          name + ": it has more than " + std::to_string(most_bytes) + " bytes, the most that is read; split it"};
}

bool IsHidden(const fs::path& path) { return path.filename().string().rfind('.', 0) == 0; }

bool IsManifestFile(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

Result<std::vector<std::string>> FilesOf(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // a broken link is neither a folder nor a file
    const bool is_folder = entry->is_directory(ignored);
    if (is_folder && IsHidden(entry->path())) entry.disable_recursion_pending();
    if (!is_folder && !IsHidden(entry->path()) && IsManifestFile(entry->path()) && entry->is_regular_file(ignored))
      files.push_back(entry->path().string());
  }
  if (error) return CannotRead(folder, error);
  if (files.empty())
    return Error{ErrorKind::kNotFound, folder + ": there is no manifest in it; wanted: *.yaml, *.yml or *.json"};
  std::sort(files.begin(), files.end());
  return files;
}

void AddText(const std::string& name, std::string_view text, ManifestInput& input) {
  ManifestParse parse = ParseManifests(name, text);
  for (const YamlProblem& problem : parse.problems) input.problems.push_back(FormatProblem(problem));
  if (parse.problems.empty() && parse.manifests.empty())
    input.problems.push_back(name + ": there is no object in it; wanted: Kubernetes manifests");
  std::move(parse.manifests.begin(), parse.manifests.end(), std::back_inserter(input.manifests));
}

// Waits for what a pipe brings: `podium review <(kustomize build .)`.
Result<std::string> ReadManifestFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return CannotRead(path, std::make_error_code(std::errc::is_a_directory));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(path, {errno == 0 ? EIO : errno, std::generic_category()});
  return ReadStream(path, file, kMaxJsonBytes);
}

void AddRead(const std::string& name, const Result<std::string>& text, ManifestInput& input) {
  if (text) return AddText(name, *text, input);
  input.problems.push_back(text.error().message);
}

void AddPath(const std::string& path, ManifestInput& input) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return AddRead(path, ReadManifestFile(path), input);
  const Result<std::vector<std::string>> files = FilesOf(path);
  if (!files) return input.problems.push_back(files.error().message);
  for (const std::string& file : *files) AddRead(file, ReadManifestFile(file), input);
}

// What `podium snapshot` writes of a big cluster is long, and JSON; a person's YAML is neither.
Result<std::shared_ptr<const ClusterSnapshot>> DecodeCluster(const std::string& name, std::string_view text,
                                                             TimePoint now) {
  const std::size_t limit = text.starts_with('{') ? kMaxSnapshotFileBytes : kMaxClusterFileBytes;
  Result<ClusterSnapshot> snapshot = DecodeClusterFile(name, text, now, limit);
  if (!snapshot) return snapshot.error();
  return std::shared_ptr<const ClusterSnapshot>(std::make_shared<ClusterSnapshot>(*std::move(snapshot)));
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, std::size_t most_bytes) {
  Result<std::string> text = ReadRegularFile(path, most_bytes);
  if (!text) return text.error().WithContext(path + ": cannot read");
  if (text->size() > most_bytes) return TooLarge(path, most_bytes);
  return text;
}

// One byte over the limit is enough to know that it is over: a device without an end must not fill the memory.
Result<std::string> ReadStream(const std::string& name, std::istream& in, std::size_t most_bytes) {
  std::string text;
  char block[64 << 10];
  while (text.size() <= most_bytes && (in.read(block, sizeof block) || in.gcount() > 0))
    text.append(block, static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return CannotRead(name, std::make_error_code(std::errc::io_error));
  if (text.size() > most_bytes) return TooLarge(name, most_bytes);
  return text;
}

Result<std::string> ParseNamespace(const std::string& text) {
  if (kDnsLabel.accepts(text)) return text;
  return Error{ErrorKind::kInvalidInput,
               Quoted(text) + " is no name of a namespace; allowed: " + std::string(kDnsLabel.allowed)};
}

ManifestInput ReadManifests(const std::vector<std::string>& paths, std::istream& in) {
  ManifestInput input;
  for (const std::string& path : paths) {
    if (path == "-")
      AddRead("-", ReadStream("-", in, kMaxJsonBytes), input);
    else
      AddPath(path, input);
  }
  return input;
}

PolicyInput ReadPolicy(const std::string& path, TimePoint now) {
  std::vector<PolicyFile> files = {{"(built-in policy)", std::string(kEmbeddedPolicy)}};
  if (!path.empty()) {
    Result<std::vector<PolicyFile>> read = ReadPolicyFiles(path);
    if (!read) return {std::nullopt, {read.error().message}};
    files = *std::move(read);
  }
  CompiledPolicy compiled = CompilePolicy(files, now);
  PolicyInput input;
  for (const Diagnostic& diagnostic : compiled.diagnostics) input.problems.push_back(FormatDiagnostic(diagnostic));
  input.policy = std::move(compiled.policy);
  return input;
}

Result<std::shared_ptr<const ClusterSnapshot>> ReadCluster(const std::string& name, TimePoint now) {
  if (name.empty()) return std::shared_ptr<const ClusterSnapshot>();
  if (name == "sample") return DecodeCluster("(sample cluster)", kEmbeddedCluster, now);
  const Result<std::string> text = ReadTextFile(name, kMaxSnapshotFileBytes);
  if (!text) return text.error();
  return DecodeCluster(name, *text, now);
}

Result<std::shared_ptr<const ClusterSnapshot>> ReadClusterStream(std::istream& in, TimePoint now) {
  const Result<std::string> text = ReadStream("-", in, kMaxSnapshotFileBytes);
  if (!text) return text.error();
  return DecodeCluster("-", *text, now);
}

}  // namespace podium
