#include "wire/json.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "wire/json_dom.h"
#include "wire/utf8.h"

namespace podium {
namespace {

// True for the bytes that stand for themselves. DEL is escaped with the C0 controls: terminals act on it.
constexpr std::array<bool, 256> kClean = [] {
  std::array<bool, 256> table{};
  for (int byte = 0x20; byte < 0x7f; ++byte) table[byte] = byte != '"' && byte != '\\';
  return table;
}();

// `byte` is none of the clean ones and no part of a well-formed sequence.
void AppendEscape(std::string& out, unsigned char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (byte) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (byte >= 0x80) {
    out += "\xef\xbf\xbd";  // U+FFFD
    return;
  }
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 0xf];
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t run = 0;  // start of what has not been copied yet
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kClean[byte]) {
      ++i;
      continue;
    }
    if (const std::size_t length = byte < 0x80 ? 0 : MultiByteLength(text.substr(i, 4)); length != 0) {
      i += length;
      continue;
    }
    out.append(text.substr(run, i - run));
    AppendEscape(out, byte);
    run = ++i;
  }
  out.append(text.substr(run));
  out += '"';
}

// --- JsonWriter -----------------------------------------------------------------------------------------------------

// `first_` says that the next value needs no comma: it opens a container or follows its key.
void JsonWriter::Separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonWriter::BeginObject() {
  Separate();
  out_ += '{';
  first_ = true;
}

void JsonWriter::EndObject() {
  out_ += '}';
  first_ = false;
}

void JsonWriter::BeginArray() {
  Separate();
  out_ += '[';
  first_ = true;
}

void JsonWriter::EndArray() {
  out_ += ']';
  first_ = false;
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(out_, key);
  out_ += ':';
  first_ = true;
}

void JsonWriter::String(std::string_view value) {
  Separate();
  AppendJsonString(out_, value);
}

void JsonWriter::Int(std::int64_t value) {
  Separate();
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  out_.append(digits.begin(), end);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  out_ += "null";
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
}

Result<std::string> PrettyJson(std::string_view json) {
  const Result<nlohmann::json> tree = ParseJsonDom(json);
  if (!tree) return tree.error();
  try {
    return tree->dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const std::exception&) {
    return Error{ErrorKind::kInternal, "the document could not be printed"};
  }
}

}  // namespace podium
