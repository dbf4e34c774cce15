#include "wire/patch.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "wire/json.h"

namespace podium {
namespace {

class PatchWriter {
 public:
  PatchWriter() {
    text_.reserve(512);  // the four edits of a pod
    json_.BeginArray();
  }

  void Write(const Edit& edit) {
    if (edit.before == edit.after) return;
    if (!edit.before) CreateParents(edit);
    Begin(!edit.after ? "remove" : edit.before ? "replace" : "add", edit.path);
    if (edit.after) WriteValue(*edit.after);
    json_.EndObject();
  }

  std::string Finish() && {
    json_.EndArray();
    return std::move(text_);
  }

 private:
  void Begin(std::string_view op, std::string_view path) {
    json_.BeginObject();
    json_.Key("op");
    json_.String(op);
    json_.Key("path");
    json_.String(path);
  }

  void WriteValue(const EditValue& value) {
    json_.Key("value");
    if (const auto* text = std::get_if<std::string>(&value))
      json_.String(*text);
    else
      json_.Int(std::get<std::int64_t>(value));
  }

  // Every object from the outermost missing one down to the edited field's parent. An "add" below a missing parent
  // does not apply, which the API server answers with 500 whatever the failurePolicy says.
  void CreateParents(const Edit& edit) {
    const std::string& outermost = edit.missing_parent;
    if (outermost.empty() || !edit.path.starts_with(outermost + '/')) return;
    for (std::size_t end = outermost.size(); end != std::string::npos; end = edit.path.find('/', end + 1))
      CreateObject(edit.path.substr(0, end));
  }

  void CreateObject(const std::string& path) {
    if (!created_.insert(path).second) return;
    Begin("add", path);
    json_.Key("value");
    json_.Raw("{}");
    json_.EndObject();
  }

  std::string text_;
  JsonWriter json_{text_};
  std::set<std::string> created_;
};

}  // namespace

std::string EscapePointerSegment(std::string_view segment) {
  std::string escaped;
  escaped.reserve(segment.size() + 2);
  for (const char c : segment) {
    if (c == '~')
      escaped += "~0";
    else if (c == '/')
      escaped += "~1";
    else
      escaped += c;
  }
  return escaped;
}

std::string MakePatch(const std::vector<Edit>& edits) {
  PatchWriter writer;
  for (const Edit& edit : edits) writer.Write(edit);
  return std::move(writer).Finish();
}

std::string Base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3, out += 4) {
    const std::uint32_t bits = in[0] << 16 | in[1] << 8 | in[2];
    out[0] = kAlphabet[bits >> 18];
    out[1] = kAlphabet[bits >> 12 & 0x3f];
    out[2] = kAlphabet[bits >> 6 & 0x3f];
    out[3] = kAlphabet[bits & 0x3f];
  }
  if (left == 0) return text;
  const std::uint32_t bits = in[0] << 16 | (left == 2 ? in[1] << 8 : 0);
  out[0] = kAlphabet[bits >> 18];
  out[1] = kAlphabet[bits >> 12 & 0x3f];
  if (left == 2) out[2] = kAlphabet[bits >> 6 & 0x3f];
  return text;
}

}  // namespace podium
