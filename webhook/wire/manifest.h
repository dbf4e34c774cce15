// Kubernetes manifests as people keep them: YAML or JSON text, several documents, lists of objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/result.h"
#include "wire/yaml.h"

namespace podium {

struct Manifest {
  SourceSpan span;  // where the object begins; in a JSON file the document it is in
  std::string json;
  std::string api_version;
  std::string kind;
  std::string name;            // or the generateName prefix
  std::string namespace_name;  // empty: not written
};

struct ManifestParse {
  std::vector<Manifest> manifests;    // in file order
  std::vector<YamlProblem> problems;  // empty: all is well
};

// Every object of `text`; a `kind: List` (PodList, ...) is replaced by its items, also when nested. A problem for what
// is no object with apiVersion and kind. The limits are those of a request: 7 MiB, 128 levels. Never throws.
ManifestParse ParseManifests(std::string_view file, std::string_view text);

// "pods.yaml:3:5: ..."; without a position "pods.yaml: ...".
std::string FormatProblem(const YamlProblem& problem);

// The JSON text of the value at `pointer` ("/request/object"). kNotFound when there is none, kInvalidInput when
// `document` is no JSON.
Result<std::string> JsonAt(std::string_view document, std::string_view pointer);

}  // namespace podium
