// Any bytes as a cluster file: a snapshot or an error with a text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wire/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto snapshot = podium::DecodeClusterFile("cluster.yaml", text, podium::TimePoint{});
  if (!snapshot && snapshot.error().message.empty()) std::abort();
  return 0;
}
