#include "core/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace podium {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;

// memmem and not string_view::find: glibc bounds its work for every needle (linear above 256 bytes, a bounded window
// below), the other one compares the whole needle at each place.
std::size_t FindIn(std::string_view text, std::string_view part) {
  if (part.empty()) return 0;
  if (text.size() < part.size()) return kNpos;
  const void* found = memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? kNpos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Longer words are no names; they would make the distance's cost grow with what a user sends.
constexpr std::size_t kLongestWord = 64;
using Row = std::array<std::size_t, kLongestWord + 1>;

// Edit distance in which swapping two neighbours is one step ("nmae" is 1 from "name").
// Requires: both words are at most kLongestWord long.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  Row before{};
  Row previous{};
  Row current{};
  for (std::size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = previous;
    previous = current;
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
  }
  return current[b.size()];
}

// The number that `text` spells, or nothing unless all of it is digits.
std::optional<unsigned> Digits(std::string_view text) {
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

std::optional<std::chrono::year_month_day> ParseCalendarDay(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<unsigned> year = Digits(text.substr(0, 4));
  const std::optional<unsigned> month = Digits(text.substr(5, 2));
  const std::optional<unsigned> day = Digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return date;
}

// Puts the last `width` digits of `number` at `at`. Requires: the number is not negative.
void WriteNumber(std::string& text, std::size_t at, std::size_t width, std::int64_t number) {
  for (std::size_t i = at + width; i > at; number /= 10) text[--i] = static_cast<char>('0' + number % 10);
}

// One row of RFC 3629's table of well-formed sequences: the lead byte decides the length and the range of the second
// byte, which is what keeps out overlong forms, surrogates and anything over U+10FFFF.
struct Utf8Row {
  std::uint8_t first_lead;
  std::uint8_t last_lead;
  std::uint8_t second_low;
  std::uint8_t second_high;
  std::size_t length;
};

constexpr Utf8Row kUtf8Rows[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
    {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

// Bytes of the well-formed sequence that `text` begins with; 0 when it begins with none.
std::size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  for (const Utf8Row& row : kUtf8Rows) {
    if (byte(0) < row.first_lead || byte(0) > row.last_lead) continue;
    if (text.size() < row.length || byte(1) < row.second_low || byte(1) > row.second_high) return 0;
    for (std::size_t i = 2; i < row.length; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    return row.length;
  }
  return 0;
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  const std::size_t first_star = pattern.find('*');
  if (first_star == kNpos) return pattern == text;
  const std::size_t last_star = pattern.rfind('*');
  const std::string_view head = pattern.substr(0, first_star);
  const std::string_view tail = pattern.substr(last_star + 1);
  if (text.size() < head.size() + tail.size() || !text.starts_with(head) || !text.ends_with(tail)) return false;
  text.remove_prefix(head.size());
  text.remove_suffix(tail.size());
  // The leftmost place for each part between two stars leaves the most room for the next: no need to go back.
  for (std::size_t star = first_star; star < last_star;) {
    const std::size_t next = pattern.find('*', star + 1);
    const std::string_view part = pattern.substr(star + 1, next - star - 1);
    const std::size_t at = FindIn(text, part);
    if (at == kNpos) return false;
    text.remove_prefix(at + part.size());
    star = next;
  }
  return true;
}

// A character has at most three continuation bytes; text that goes on with more is none.
std::string_view CutUtf8(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  const auto is_continuation = [text](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  for (int back = 0; back < 3 && most_bytes > 0 && is_continuation(most_bytes); ++back) --most_bytes;
  return text.substr(0, most_bytes);
}

std::string Printable(std::string_view text) {
  const bool valid = IsUtf8(text);
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool c0 = byte(i) < 0x20 || byte(i) == 0x7F;
    const bool c1 = valid && byte(i) == 0xC2 && byte(i + 1) < 0xA0;  // as bad as ESC on some terminals
    out += c0 || c1 || (!valid && byte(i) >= 0x80) ? '?' : text[i];
    if (c1) ++i;
  }
  return out;
}

std::string Quoted(std::string_view text, std::size_t most_bytes) {
  const std::string_view shown = CutUtf8(text, most_bytes);
  return "'" + Printable(shown) + (shown.size() < text.size() ? "...'" : "'");
}

std::optional<std::string_view> NearestName(std::string_view word, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> nearest;
  std::size_t nearest_distance = kLongestWord + 1;
  if (word.size() > kLongestWord) return nearest;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = EditDistance(word, candidate);
    if (distance > std::max(word.size(), candidate.size()) / 3 || distance >= nearest_distance) continue;
    nearest = candidate;
    nearest_distance = distance;
  }
  return nearest;
}

// By hand: strftime knows no fractions and asks the locale, and snprintf is a tenth of writing an audit record.
std::string FormatRfc3339(TimePoint time) {
  using std::chrono::floor;
  const auto micros = floor<std::chrono::microseconds>(time);
  const auto midnight = floor<std::chrono::days>(micros);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss clock(micros - midnight);
  std::string text = "0000-00-00T00:00:00.000000Z";
  // The years of a TimePoint are 1677 to 2262: four digits.
  WriteNumber(text, 0, 4, static_cast<int>(date.year()));
  WriteNumber(text, 5, 2, static_cast<unsigned>(date.month()));
  WriteNumber(text, 8, 2, static_cast<unsigned>(date.day()));
  WriteNumber(text, 11, 2, clock.hours().count());
  WriteNumber(text, 14, 2, clock.minutes().count());
  WriteNumber(text, 17, 2, clock.seconds().count());
  WriteNumber(text, 20, 6, clock.subseconds().count());
  return text;
}

Result<TimePoint> ParseDate(std::string_view text) {
  const std::optional<std::chrono::year_month_day> date = ParseCalendarDay(text);
  if (!date) {
    return Error{ErrorKind::kInvalidInput,
                 Quoted(text) + " is not a date; write an existing day as year-month-day: 2027-01-31"};
  }
  // TimePoint counts nanoseconds in 64 bits and ends in April 2262; one day more must still fit.
  if (date->year() < std::chrono::year(1970) || date->year() > std::chrono::year(2261)) {
    return Error{ErrorKind::kInvalidInput, Quoted(text) + " is out of range; allowed are the years 1970 to 2261"};
  }
  return TimePoint(std::chrono::sys_days(*date));
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// By memchr (which GCC 12 at -O2 does not make of std::count): audit lines are long.
std::size_t CountLines(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find('\n'); at != kNpos; at = text.find('\n', at + 1)) ++count;
  return count;
}

}  // namespace podium
