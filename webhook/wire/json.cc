#include "wire/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

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

// --- clean text, eight bytes at a time: nearly every text is clean to its end ----------------------------------------

using Word = std::uint64_t;

constexpr Word InEachByte(unsigned char byte) { return byte * Word{0x0101010101010101}; }

// Not zero when one of the eight bytes is not clean. A term sets the top bit of a byte that is not ASCII, is DEL, a
// control, a quote, a backslash. Carries and borrows come out of such bytes only, so clean ones give no false alarm.
constexpr Word Unclean(Word bytes) {
  const Word quote = (bytes ^ InEachByte('"')) - InEachByte(1);
  const Word backslash = (bytes ^ InEachByte('\\')) - InEachByte(1);
  return (bytes | (bytes + InEachByte(1)) | (bytes - InEachByte(0x20)) | quote | backslash) & InEachByte(0x80);
}

template <typename Bytes>
Bytes Load(const char* from) {
  Bytes bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

// A text of four to eight bytes (most keys) as one word: its first and its last four, which may overlap.
Word LoadShort(std::string_view text) {
  constexpr std::size_t kHalf = sizeof(std::uint32_t);
  return Load<std::uint32_t>(text.data()) | Word{Load<std::uint32_t>(text.data() + text.size() - kHalf)} << 32;
}

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

void AppendEscaped(std::string& out, std::string_view text) {
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
}

}  // namespace

bool IsPlainJsonText(std::string_view text) {
  if (text.size() < sizeof(std::uint32_t))
    return std::all_of(text.begin(), text.end(), [](char c) { return kClean[static_cast<unsigned char>(c)]; });
  if (text.size() <= sizeof(Word)) return Unclean(LoadShort(text)) == 0;
  const std::size_t last = text.size() - sizeof(Word);  // overlaps the word before it
  Word unclean = Unclean(Load<Word>(text.data() + last));
  for (std::size_t i = 0; i < last; i += sizeof(Word)) unclean |= Unclean(Load<Word>(text.data() + i));
  return unclean == 0;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  if (IsPlainJsonText(text))
    out.append(text);
  else
    AppendEscaped(out, text);
  out += '"';
}

// --- JsonWriter -----------------------------------------------------------------------------------------------------

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
