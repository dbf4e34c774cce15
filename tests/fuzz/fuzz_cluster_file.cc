// Any bytes as a cluster file: a snapshot or an error with a text. A snapshot can be written and read back, and writing
// that one again gives the same bytes; a redacted one can be read too.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/decode.h"
#include "wire/snapshot_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto snapshot = podium::DecodeClusterFile("cluster.yaml", text, podium::TimePoint{});
  if (!snapshot && snapshot.error().message.empty()) std::abort();
  if (!snapshot) return 0;
  const std::string file = podium::EncodeSnapshot(*snapshot);
  const std::string redacted = podium::EncodeSnapshot(*snapshot, {.redact = true});
  const auto again = podium::DecodeClusterFile("again.json", file, podium::TimePoint{});
  if (!again || podium::EncodeSnapshot(*again) != file) std::abort();
  if (!podium::DecodeClusterFile("redacted.json", redacted, podium::TimePoint{})) std::abort();
  return 0;
}
