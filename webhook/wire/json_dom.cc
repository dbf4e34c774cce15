#include "wire/json_dom.h"

#include <algorithm>
#include <string>

#include "wire/decode.h"

namespace podium {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxIndentedBytes = 64 << 20;

// Looks at the whole text before any tree exists: nlohmann overflows the stack when it copies or dumps a tree of
// 100,000 levels, and indentation can make a text hundreds of times longer.
class Guard final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Value(4); }
  bool boolean(bool) override { return Value(5); }
  bool number_integer(number_integer_t) override { return Value(20); }
  bool number_unsigned(number_unsigned_t) override { return Value(20); }
  bool number_float(number_float_t, const string_t&) override { return Value(24); }
  bool string(string_t& text) override { return Value(text.size()); }
  bool binary(binary_t&) override { return Value(0); }
  bool key(string_t& text) override { return Value(text.size()); }
  bool start_object(std::size_t) override { return Open(); }
  bool start_array(std::size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  // Says nothing of exception.what(): it quotes the input.
  bool parse_error(std::size_t position, const std::string&, const Json::exception& exception) override {
    problem_ = exception.id == 406 ? "a number is too large for any program" : "this is not valid JSON";
    position_ = position;
    return false;
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  bool Value(std::size_t size) {
    indented_bytes_ += size + 2 * depth_ + 4;
    if (indented_bytes_ <= kMaxIndentedBytes) return true;
    problem_ = "the document would be larger than 64 MiB when indented";
    return false;
  }

  bool Open() {
    if (++depth_ <= kMaxJsonDepth) return Value(2);
    problem_ = "the document is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
    return false;
  }

  bool Close() {
    --depth_;
    return Value(2);
  }

  std::size_t depth_ = 0;
  std::size_t indented_bytes_ = 0;
  std::size_t position_ = 0;  // bytes read when the parser gave up; 0: the problem has no place
  std::string problem_;
};

std::string Place(std::string_view text, std::size_t bytes_read) {
  const std::string_view before = text.substr(0, std::min(bytes_read == 0 ? 0 : bytes_read - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - line_start + 1);
}

Error BadJson(std::string message) { return {ErrorKind::kInvalidInput, std::move(message)}; }

}  // namespace

Result<Json> ParseJsonDom(std::string_view text) {
  if (text.size() > kMaxJsonBytes)
    return BadJson("the document has " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(kMaxJsonBytes) + " are allowed");
  // nlohmann takes a NUL for the end of the text and would ignore what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return BadJson(Place(text, nul + 1) + ": a NUL byte is not allowed in JSON");
  try {
    Guard guard;
    if (!Json::sax_parse(text.begin(), text.end(), &guard))
      return BadJson(guard.position() == 0 ? guard.problem() : Place(text, guard.position()) + ": " + guard.problem());
    return Json::parse(text.begin(), text.end());
  } catch (const std::exception&) {  // out of memory; everything else went through the guard
    return BadJson("the document could not be read as JSON");
  }
}

}  // namespace podium
