// Writing JSON by hand where it must be fast, and small services on JSON text. nlohmann stays behind this header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

// Appends `text` as a JSON string with its quotes. Control characters are escaped, invalid UTF-8 becomes U+FFFD: the
// result is always one line of valid JSON.
void AppendJsonString(std::string& out, std::string_view text);

// True when a JSON string is `text` itself between quotes: printable ASCII without quote and backslash.
bool IsPlainJsonText(std::string_view text);

// Writes one JSON document piece by piece; commas are its business.
//   JsonWriter w(out); w.BeginObject(); w.Key("uid"); w.String(uid); w.EndObject();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);
  void String(std::string_view value);
  void Int(std::int64_t value);
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  // a finished JSON value

 private:
  // `first_` says that the next value needs no comma: it opens a container or follows its key.
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

// The three below take JSON within the limits of decode.h (7 MiB, 128 levels); of duplicate keys the last one counts,
// members come out sorted. kInvalidInput with line and column when it is none. Never throw.

// RFC 6902 on text: the patched document, or why the patch does not apply. Operations add, remove, replace and test;
// nobody sends us the others, and "copy" can grow a document without bounds.
Result<std::string> ApplyJsonPatch(std::string_view document, std::string_view patch);

// The document with two-space indentation.
Result<std::string> PrettyJson(std::string_view json);

// The document as block-style YAML. A string that any YAML reader might type differently is quoted.
Result<std::string> JsonToYaml(std::string_view json);

}  // namespace podium
