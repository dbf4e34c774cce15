// feasibility_conformance [--scheduler-version V] CASES.jsonl.gz EXPECTED.jsonl.gz
// Compares the evaluator with recorded decisions of the real kube-scheduler. Prints disagreements, at most 20 of them
// in full, and ends with "N passed, N failed"; the exit code is 1 when one failed, 2 when the files cannot be read.
#include <zlib.h>

#include <array>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/recorded_case.h"

namespace podium {
namespace {

constexpr int kShownDisagreements = 20;

struct Arguments {
  EvaluateOptions options;
  std::string cases;
  std::string expected;
};

// Also reads a file that is not compressed. Absent: it cannot be read.
std::optional<std::string> ReadGzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int got = 0;
  while ((got = gzread(file, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  gzclose(file);
  if (got < 0) return std::nullopt;
  return text;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

Result<Arguments> ParseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--scheduler-version") {
      files.push_back(words[i]);
      continue;
    }
    const Result<SchedulerVersion> version = ParseSchedulerVersion(++i < words.size() ? words[i] : "");
    if (!version) return version.error();
    arguments.options.version = *version;
  }
  if (files.size() != 2)
    return Error{ErrorKind::kInvalidInput,
                 "usage: feasibility_conformance [--scheduler-version V] CASES.jsonl.gz EXPECTED.jsonl.gz"};
  arguments.cases = files[0];
  arguments.expected = files[1];
  return arguments;
}

// What the sets say beside the result: other results for other orders, and the cut of the event.
nlohmann::json Compared(nlohmann::json expected) {
  for (const char* beside :
       {"id", "alternatives", "pdbAlternatives", "orderSensitive", "pdbOrderSensitive", "unstableSort", "eventMessage"})
    expected.erase(beside);
  return expected;
}

// Empty: equal.
std::string Differences(const nlohmann::json& expected, const nlohmann::json& found) {
  std::string text;
  for (const auto& [key, value] : expected.items())
    if (!found.contains(key) || found[key] != value)
      text += "  " + key + "\n    recorded: " + value.dump() +
              "\n    found:    " + (found.contains(key) ? found[key].dump() : "nothing") + '\n';
  for (const auto& [key, value] : found.items())
    if (!expected.contains(key)) text += "  " + key + "\n    recorded: nothing\n    found:    " + value.dump() + '\n';
  return text;
}

std::string Disagreement(const std::string& case_line, const nlohmann::json& expected, const EvaluateOptions& options) {
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  if (parser.parse(case_line).get(json) != simdjson::SUCCESS) return "  the case is no JSON\n";
  const Result<RecordedCase> read = ReadCase(json);
  if (!read) return "  " + read.error().message + '\n';
  return Differences(Compared(expected), ResultOf(Evaluate(read->snapshot, read->incoming, options)));
}

int Run(const Arguments& arguments) {
  const std::optional<std::string> cases_text = ReadGzip(arguments.cases);
  const std::optional<std::string> expected_text = ReadGzip(arguments.expected);
  const std::vector<std::string> cases = LinesOf(cases_text.value_or(""));
  const std::vector<std::string> expected = LinesOf(expected_text.value_or(""));
  if (!cases_text || !expected_text || cases.empty() || cases.size() != expected.size()) {
    std::cerr << "found " << cases.size() << " cases and " << expected.size()
              << " results; both files must be readable "
              << "and have as many lines\n";
    return 2;
  }
  int failed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const nlohmann::json wanted = nlohmann::json::parse(expected[i]);
    const std::string differences = Disagreement(cases[i], wanted, arguments.options);
    if (differences.empty()) continue;
    std::cout << wanted.value("id", "?") << " disagrees\n";
    if (++failed <= kShownDisagreements) std::cout << differences;
  }
  std::cout << cases.size() - static_cast<std::size_t>(failed) << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace podium

int main(int count, char** words) {
  const auto arguments = podium::ParseArguments(std::vector<std::string>(words + 1, words + count));
  if (arguments) return podium::Run(*arguments);
  std::cerr << arguments.error().message << '\n';
  return 2;
}
