// One line of a WATCH. Pure.
#pragma once

#include <string>
#include <string_view>

namespace podium {

enum class WatchEventKind {
  kUpsert,    // ADDED or MODIFIED: a MODIFIED object that was never seen is as good as an added one
  kDelete,    // carries the object's last state
  kBookmark,  // only its resourceVersion means anything
  kError,     // `object` is a Status
  kUnknown,   // a type that we do not know, or no JSON object at all
};

// `object` points into the line that was read.
struct WatchEvent {
  WatchEventKind kind = WatchEventKind::kUnknown;
  std::string_view object;
  std::string object_kind;       // "Pod"
  std::string resource_version;  // empty: it has none
};

// Never fails: what cannot be read is kUnknown. What is inside the object is checked by whoever decodes it.
WatchEvent ReadWatchEvent(std::string_view line);

}  // namespace podium
