// Output compared with a file of tests/golden. PODIUM_UPDATE_GOLDEN=1 writes the files instead; read the difference
// before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fakes/temp_dir.h"

namespace podium {

inline void ExpectGolden(const std::string& name, const std::string& got) {
  const std::string path = std::string(PODIUM_TEST_DIR) + "/golden/" + name;
  if (std::getenv("PODIUM_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << got;
  }
  EXPECT_EQ(got, ReadFileText(path)) << "differs from " << path;
}

}  // namespace podium
