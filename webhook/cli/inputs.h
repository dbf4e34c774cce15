// What commands read: manifests, policies and cluster files, from files, folders, standard input or the binary itself.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podium/policy.h"
#include "podium/result.h"
#include "podium/snapshot.h"
#include "wire/manifest.h"

namespace podium {

// Of a regular file: anything else could keep a server that starts waiting, with its signals blocked.
Result<std::string> ReadTextFile(const std::string& path, std::size_t most_bytes);

// All of `in`. kInvalidInput when it is more than `most_bytes`; `name` is what the error calls it.
Result<std::string> ReadStream(const std::string& name, std::istream& in, std::size_t most_bytes);

// A namespace's name as an option gives it. The error tells what is allowed, not which option it was.
Result<std::string> ParseNamespace(const std::string& text);

struct ManifestInput {
  std::vector<Manifest> manifests;
  std::vector<std::string> problems;  // one line each, with file:line:column; empty: all is well
};

// `paths`: files (also pipes, such as /dev/stdin), "-" for `in`, and folders, of which all *.yaml, *.yml and *.json are
// read, also in sub-folders, sorted by path, hidden ones not.
ManifestInput ReadManifests(const std::vector<std::string>& paths, std::istream& in);

struct PolicyInput {
  std::optional<Policy> policy;       // absent: `problems` say why
  std::vector<std::string> problems;  // errors and warnings, one line each
};

// `path` empty: the shipped policy.
PolicyInput ReadPolicy(const std::string& path, TimePoint now);

// `name`: empty for no cluster (null), "sample" for the one in the binary, else a cluster file.
Result<std::shared_ptr<const ClusterSnapshot>> ReadCluster(const std::string& name, TimePoint now);

// A cluster file from standard input.
Result<std::shared_ptr<const ClusterSnapshot>> ReadClusterStream(std::istream& in, TimePoint now);

}  // namespace podium
