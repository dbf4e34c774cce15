// JSON as YAML that every reader types alike: what YAML 1.1, YAML 1.2 or go-yaml might take for something else than a
// string is quoted.
#include <array>
#include <string>

#include "wire/json.h"
#include "wire/json_dom.h"
#include "wire/yaml_scalar.h"

namespace podium {
namespace {

using Json = nlohmann::json;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Characters that mean nothing to YAML inside a plain scalar. ':' and ' ' depend on their neighbours.
bool IsHarmless(char c) {
  return IsLetter(c) || IsDigit(c) || std::string_view("_./-+@=,()").find(c) != std::string_view::npos;
}

// Integers, floats, base 60 and timestamps of YAML 1.1 are made of these alone.
bool MayBeNumber(std::string_view text) {
  const bool number_start = IsDigit(text.front()) || text.front() == '.';
  return number_start && text.find_first_not_of("0123456789abcdefABCDEFxXoO_.:+-TtZz ") == std::string_view::npos;
}

bool IsPlainSafe(std::string_view text) {
  if (text.empty() || (!IsLetter(text.front()) && !IsDigit(text.front()) && text.front() != '/')) return false;
  if (ResolvePlain(text).type != PlainType::kString || MayBeNumber(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsHarmless(text[i])) continue;
    const bool inner = i + 1 < text.size() && text[i + 1] != ' ' && text[i - 1] != ' ';
    if ((text[i] != ':' && text[i] != ' ') || !inner) return false;
  }
  return true;
}

// A JSON string is a double-quoted YAML scalar; but YAML takes no raw C1 controls (U+0080 to U+009F: C2 80 to C2 9F).
std::string Quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string json;
  AppendJsonString(json, text);
  std::string quoted;
  quoted.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    if (json[i] != '\xc2' || next >= 0xa0) {
      quoted += json[i];
      continue;
    }
    quoted += "\\u00";
    quoted += kHex[next >> 4];
    quoted += kHex[next & 0xf];
    ++i;
  }
  return quoted;
}

std::string ScalarText(std::string_view text) { return IsPlainSafe(text) ? std::string(text) : Quoted(text); }

class YamlPrinter {
 public:
  std::string Print(const Json& json) && {
    if (IsBlock(json))
      Block(json, 0);
    else
      out_ += Inline(json) + '\n';
    return std::move(out_);
  }

 private:
  static bool IsBlock(const Json& json) { return json.is_structured() && !json.empty(); }

  static std::string Inline(const Json& json) {
    if (json.is_string()) return ScalarText(json.get_ref<const std::string&>());
    return json.dump();  // numbers, true, false, null, {} and []
  }

  void Block(const Json& json, std::size_t indent) {
    if (json.is_object())
      Mapping(json, indent);
    else
      Sequence(json, indent);
  }

  void Mapping(const Json& json, std::size_t indent) {
    constexpr std::size_t kLongestSimpleKey = 128;  // YAML readers give up looking for the ':' after 1024
    for (const auto& [key, value] : json.items()) {
      const std::string text = ScalarText(key);
      StartLine(indent);
      if (text.size() > kLongestSimpleKey) {
        out_ += "? " + text + '\n';
        StartLine(indent);
      } else {
        out_ += text;
      }
      out_ += ':';
      MemberValue(value, indent);
    }
  }

  // Like kubectl: a sequence stands at its key's own column.
  void MemberValue(const Json& value, std::size_t indent) {
    if (!IsBlock(value)) {
      out_ += ' ' + Inline(value) + '\n';
      return;
    }
    out_ += '\n';
    Block(value, value.is_object() ? indent + 2 : indent);
  }

  void Sequence(const Json& json, std::size_t indent) {
    for (const Json& item : json) {
      StartLine(indent);
      out_ += "- ";
      if (IsBlock(item)) {
        line_started_ = true;
        Block(item, indent + 2);
      } else {
        out_ += Inline(item) + '\n';
      }
    }
  }

  void StartLine(std::size_t indent) {
    if (!line_started_) out_.append(indent, ' ');
    line_started_ = false;
  }

  std::string out_;
  bool line_started_ = false;  // behind a "- ": the first line of what follows goes on there
};

}  // namespace

Result<std::string> JsonToYaml(std::string_view json) {
  const Result<Json> tree = ParseJsonDom(json);
  if (!tree) return tree.error();
  try {
    return YamlPrinter().Print(*tree);
  } catch (const std::exception&) {
    return Error{ErrorKind::kInternal, "the document could not be printed as YAML"};
  }
}

}  // namespace podium
