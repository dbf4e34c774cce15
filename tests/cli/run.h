// `podium ...` in this process, with its own streams and clock, run in tests/cli/data so that paths in output are
// short.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace podium {

struct CliRun {
  int code = 0;
  std::string out;
  std::string err;
};

inline CliRun RunPodium(const std::vector<std::string>& arguments, const std::string& input = "", int width = 100) {
  std::filesystem::current_path(std::string(PODIUM_TEST_DIR) + "/cli/data");
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  Io io{.in = in, .out = out, .err = err, .now = TimePoint(std::chrono::seconds(1'796'057'913)), .width = width};
  const int code = RunCommandLine(arguments, io);
  return {code, out.str(), err.str()};
}

}  // namespace podium
