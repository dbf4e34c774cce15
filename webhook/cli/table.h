// `podium review` for people: one row per pod template, messages wrapped below.
#pragma once

#include <string>
#include <string_view>

#include "cli/report.h"

namespace podium {

struct TableStyle {
  bool color = false;
  int width = 100;  // columns to wrap messages at; rows are as wide as they must be
};

std::string ReportTable(const ReviewReport& report, const TableStyle& style);

// `text` on one line of a terminal: control characters and invalid UTF-8 become '?'. A manifest must not be able to
// move the cursor or change colours.
std::string Printable(std::string_view text);
// The same of a text of several lines.
std::string PrintableLines(std::string_view text);

}  // namespace podium
