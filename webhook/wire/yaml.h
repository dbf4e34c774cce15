// YAML text as a tree of plain values that knows where everything was written. yaml-cpp stays behind this header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/result.h"

namespace podium {

enum class YamlKind { kNull, kScalar, kSequence, kMapping };

struct YamlMember;

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  std::string scalar;   // of a kScalar: the text without quotes
  bool quoted = false;  // 'x', "x" or a block scalar: always a string, never a number or a boolean
  SourceSpan span;      // where the node begins (of a null without text: where its key does); columns count bytes
  std::vector<YamlNode> items;      // of a kSequence
  std::vector<YamlMember> members;  // of a kMapping, in file order; keys are kScalar and unique

  // The value of `key`, or null. Linear: mappings in policies and manifests are small.
  [[nodiscard]] const YamlNode* Find(std::string_view key) const;
};

struct YamlMember {
  YamlNode key;
  YamlNode value;
};

// Problem in a text: where, and what to do. `message` has no position in it.
struct YamlProblem {
  SourceSpan span;
  std::string message;
  bool operator==(const YamlProblem&) const = default;
};

struct YamlLimits {
  std::size_t bytes = 1 << 20;  // a ConfigMap's limit
  int depth = 64;
  std::size_t nodes = 100'000;
  std::size_t documents = 1;
};

struct YamlParse {
  std::vector<YamlNode> documents;    // as many as could be read; empty documents are left out
  std::vector<YamlProblem> problems;  // empty: all is well
};

// Reads every document of `text`; a byte order mark at its start is skipped, and a text without documents has no
// problems. Refused, with a position each: anchors, aliases, merge keys, duplicate keys (both positions are named),
// keys that are no scalars, invalid UTF-8, control characters, anything over `limits`, and tags: `!!str`, `!!seq`,
// `!!map` and `!` are taken where they fit. All problems that can be told in one pass are told, at most 50. `file` is
// only used for spans. Never throws.
YamlParse ParseYaml(std::string_view file, std::string_view text, const YamlLimits& limits);

// The JSON text of a manifest, typed the way kubectl types plain scalars (sigs.k8s.io/yaml, which is go-yaml 2.4):
// YAML 1.1 booleans (y, yes, on and their like), octal 0o17 and 017, null and ~; mapping keys too (`on: x` is
// {"true":x}). Dates and infinities stay strings; whole numbers beyond 64 bits become doubles. One line.
// Never fails on a tree that ParseYaml returned.
std::string YamlToJson(const YamlNode& node);

}  // namespace podium
