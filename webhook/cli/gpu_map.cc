#include "cli/gpu_map.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/text.h"
#include "feasibility/request.h"

namespace podium {
namespace {

constexpr std::int64_t kMostCells = 16;  // more are counted instead of drawn
constexpr std::string_view kNoLetters = "#";
constexpr std::array<std::string_view, 4> kClassColors = {"\x1b[36m", "\x1b[32m", "\x1b[35m", "\x1b[34m"};

struct ClassSign {
  std::string letter;
  std::string_view color;
};

// Units of one class on one node.
struct Run {
  std::string class_name;
  bool is_victim = false;
  std::int64_t units = 0;
};

struct MapRow {
  const NodeRoom* room = nullptr;
  std::vector<Run> runs;  // victims first, then by class
  bool is_goal = false;
};

struct Cells {
  std::string text;   // with colours
  std::size_t width = 0;
};

class Drawer {
 public:
  Drawer(const Outlook& outlook, const GpuMapOptions& options)
      : outlook_(outlook), report_(outlook.report), room_(*outlook.room), options_(options) {
    if (outlook.plan)
      for (const VictimCost& victim : outlook.plan->victims) victims_.insert(victim.pod);
  }

  [[nodiscard]] std::string Draw() {
    std::vector<MapRow> rows = ShownRows();
    NameClasses(rows);
    std::size_t name_width = 0;
    std::size_t cell_width = 0;
    std::vector<Cells> cells;
    for (const MapRow& row : rows) {
      cells.push_back(CellsOf(row));
      name_width = std::max(name_width, Width(NameOf(row)));
      cell_width = std::max(cell_width, cells.back().width);
    }
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) text += RowText(rows[i], cells[i], {name_width, cell_width});
    if (rows.size() < room_.nodes.size())
      text += "  ... and " + Counted(static_cast<std::int64_t>(room_.nodes.size() - rows.size()), "more node") + "\n";
    return text + Legend();
  }

 private:
  struct Widths {
    std::size_t name = 0;
    std::size_t cells = 0;
  };

  // --- which nodes ---

  [[nodiscard]] static bool Contains(const std::vector<std::uint32_t>& sorted, std::uint32_t node) {
    return std::binary_search(sorted.begin(), sorted.end(), node);
  }
  [[nodiscard]] bool IsChosen(std::uint32_t node) const {
    return std::any_of(report_.chosen.begin(), report_.chosen.end(),
                       [&](std::uint32_t at) { return report_.candidates[at].node == node; });
  }
  [[nodiscard]] bool IsCandidate(std::uint32_t node) const {
    return std::any_of(report_.candidates.begin(), report_.candidates.end(),
                       [&](const Candidate& candidate) { return candidate.node == node; });
  }
  [[nodiscard]] bool IsGoal(std::uint32_t node) const {
    if (report_.bind_node) return *report_.bind_node == node;
    return Contains(report_.fit_nodes, node) || (outlook_.plan && outlook_.plan->node == node);
  }

  [[nodiscard]] int RankOf(const NodeRoom& node) const {
    if (IsGoal(node.node)) return 0;
    if (IsChosen(node.node)) return 1;
    if (IsCandidate(node.node)) return 2;
    return node.usable ? 3 : 4;
  }

  [[nodiscard]] std::vector<MapRow> ShownRows() const {
    struct Ranked {
      int rank;
      std::int64_t could_be_free;
      const NodeRoom* room;
    };
    std::vector<Ranked> ranked;
    for (const NodeRoom& node : room_.nodes) ranked.push_back({RankOf(node), node.free + node.freeable, &node});
    const auto matters_more = [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.could_be_free > b.could_be_free;
    };
    std::stable_sort(ranked.begin(), ranked.end(), matters_more);
    std::vector<MapRow> rows;
    for (const Ranked& each : ranked) {
      if (rows.size() == options_.most_nodes) break;
      rows.push_back({each.room, RunsOn(each.room->node), IsGoal(each.room->node)});
    }
    return rows;
  }

  // --- who holds what ---

  [[nodiscard]] std::int64_t UnitsOf(const Pod& pod) const {
    const std::vector<GpuRequest> asked = EffectiveGpuRequest(*pod.spec, {{room_.resource, room_.unit}});
    return asked.empty() ? 0 : asked.front().count;
  }

  struct RunOrder {
    bool is_kept;
    std::int64_t falling_priority;
    std::string class_name;
    auto operator<=>(const RunOrder&) const = default;
  };

  [[nodiscard]] std::vector<Run> RunsOn(std::uint32_t node) const {
    std::map<RunOrder, std::int64_t> units;
    for (const auto& pod : report_.nodes.rows()[node]->value.pods) {
      if (pod->IsOver()) continue;
      const std::int64_t held = UnitsOf(*pod);
      const Trio& trio = pod->spec->trio;
      const bool is_victim = victims_.contains(pod.get());
      if (held > 0) units[{!is_victim, -trio.priority.value_or(0), trio.class_name.value_or("")}] += held;
    }
    std::vector<Run> runs;
    for (const auto& [order, count] : units) runs.push_back({order.class_name, !order.is_kept, count});
    return runs;
  }

