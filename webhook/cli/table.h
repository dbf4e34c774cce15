// `podium review` for people: one row per pod template, messages wrapped below.
#pragma once

#include <string>
#include <string_view>

#include "cli/layout.h"
#include "cli/report.h"

namespace podium {

std::string ReportTable(const ReviewReport& report, const TableStyle& style);

}  // namespace podium
