// Finding one's way in JSON text without parsing it: where a container ends, and which members an object has. What is
// inside the values is checked by whoever decodes them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podium {

// Which of 64 bytes are what; bit 0 is the first byte.
struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { and [
  std::uint64_t closes = 0;  // } and ]
  bool operator==(const BlockMasks&) const = default;
};

// Both require 64 readable bytes and return the same. ReadMasks uses SSE2 where the compiler has it.
BlockMasks ReadMasksPortably(const char* block);
BlockMasks ReadMasks(const char* block);

// Follows one object or array, fed in parts of any size, to its closing bracket. Brackets are counted, not matched: a
// decoder refuses "{]". About 2 GB/s.
class ContainerScanner {
 public:
  enum class State { kOpen, kClosed, kTooDeep };

  explicit ContainerScanner(std::size_t max_depth) : max_depth_(max_depth) {}

  // The next byte is an opening bracket.
  void Restart() { *this = ContainerScanner(max_depth_); }
  // How many bytes belong to the container: all of them unless state() is another than kOpen afterwards.
  std::size_t Feed(std::string_view bytes);
  [[nodiscard]] State state() const { return state_; }

 private:
  std::size_t FeedBlock(const char* block, std::size_t size);
  std::size_t Walk(std::uint64_t opens, std::uint64_t closes);

  std::size_t max_depth_;
  std::size_t depth_ = 0;
  std::uint64_t in_string_ = 0;     // all ones while a string is open
  std::uint64_t next_escaped_ = 0;  // 1 when the byte to come stands behind a backslash
  State state_ = State::kOpen;
};

// Where the string that begins at text[0] == '"' ends (behind its closing quote); npos when it does not.
std::size_t EndOfString(std::string_view text);

// The members of an object one after another.
//   ObjectReader in(text); while (in.Next()) Use(in.key(), in.value()); if (!in.complete()) ...
class ObjectReader {
 public:
  explicit ObjectReader(std::string_view text) : rest_(text) {}
  bool Next();
  [[nodiscard]] std::string_view key() const { return key_; }      // as written, without its quotes
  [[nodiscard]] std::string_view value() const { return value_; }  // JSON text without blanks around it
  // After the last Next: the text was one whole object and nothing else.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  bool Take(char wanted);
  void SkipBlanks();
  std::optional<std::string_view> TakeValue();

  std::string_view rest_;
  std::string_view key_;
  std::string_view value_;
  bool started_ = false;
  bool complete_ = false;
};

// The value of a member, of duplicates the last one as in the API server. Nothing when `object` is no whole object.
std::optional<std::string_view> MemberOf(std::string_view object, std::string_view key);
// A JSON string without quotes and escapes. Nothing when `json` is no string or has an escape that JSON does not know.
std::optional<std::string> TextOf(std::string_view json);
std::optional<std::int64_t> IntegerOf(std::string_view json);
// MemberOf and TextOf; empty when there is no such text.
std::string MemberText(std::string_view object, std::string_view key);

}  // namespace podium
