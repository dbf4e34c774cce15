#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/accuracy_report.h"
#include "cli/commands.h"
#include "core/text.h"
#include "kube/plain_http.h"
#include "wire/json.h"

namespace podium {
namespace {

struct Options {
  std::vector<std::string> urls = {"http://127.0.0.1:8080"};
  std::string form = "table";
};

constexpr const char* kFooter =
    "Each replica counts the pods that it was asked about, since it was started: name all of them.\n\n"
    "Exit codes: 0 read; 2 a replica does not answer, or is not Podium.";

Result<std::string> ReadPage(const std::string& url) {
  const Result<PlainUrl> place = ParsePlainUrl(url);
  if (!place) return place.error();
  return GetPlain(*place, "/metrics");
}

int Run(const Options& options, Io& io) {
  AccuracyReport report;
  bool all_read = true;
  for (const std::string& url : options.urls) {
    const Result<std::string> page = ReadPage(url);
    Result<AccuracyReport> next = page ? WithMetrics(report, url, *page) : Result<AccuracyReport>(page.error());
    if (next) {
      report = *std::move(next);
      continue;
    }
    all_read = false;
    io.err << "podium accuracy: --url " << Printable(url) << ": " << Printable(next.error().message) << "\n";
  }
  if (!all_read) return kExitUnusable;
  if (options.form == "table") {
    io.out << AccuracyTable(report);
    return kExitOk;
  }
  const std::string text = AccuracyJson(report);
  const Result<std::string> pretty = PrettyJson(text);
  io.out << (pretty ? *pretty : text) << "\n";
  return kExitOk;
}

}  // namespace

Action SetUpAccuracy(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--url", options->urls, "Operations listener of a replica; again for more")->capture_default_str();
  app.add_option("-o,--output", options->form, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
