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
#include "policy/compile.h"
#include "wire/decode.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

Error CannotRead(const std::string& path, const std::error_code& why) {
  const ErrorKind kind = why == std::errc::no_such_file_or_directory ? ErrorKind::kNotFound : ErrorKind::kUnavailable;
  return {kind, path + ": cannot read: " + why.message()};
}

// One byte over the limit is enough to know that it is over: a device without an end must not fill the memory.
std::string ReadBounded(std::istream& in) {
  std::string text;
  char block[64 << 10];
  while (text.size() <= kMaxJsonBytes && (in.read(block, sizeof block) || in.gcount() > 0))
    text.append(block, static_cast<std::size_t>(in.gcount()));
  return text;
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

void AddFile(const std::string& path, ManifestInput& input) {
  const Result<std::string> text = ReadTextFile(path);
  if (text) return AddText(path, *text, input);
  input.problems.push_back(text.error().message);
}

void AddPath(const std::string& path, ManifestInput& input) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return AddFile(path, input);
  const Result<std::vector<std::string>> files = FilesOf(path);
  if (!files) return input.problems.push_back(files.error().message);
  for (const std::string& file : *files) AddFile(file, input);
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return CannotRead(path, std::make_error_code(std::errc::is_a_directory));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(path, {errno == 0 ? EIO : errno, std::generic_category()});
  std::string text = ReadBounded(file);
  if (file.bad()) return CannotRead(path, std::make_error_code(std::errc::io_error));
  return text;
}

ManifestInput ReadManifests(const std::vector<std::string>& paths, std::istream& in) {
  ManifestInput input;
  for (const std::string& path : paths) {
    if (path == "-")
      AddText("-", ReadBounded(in), input);
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
  const bool sample = name == "sample";
  Result<std::string> text = sample ? std::string(kEmbeddedCluster) : ReadTextFile(name);
  if (!text) return text.error();
  Result<ClusterSnapshot> snapshot = DecodeClusterFile(sample ? "(sample cluster)" : name, *text, now);
  if (!snapshot) return snapshot.error();
  return std::shared_ptr<const ClusterSnapshot>(std::make_shared<ClusterSnapshot>(*std::move(snapshot)));
}

}  // namespace podium
