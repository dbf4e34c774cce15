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

// Printable (core/text.h) of a text of several lines. A manifest must not be able to move the cursor or change colours.
std::string PrintableLines(std::string_view text);

}  // namespace podium
