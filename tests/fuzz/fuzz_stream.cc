// Any bytes as what an API server streams: a List, watch lines, a Status, an ExecCredential. Nothing may crash, and
// what comes out does not depend on where the network cut the bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/api_status.h"
#include "kube/exec_plugin.h"
#include "kube/item_splitter.h"
#include "kube/watch_event.h"

namespace {

// All that a splitter gave, and how it ended.
std::string ReadList(std::string_view text, std::size_t part) {
  podium::ItemSplitter splitter({.item_bytes = 200, .depth = 8});
  std::string seen;
  for (std::size_t at = 0; at < text.size(); at += part) {
    const podium::Status fed = splitter.Feed(text.substr(at, part), [&seen](std::string_view item) {
      if (item.empty() || item.front() != '{' || item.size() > 200) std::abort();
      seen += item;
    });
    if (!fed) break;
  }
  const podium::Result<podium::ListMeta> meta = splitter.Finish();
  return seen + (meta ? meta->kind + meta->resource_version : "!");
}

std::string ReadLines(std::string_view text, std::size_t part) {
  podium::LineSplitter splitter({.item_bytes = 200, .depth = 8});
  std::string seen;
  for (std::size_t at = 0; at < text.size(); at += part) {
    const podium::Status fed = splitter.Feed(text.substr(at, part), [&seen](std::string_view line) {
      const podium::WatchEvent event = podium::ReadWatchEvent(line);
      seen += event.object_kind + event.resource_version + std::string(event.object);
    });
    if (!fed) break;
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t part = 1 + data[0] % 70;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (ReadList(text, part) != ReadList(text, text.size() + 1)) std::abort();
  if (ReadLines(text, part) != ReadLines(text, text.size() + 1)) std::abort();
  const podium::ApiError error = podium::ReadApiError(500, text, std::nullopt);
  if (error.message.size() > 303 || error.message.find('\n') != std::string::npos) std::abort();
  const auto credential = podium::ReadExecCredential(text, "client.authentication.k8s.io/v1");
  if (credential && credential->token.empty() && credential->client_key_pem.empty()) std::abort();
  return 0;
}
