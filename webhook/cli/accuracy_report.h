// How often the advice was right, from the metrics of one or more replicas.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/result.h"

namespace podium {

struct AccuracyKey {
  std::string predicted;  // "FitsNow"
  std::string actual;     // "Bound"
  auto operator<=>(const AccuracyKey&) const = default;
};

struct AccuracyRow {
  std::uint64_t agreed = 0;
  std::uint64_t disagreed = 0;
  std::uint64_t overtaken = 0;
  std::uint64_t unknown = 0;
  bool operator==(const AccuracyRow&) const = default;
};

struct AccuracyReport {
  std::vector<std::string> sources;  // URLs
  std::map<AccuracyKey, AccuracyRow> rows;
  std::uint64_t waiting = 0;

  [[nodiscard]] AccuracyRow Sum() const;
  // Of those that could be compared: agreed / (agreed + disagreed). Absent: none could.
  [[nodiscard]] std::optional<double> Share() const;
};

// `report` with what this page (Prometheus text) of `source` says added to it. kInvalidInput: it is no page of
// Podium's.
Result<AccuracyReport> WithMetrics(AccuracyReport report, const std::string& source, std::string_view page);

std::string AccuracyTable(const AccuracyReport& report);
std::string AccuracyJson(const AccuracyReport& report);  // kind AccuracyReport, apiVersion podium.gpu/v1

}  // namespace podium
