// Cutting what the API server streams into objects, without holding more than one of them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/json_scan.h"
#include "podium/result.h"

namespace podium {

// What a List says about itself, besides its items.
struct ListMeta {
  std::string kind;
  std::string api_version;
  std::string resource_version;  // opaque: never compared, never parsed
  std::string continue_token;    // empty: this was the last page
  bool operator==(const ListMeta&) const = default;
};

struct SplitLimits {
  std::size_t item_bytes = 8 << 20;  // of an item or a line; etcd refuses objects over 1.5 MiB
  std::size_t depth = 128;
};

// One JSON object, valid until the function returns.
using OnItem = std::function<void(std::string_view json)>;

// Reads the body of a LIST as it arrives. The text around the items is checked strictly, the items only for where they
// end; whoever decodes them checks the rest. Members may come in any order.
class ItemSplitter {
 public:
  explicit ItemSplitter(const SplitLimits& limits = {}) : limits_(limits), scanner_(limits.depth) {}

  // Calls `on_item` for each element of the top-level `items` that is complete now. kCorrupt when the text is no List
  // or over a limit; every later call repeats that error.
  Status Feed(std::string_view bytes, const OnItem& on_item);
  // kCorrupt unless the List was complete, of some kind "...List" and with a resourceVersion.
  [[nodiscard]] Result<ListMeta> Finish() const;

 private:
  enum class Expect { kObject, kKeyOrEnd, kKey, kColon, kValue, kCommaOrEnd, kItemOrEnd, kItem, kItemCommaOrEnd, kEnd };
  enum class Form { kNone, kString, kContainer, kPlain };

  std::size_t Step(char c);
  void StepObject(char c);
  void StepItems(char c);
  std::size_t BeginValue(char c);
  std::size_t FeedValue(std::string_view bytes, const OnItem& on_item);
  std::size_t FeedString(std::string_view bytes);
  std::size_t FeedPlain(std::string_view bytes);
  void Keep(std::string_view part);
  void EndValue(std::string_view last_part, const OnItem& on_item);
  void EndMember(const std::string& value);
  void Fail(const std::string& what);
  void FailValue(const std::string& what);
  void FailAt(std::uint64_t position, const std::string& what);
  [[nodiscard]] bool InItems() const { return expect_ == Expect::kItemCommaOrEnd; }

  SplitLimits limits_;
  ContainerScanner scanner_;
  Expect expect_ = Expect::kObject;  // behind the value in progress, if there is one
  Form form_ = Form::kNone;          // of the value in progress
  bool escaped_ = false;             // of a string in progress: a backslash came last
  bool value_complete_ = false;
  std::string value_;  // what earlier calls brought of the value in progress
  std::string key_;
  bool saw_items_ = false;
  std::string kind_;
  std::string api_version_;
  std::string metadata_;
  std::uint64_t position_ = 0;  // of the byte that is looked at, or of the part that is
  std::uint64_t value_at_ = 0;  // where the value in progress begins
  std::optional<Error> problem_;
};

// Reads the body of a WATCH as it arrives: one JSON object a line. Blank lines are left out.
class LineSplitter {
 public:
  explicit LineSplitter(const SplitLimits& limits = {}) : limits_(limits) {}
  // Calls `on_line` for each line that is complete now, without its end. kCorrupt for a line over the limit; every
  // later call repeats that error. A last line without end is nothing: the stream broke off in it.
  Status Feed(std::string_view bytes, const OnItem& on_line);

 private:
  SplitLimits limits_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace podium
