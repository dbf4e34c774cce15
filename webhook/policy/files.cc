// Reading policy files from disk.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/regular_file.h"
#include "policy/compile.h"
#include "wire/yaml.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// A ConfigMap is swapped between two looks at it at most once in a while; three times in a row is something else.
constexpr int kAttempts = 3;
constexpr std::size_t kMostFiles = 100;

Error CannotRead(const std::string& name, int number) {
  return FileError(number).WithContext("cannot read policy " + name);
}

Error TooLarge(const std::string& name) {
  return {ErrorKind::kInvalidInput, "policy file " + name + " is larger than " + std::to_string(YamlLimits{}.bytes) +
                                        " bytes, the most a ConfigMap can hold; split it or remove what is not policy"};
}

Result<PolicyFile> ReadFile(const std::string& path) {
  Result<std::string> text = ReadRegularFile(path, YamlLimits{}.bytes);
  if (!text) return text.error().WithContext("cannot read policy " + path);
  if (text->size() > YamlLimits{}.bytes) return TooLarge(path);
  return PolicyFile{.name = path, .text = *std::move(text)};
}

bool IsPolicyName(const std::string& name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

Result<std::vector<std::string>> ListPolicyNames(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (IsPolicyName(name)) names.push_back(std::move(name));
  }
  if (error) return CannotRead(directory, error.value());
  if (names.empty())
    return Error{ErrorKind::kNotFound, "there is no *.yaml or *.yml file in policy directory " + directory +
                                           " (hidden files and folders below it are not read)"};
  if (names.size() > kMostFiles)
    return Error{ErrorKind::kInvalidInput, "policy directory " + directory + " has " + std::to_string(names.size()) +
                                               " files; allowed: at most " + std::to_string(kMostFiles)};
  std::sort(names.begin(), names.end());
  return names;
}

// What the `..data` link of a mounted ConfigMap leads to; empty in any other directory.
std::string DataTarget(const std::string& directory) {
  std::error_code error;
  const fs::path target = fs::read_symlink(fs::path(directory) / "..data", error);
  return error ? std::string() : target.string();
}

Result<std::vector<PolicyFile>> ReadNamed(const std::string& directory) {
  const Result<std::vector<std::string>> names = ListPolicyNames(directory);
  if (!names) return names.error();
  std::vector<PolicyFile> files;
  for (const std::string& name : *names) {
    const std::string path = (fs::path(directory) / name).string();
    Result<PolicyFile> file = ReadFile(path);
    if (!file) return file.error();
    files.push_back(*std::move(file));
  }
  return files;
}

// The kubelet replaces a ConfigMap by renaming a new `..data` over the old one. Files read before and after that do not
// belong together, so we look at the link again when all is read.
Result<std::vector<PolicyFile>> ReadDirectory(const std::string& directory) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string before = DataTarget(directory);
    Result<std::vector<PolicyFile>> files = ReadNamed(directory);
    if (before == DataTarget(directory)) return files;
  }
  return Error{ErrorKind::kUnavailable,
               "policy directory " + directory + " keeps changing while it is read; try again"};
}

}  // namespace

Result<std::vector<PolicyFile>> ReadPolicyFiles(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return Error{ErrorKind::kNotFound, "there is no policy file or directory " + path};
  if (error) return CannotRead(path, error.value());
  if (status.type() == fs::file_type::directory) return ReadDirectory(path);
  Result<PolicyFile> file = ReadFile(path);
  if (!file) return file.error();
  return std::vector<PolicyFile>{*std::move(file)};
}

}  // namespace podium
