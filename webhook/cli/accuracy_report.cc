#include "cli/accuracy_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "cli/columns.h"
#include "wire/json.h"

namespace podium {
namespace {

constexpr std::string_view kFamily = "podium_feasibility_accuracy_total{";
constexpr std::string_view kWaiting = "podium_feasibility_accuracy_waiting ";
constexpr std::string_view kBuild = "podium_build_info{";

struct Part {
  std::string_view name;
  std::uint64_t AccuracyRow::*count;
};
constexpr std::array<Part, 4> kParts = {{{"agreed", &AccuracyRow::agreed},
                                         {"disagreed", &AccuracyRow::disagreed},
                                         {"overtaken", &AccuracyRow::overtaken},
                                         {"unknown", &AccuracyRow::unknown}}};

// The value of a label; its values are words, so nothing in them is escaped.
std::string LabelOf(std::string_view line, std::string_view label) {
  const std::string start = std::string(label) + "=\"";
  const std::size_t at = line.find(start);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = line.substr(at + start.size());
  return std::string(rest.substr(0, rest.find('"')));
}

// The number behind the last blank; counters are whole.
std::uint64_t NumberOf(std::string_view line) {
  const std::string_view text = line.substr(line.rfind(' ') + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

void AddLine(AccuracyReport& report, std::string_view line) {
  if (line.starts_with(kWaiting)) report.waiting += NumberOf(line);
  if (!line.starts_with(kFamily)) return;
  AccuracyRow& row = report.rows[{LabelOf(line, "predicted"), LabelOf(line, "actual")}];
  const std::string outcome = LabelOf(line, "outcome");
  for (const Part& part : kParts)
    if (outcome == part.name) row.*part.count += NumberOf(line);
}

std::string Percent(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", share * 100);
  return std::string(text.data()) + " %";
}

void WriteCounts(JsonWriter& json, const AccuracyRow& row) {
  for (const Part& part : kParts) {
    json.Key(part.name);
    json.Int(static_cast<std::int64_t>(row.*part.count));
  }
}

// The share says nothing of those.
std::string LeftOut(const AccuracyRow& sum) {
  if (sum.overtaken + sum.unknown == 0) return "";
  return "; left out: " + std::to_string(sum.overtaken) + " overtaken, " + std::to_string(sum.unknown) + " unknown";
}

}  // namespace

AccuracyRow AccuracyReport::Sum() const {
  AccuracyRow sum;
  for (const auto& [key, row] : rows)
    for (const Part& part : kParts) sum.*part.count += row.*part.count;
  return sum;
}

std::optional<double> AccuracyReport::Share() const {
  const AccuracyRow sum = Sum();
  const std::uint64_t compared = sum.agreed + sum.disagreed;
  if (compared == 0) return std::nullopt;
  return static_cast<double>(sum.agreed) / static_cast<double>(compared);
}

Result<AccuracyReport> WithMetrics(AccuracyReport report, const std::string& source, std::string_view page) {
  bool is_ours = false;
  for (std::string_view rest = page; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    is_ours = is_ours || line.starts_with(kBuild);
    AddLine(report, line);
  }
  if (!is_ours)
    return Error{ErrorKind::kInvalidInput, "these are not the metrics of podium serve: podium_build_info is not there"};
  report.sources.push_back(source);
  return report;
}

std::string AccuracyTable(const AccuracyReport& report) {
  const std::string waiting =
      report.waiting == 0 ? "" : std::to_string(report.waiting) + " pods wait for the scheduler's turn\n";
  if (report.rows.empty()) return "nothing has been compared yet\n" + waiting;
  std::vector<std::vector<std::string>> rows = {{"PREDICTED", "ACTUAL", "AGREED", "DISAGREED", "OVERTAKEN", "UNKNOWN"}};
  for (const auto& [key, row] : report.rows) {
    rows.push_back({key.predicted, key.actual});
    for (const Part& part : kParts) rows.back().push_back(std::to_string(row.*part.count));
  }
  const AccuracyRow sum = report.Sum();
  const std::optional<double> share = report.Share();
  return FormatColumns(rows) + "\n" +
         (share ? Percent(*share) + " of " + std::to_string(sum.agreed + sum.disagreed) + " verdicts agreed" +
                      LeftOut(sum) + "\n"
                : "no verdict could be compared\n") +
         waiting;
}

std::string AccuracyJson(const AccuracyReport& report) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("podium.gpu/v1");
  json.Key("kind");
  json.String("AccuracyReport");
  json.Key("sources");
  json.BeginArray();
  for (const std::string& source : report.sources) json.String(source);
  json.EndArray();
  json.Key("share");
  const std::optional<double> share = report.Share();
  if (share)
    json.Raw(std::to_string(*share));
  else
    json.Null();
  WriteCounts(json, report.Sum());
  json.Key("waiting");
  json.Int(static_cast<std::int64_t>(report.waiting));
  json.Key("items");
  json.BeginArray();
  for (const auto& [key, row] : report.rows) {
    json.BeginObject();
    json.Key("predicted");
    json.String(key.predicted);
    json.Key("actual");
    json.String(key.actual);
    WriteCounts(json, row);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace podium
