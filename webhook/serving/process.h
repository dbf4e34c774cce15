// What this process uses, as Linux tells it. Each is absent when it cannot be read. Any thread.
#pragma once

#include <optional>

namespace podium {

std::optional<double> ResidentBytes();
std::optional<double> CpuSeconds();     // user and system, since the start
std::optional<double> OpenFiles();      // file descriptors
std::optional<double> MostOpenFiles();  // their soft limit
std::optional<double> Threads();

}  // namespace podium
