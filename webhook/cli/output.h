// Machine-readable output of `podium review`, and the JSON of a webhook's answer. docs/cli.md describes the forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report.h"
#include "podium/result.h"

namespace podium {

// kind ReviewReport, apiVersion podium.gpu/v1; fields are only ever added.
std::string ReportJson(const ReviewReport& report);
std::string ReportYaml(const ReviewReport& report);

// The allowed objects as they would be stored, as YAML documents.
std::string PatchedYaml(const ReviewReport& report);

struct ReviewAnswer {
  bool allowed = false;
  int code = 200;
  std::string message;
  std::vector<std::string> warnings;
  std::string patch = "[]";
  // Of the audit annotations: "a", or "a,b" when the templates differ.
  std::string workload_types;
  std::string priority_classes;
  SkipReason skipped = SkipReason::kNone;
};

// An AdmissionReview as a webhook answers it. Refused: what an API server would refuse too (no JSON, another kind, a
// uid that is not `uid`, a patch that cannot be read).
Result<ReviewAnswer> ReadAnswer(std::string_view body, std::string_view uid);

}  // namespace podium
