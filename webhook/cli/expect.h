// Expectation files of `podium review --expect`: what each object's decision should be. docs/cli.md describes the form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report.h"

namespace podium {

struct ExpectedItem {
  SourceSpan span;
  std::string object;  // "Deployment/chat"
  Verdict verdict = Verdict::kAllow;
  std::optional<std::string> class_name;  // of the first template, after; "none": it has no class
  std::optional<std::string> rule;        // a finding or a message must name it
  std::optional<std::string> says;        // the message or a warning must contain it
};

struct Expectation {
  std::vector<ExpectedItem> items;
  std::vector<std::string> problems;  // file:line:column: ...; empty: all is well
};

Expectation ParseExpectation(const std::string& file, const std::string& text);

// One line for each difference; empty: everything is as expected. Objects are compared in order: of two with one name
// the first expectation is about the first.
std::vector<std::string> Differences(const ReviewReport& report, const Expectation& expectation);

}  // namespace podium
