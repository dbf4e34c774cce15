// How text for terminals is laid out: colours, widths, lines that are broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace podium {

struct TableStyle {
  bool color = false;
  int width = 100;  // columns to wrap messages at; rows are as wide as they must be
};

inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kBold = "\x1b[1m";

// Characters, not bytes. Wide and combining ones are not looked at: names in Kubernetes are ASCII.
std::size_t Width(std::string_view text);

// `text` in that colour when there are colours.
std::string Painted(std::string_view text, std::string_view color, bool has_color);

// Breaks at spaces, also where it begins in column `indent`; a longer word stands alone on its line.
std::string Wrapped(std::string_view text, std::size_t indent, std::size_t width);

// "1 node", "2 nodes", "4,980 nodes".
std::string Counted(std::int64_t count, std::string_view noun);

// Printable (core/text.h) of a text of several lines. A manifest must not be able to move the cursor or change colours.
std::string PrintableLines(std::string_view text);

}  // namespace podium
