// Plain tables for terminals.
#pragma once

#include <string>
#include <vector>

namespace podium {

// Left-aligned columns, two blanks between them, no blanks at the end of a line; the first row is the header. Cells
// are made Printable. The last column is as long as it is.
std::string FormatColumns(const std::vector<std::vector<std::string>>& rows);

}  // namespace podium
