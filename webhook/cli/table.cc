#include "cli/table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "admission/fold.h"
#include "cli/layout.h"
#include "core/text.h"
#include "rules/catalog.h"

namespace podium {
namespace {

constexpr std::size_t kColumns = 6;
constexpr std::size_t kVerdictColumn = 5;
using Row = std::array<std::string, kColumns>;

struct Line {
  Row cells;
  bool refused = false;
  std::vector<std::pair<std::string_view, std::string>> notes;  // label and message
};

// --- cells ----------------------------------------------------------------------------------------------------------

std::string ClassText(const Trio& trio) { return trio.class_name ? *trio.class_name : "(none)"; }

std::string ClassCell(const TemplateDecision& slot) {
  const std::string before = ClassText(slot.before);
  const std::string after = ClassText(slot.after);
  return before == after ? after : before + " -> " + after;
}

std::string GpuCell(const TemplateDecision& slot) {
  std::string cell;
  for (const GpuRequest& gpu : slot.gpus)
    cell.append(cell.empty() ? "" : ", ").append(std::to_string(gpu.count)).append(" ").append(gpu.resource);
  return cell.empty() ? "-" : cell;
}

std::string TypeCell(const TemplateDecision& slot) {
  return slot.classification.workload_type.empty() ? "-" : slot.classification.workload_type;
}

std::string VerdictCell(const ReviewItem& item) {
  if (item.verdict == Verdict::kRefuse) return "refused";
  return item.skipped == SkipReason::kNone ? "allowed" : "skipped: " + std::string(ToString(item.skipped));
}

Line FirstLine(const ReviewItem& item) {
  Line line;
  line.refused = item.verdict == Verdict::kRefuse;
  line.cells = {item.manifest.kind + "/" + item.manifest.name,
                item.namespace_name.empty() ? "-" : item.namespace_name,
                "-",
                "-",
                "-",
                VerdictCell(item)};
  return line;
}

void AddTemplateCells(const TemplateDecision& slot, Line& line) {
  line.cells[2] = TypeCell(slot);
  line.cells[3] = ClassCell(slot);
  line.cells[4] = GpuCell(slot);
}

// The object's own row, then one for each further template (a RayJob has several).
std::vector<Line> LinesOf(const ReviewItem& item) {
  std::vector<Line> lines = {FirstLine(item)};
  if (item.templates.size() == 1) AddTemplateCells(item.templates[0], lines[0]);
  for (std::size_t i = 0; item.templates.size() > 1 && i < item.templates.size(); ++i) {
    Line& line = lines.emplace_back();
    PodTemplate place;
    place.path = item.templates[i].path;
    line.cells[0] = "  " + FieldPath(place, "");
    AddTemplateCells(item.templates[i], line);
  }
  std::vector<std::pair<std::string_view, std::string>>& notes = lines.back().notes;
  if (item.verdict == Verdict::kRefuse)
    notes.emplace_back("refused", Printable(item.message));
  else if (item.internal_error)
    notes.emplace_back("problem", Printable("the policy was not applied: " + *item.internal_error));
  for (const std::string& warning : item.warnings) {
    const bool told = item.internal_error && warning.starts_with(kNotApplied);  // the same, cut short
    if (!told) notes.emplace_back("warning", Printable(warning));
  }
  for (Line& line : lines)
    for (std::string& cell : line.cells) cell = Printable(cell);
  return lines;
}

// --- layout ---------------------------------------------------------------------------------------------------------

std::string Padded(const Row& cells, const std::array<std::size_t, kColumns>& widths) {
  std::string text;
  for (std::size_t i = 0; i + 1 < kColumns; ++i) text.append(cells[i]).append(widths[i] - Width(cells[i]) + 2, ' ');
  return text;
}

std::string NoteText(const std::pair<std::string_view, std::string>& note, const TableStyle& style) {
  constexpr std::size_t kIndent = 11;  // "  refused  "
  const std::string_view color = note.first == "warning" ? kYellow : kRed;
  const std::size_t width = static_cast<std::size_t>(std::max(style.width, 40));
  return "  " + Painted(note.first, color, style.color) + "  " + Wrapped(note.second, kIndent, width) + "\n";
}

std::string Summary(const ReviewReport& report) {
  const std::size_t refused = CountRefused(report);
  std::string text = std::to_string(report.items.size()) + (report.items.size() == 1 ? " object: " : " objects: ") +
                     std::to_string(report.items.size() - refused) + " allowed, " + std::to_string(refused) +
                     " refused";
  if (const std::size_t undecided = CountUndecided(report); undecided > 0)
    text += ", " + std::to_string(undecided) + " of them without a decision";
  if (!report.server.empty()) return text + ", by " + Printable(report.server) + "\n";
  text += ", by policy " + report.policy_name + " (revision " + report.policy_revision.substr(0, 12) + ")";
  return text + (report.cluster.empty() ? "" : ", cluster " + Printable(report.cluster)) + "\n";
}

}  // namespace

std::string ReportTable(const ReviewReport& report, const TableStyle& style) {
  const Row header = {"OBJECT", "NAMESPACE", "WORKLOAD TYPE", "CLASS", "GPUS", "VERDICT"};
  std::vector<Line> lines;
  for (const ReviewItem& item : report.items)
    for (Line& line : LinesOf(item)) lines.push_back(std::move(line));
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t i = 0; i < kColumns; ++i) {
    widths[i] = header[i].size();
    for (const Line& line : lines) widths[i] = std::max(widths[i], Width(line.cells[i]));
  }
  std::string text = Painted(Padded(header, widths) + header[kVerdictColumn], kBold, style.color) + "\n";
  for (const Line& line : lines) {
    const std::string_view color = line.refused ? kRed : kGreen;
    const std::string& verdict = line.cells[kVerdictColumn];
    std::string row = Padded(line.cells, widths);
    if (verdict.empty()) row.erase(row.find_last_not_of(' ') + 1);
    text += row + (verdict.empty() ? "" : Painted(verdict, color, style.color)) + "\n";
    for (const auto& note : line.notes) text += NoteText(note, style);
  }
  return text + "\n" + Summary(report);
}

}  // namespace podium