  // --- signs ---

  void NameClasses(const std::vector<MapRow>& rows) {
    for (const MapRow& row : rows)
      for (const Run& run : row.runs)
        if (!signs_.contains(run.class_name)) Name(run.class_name);
  }

  // The first letter of the class that no other has; in order of appearance, which is by priority on the first node.
  void Name(const std::string& class_name) {
    const std::string_view color = kClassColors[order_.size() % kClassColors.size()];
    order_.push_back(class_name);
    std::string letters = class_name.empty() ? "-" : class_name;
    letters += "abcdefghijklmnopqrstuvwxyz";
    for (const char each : letters) {
      const std::string letter(1, static_cast<char>(std::toupper(static_cast<unsigned char>(each))));
      const bool usable = std::isalpha(static_cast<unsigned char>(each)) != 0 || class_name.empty();
      if (!usable || !used_.insert(letter).second) continue;
      signs_[class_name] = {letter, color};
      return;
    }
    signs_[class_name] = {std::string(kNoLetters), color};
  }

  void Put(Cells& cells, std::string_view text, std::string_view color) const {
    cells.text += Painted(text, color, options_.style.color && !color.empty());
    cells.width += text.size();
  }

  [[nodiscard]] Cells CellsOf(const MapRow& row) const {
    const std::int64_t free = std::max<std::int64_t>(row.room->free, 0);
    std::int64_t units = free;
    for (const Run& run : row.runs) units += run.units;
    Cells cells;
    for (const Run& run : row.runs) {
      const ClassSign& sign = signs_.at(run.class_name);
      const std::string cell = sign.letter + (run.is_victim ? "*" : " ");
      const std::string_view color = run.is_victim ? kRed : sign.color;
      if (units > kMostCells)
        Put(cells, std::to_string(run.units) + cell, color);
      else
        for (std::int64_t i = 0; i < run.units; ++i) Put(cells, cell, color);
    }
    if (units > kMostCells && free > 0) Put(cells, std::to_string(free) + ". ", "");
    if (units <= kMostCells)
      for (std::int64_t i = 0; i < free; ++i) Put(cells, ". ", "");
    return cells;
  }

  // --- words ---

  [[nodiscard]] std::string NameOf(const MapRow& row) const { return Printable(report_.NodeName(row.room->node)); }

  [[nodiscard]] std::string WhyUnusable(std::uint32_t node) const {
    for (const NodeOutcome& outcome : report_.refused) {
      if (outcome.node != node) continue;
      const NodeStatus& status = report_.statuses[outcome.status];
      return status.reasons.empty() ? status.plugin : status.reasons.front();
    }
    return "refused";
  }

  [[nodiscard]] std::string Arithmetic(const NodeRoom& node) const {
    std::string text = std::to_string(node.allocatable) + " allocatable, ";
    text += node.free < 0 ? std::to_string(-node.free) + " too many held" : std::to_string(node.free) + " free";
    if (!node.usable) return text + "; no use: " + WhyUnusable(node.node);
    text += ", " + std::to_string(node.freeable) + " freeable";
    if (node.free + node.freeable < room_.wanted) text += ": " + std::to_string(room_.wanted) + " wanted";
    return text;
  }

  [[nodiscard]] std::string RowText(const MapRow& row, const Cells& cells, Widths widths) const {
    const std::string name = NameOf(row);
    std::string text = row.is_goal ? "> " : "  ";
    text += Painted(name, kBold, options_.style.color && row.is_goal) + std::string(widths.name - Width(name) + 2, ' ');
    text += cells.text + std::string(widths.cells - cells.width + 1, ' ');
    const std::size_t column = 2 + widths.name + 2 + widths.cells + 1;
    const std::string arithmetic = Printable(Arithmetic(*row.room));
    const auto width = static_cast<std::size_t>(std::max(options_.style.width, 40));
    // Long names leave no room beside them.
    if (column + 30 > width) return text.substr(0, text.find_last_not_of(' ') + 1) + "\n      " + Wrapped(arithmetic, 6, width) + "\n";
    return text + Wrapped(arithmetic, column, width) + "\n";
  }

  [[nodiscard]] std::string Legend() const {
    std::string text;
    for (const std::string& name : order_)
      text += signs_.at(name).letter + " " + (name.empty() ? "no class" : Printable(name)) + ", ";
    text += ". free";
    if (!victims_.empty()) text += ", * to be evicted";
    if (!report_.fit_nodes.empty() || outlook_.plan) text += ", > where it may go";
    return "  " + Wrapped("(" + text + ")", 2, static_cast<std::size_t>(std::max(options_.style.width, 40))) + "\n";
  }

  const Outlook& outlook_;
  const FeasibilityReport& report_;
  const Room& room_;
  GpuMapOptions options_;
  std::set<const Pod*> victims_;
  std::map<std::string, ClassSign> signs_;
  std::vector<std::string> order_;
  std::set<std::string> used_;
};

}  // namespace

std::string GpuMap(const Outlook& outlook, const GpuMapOptions& options) {
  if (!outlook.room || outlook.room->nodes.empty()) return "";
  return Drawer(outlook, options).Draw();
}

}  // namespace podium
