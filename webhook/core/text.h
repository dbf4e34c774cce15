// Small text functions that several modules need: patterns, suggestions, dates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

// '*' stands for any run of characters (also none), everything else for itself. Linear time, no backtracking blow-up.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// The candidate nearest to `word` (edit distance, at most a third of the longer word's length), or nothing: for "did
// you mean".
std::optional<std::string_view> NearestName(std::string_view word, std::span<const std::string_view> candidates);

// The first `most_bytes` bytes of `text` (or all of it) without a character cut in half at the end.
std::string_view CutUtf8(std::string_view text, std::size_t most_bytes);

// One line that no terminal obeys: '?' for each control character (also DEL and U+0080..U+009F), and for every byte
// over 0x7F when the text is not well-formed UTF-8.
std::string Printable(std::string_view text);

// A foreign text as a message may repeat it: in single quotes, printable, cut at a character after at most `most_bytes`
// ("'aaa...'"), so that it neither breaks the line nor floods it.
std::string Quoted(std::string_view text, std::size_t most_bytes = 40);

// "2026-11-29T16:58:33.123456Z", always UTC and six digits.
std::string FormatRfc3339(TimePoint time);

// ParseDate("2027-01-31") -> midnight UTC at the start of that day; "2027-02-30" -> error kInvalidInput.
Result<TimePoint> ParseDate(std::string_view text);

// True when `text` is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool IsUtf8(std::string_view text);

// How many lines `text` ends: CountLines("a\nb\n") -> 2.
std::size_t CountLines(std::string_view text);

}  // namespace podium
