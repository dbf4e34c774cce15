#include "kube/watch_event.h"

#include <utility>

#include "kube/json_scan.h"

namespace podium {
namespace {

WatchEventKind KindOf(std::string_view type) {
  constexpr std::pair<std::string_view, WatchEventKind> kTypes[] = {{"\"ADDED\"", WatchEventKind::kUpsert},
                                                                    {"\"MODIFIED\"", WatchEventKind::kUpsert},
                                                                    {"\"DELETED\"", WatchEventKind::kDelete},
                                                                    {"\"BOOKMARK\"", WatchEventKind::kBookmark},
                                                                    {"\"ERROR\"", WatchEventKind::kError}};
  for (const auto& [name, kind] : kTypes)
    if (name == type) return kind;
  return WatchEventKind::kUnknown;
}

}  // namespace

WatchEvent ReadWatchEvent(std::string_view line) {
  WatchEvent event;
  ObjectReader members(line);
  std::string_view type;
  while (members.Next()) {
    if (members.key() == "type") type = members.value();
    if (members.key() == "object") event.object = members.value();
  }
  if (!members.complete() || !event.object.starts_with('{')) return {};
  ObjectReader object(event.object);
  std::string_view metadata;
  while (object.Next()) {
    if (object.key() == "kind") event.object_kind = TextOf(object.value()).value_or("");
    if (object.key() == "metadata") metadata = object.value();
  }
  if (!object.complete()) return {};
  event.kind = KindOf(type);
  event.resource_version = MemberText(metadata, "resourceVersion");
  return event;
}

}  // namespace podium
