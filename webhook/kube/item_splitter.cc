#include "kube/item_splitter.h"

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::string_view kPlainStarts = "-0123456789tfn";  // of numbers, true, false and null

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

Error Corrupt(std::string message) { return {ErrorKind::kCorrupt, std::move(message)}; }

std::string Bytes(std::size_t count) { return std::to_string(count) + " bytes"; }

}  // namespace

Status ItemSplitter::Feed(std::string_view bytes, const OnItem& on_item) {
  while (!bytes.empty() && !problem_) {
    const std::size_t used = form_ == Form::kNone ? Step(bytes.front()) : FeedValue(bytes, on_item);
    bytes.remove_prefix(used);
    position_ += used;
  }
  return problem_ ? Status(*problem_) : Status();
}

Result<ListMeta> ItemSplitter::Finish() const {
  if (problem_) return *problem_;
  if (expect_ != Expect::kEnd)
    return Corrupt("the list broke off after " + std::to_string(position_) + " bytes, before it was complete");
  ListMeta meta{TextOf(kind_).value_or(""), TextOf(api_version_).value_or(""), MemberText(metadata_, "resourceVersion"),
                MemberText(metadata_, "continue")};
  if (!meta.kind.ends_with("List"))
    return Corrupt("the reply is of kind " + Quoted(meta.kind) + "; wanted is a list, such as PodList");
  if (meta.resource_version.empty())
    return Corrupt("the " + meta.kind + " has no metadata.resourceVersion, so nothing can be watched from it");
  return meta;
}

// One byte between values. Returns how many bytes are used: none when a value begins with it.
std::size_t ItemSplitter::Step(char c) {
  if (IsBlank(c)) return 1;
  switch (expect_) {
    case Expect::kValue: return BeginValue(c);
    case Expect::kKeyOrEnd:
    case Expect::kKey:
      if (c != '"') break;
      expect_ = Expect::kColon;
      return BeginValue(c);
    case Expect::kItemOrEnd:
    case Expect::kItem:
      if (c != '{') break;
      expect_ = Expect::kItemCommaOrEnd;
      return BeginValue(c);
    default: break;
  }
  StepObject(c);
  return 1;
}

void ItemSplitter::StepObject(char c) {
  if (expect_ == Expect::kObject && c == '{')
    expect_ = Expect::kKeyOrEnd;
  else if (expect_ == Expect::kColon && c == ':')
    expect_ = Expect::kValue;
  else if (expect_ == Expect::kCommaOrEnd && c == ',')
    expect_ = Expect::kKey;
  else if ((expect_ == Expect::kCommaOrEnd || expect_ == Expect::kKeyOrEnd) && c == '}')
    expect_ = Expect::kEnd;
  else
    StepItems(c);
}

void ItemSplitter::StepItems(char c) {
  if (expect_ == Expect::kItemCommaOrEnd && c == ',')
    expect_ = Expect::kItem;
  else if ((expect_ == Expect::kItemCommaOrEnd || expect_ == Expect::kItemOrEnd) && c == ']')
    expect_ = Expect::kCommaOrEnd;
  else
    Fail(Quoted({&c, 1}) + " does not belong there");
}

std::size_t ItemSplitter::BeginValue(char c) {
  if (expect_ == Expect::kValue && key_ == "items") {
    if (std::exchange(saw_items_, true)) Fail("there are two members 'items'");
    if (c == '[') {
      expect_ = Expect::kItemOrEnd;
      return 1;
    }
  }
  if (expect_ == Expect::kValue) expect_ = Expect::kCommaOrEnd;
  if (c != '"' && c != '{' && c != '[' && kPlainStarts.find(c) == std::string_view::npos)
    Fail(Quoted({&c, 1}) + " does not belong there");
  value_.clear();
  value_complete_ = false;
  value_at_ = position_;
  form_ = c == '"' ? Form::kString : Form::kPlain;
  if (c == '{' || c == '[') form_ = Form::kContainer;
  if (form_ == Form::kContainer) scanner_.Restart();
  return 0;
}

std::size_t ItemSplitter::FeedValue(std::string_view bytes, const OnItem& on_item) {
  std::size_t used = 0;
  if (form_ == Form::kContainer) {
    used = scanner_.Feed(bytes);
    value_complete_ = scanner_.state() == ContainerScanner::State::kClosed;
    if (scanner_.state() == ContainerScanner::State::kTooDeep)
      FailValue("an object nests deeper than " + std::to_string(limits_.depth) + " levels");
  } else {
    used = form_ == Form::kString ? FeedString(bytes) : FeedPlain(bytes);
  }
  if (problem_) return used;
  if (value_complete_)
    EndValue(bytes.substr(0, used), on_item);
  else
    Keep(bytes.substr(0, used));
  return used;
}

std::size_t ItemSplitter::FeedString(std::string_view bytes) {
  std::size_t used = value_.empty() ? 1 : 0;  // the opening quote
  for (; used < bytes.size() && !value_complete_; ++used) {
    if (bytes[used] == '"' && !escaped_) value_complete_ = true;
    escaped_ = bytes[used] == '\\' && !escaped_;
  }
  return used;
}

// Numbers, true, false and null: they end before what may follow them.
std::size_t ItemSplitter::FeedPlain(std::string_view bytes) {
  const std::size_t end = bytes.find_first_of(",]} \n\r\t");
  value_complete_ = end != std::string_view::npos;
  return std::min(end, bytes.size());
}

void ItemSplitter::Keep(std::string_view part) {
  constexpr std::size_t kMemberBytes = 64 << 10;
  const std::size_t limit = InItems() ? limits_.item_bytes : kMemberBytes;
  if (part.size() > limit - value_.size())
    return FailValue((InItems() ? "an item" : "a member beside the items") + std::string(" is over the limit of ") +
                     Bytes(limit));
  value_ += part;
}

// `last_part`: the end of the value. An item that came in one part is handed on without a copy.
void ItemSplitter::EndValue(std::string_view last_part, const OnItem& on_item) {
  const Form form = std::exchange(form_, Form::kNone);
  if (InItems() && value_.empty() && last_part.size() <= limits_.item_bytes) return on_item(last_part);
  Keep(last_part);
  if (problem_) return;
  if (InItems()) return on_item(value_);
  if (expect_ == Expect::kColon && form == Form::kString)
    key_ = value_.substr(1, value_.size() - 2);
  else
    EndMember(value_);
}

void ItemSplitter::EndMember(const std::string& value) {
  if (key_ == "kind") kind_ = value;
  if (key_ == "apiVersion") api_version_ = value;
  if (key_ == "metadata") metadata_ = value;
  if (key_ == "items" && value != "null") FailValue("'items' is no array");  // Go writes an empty list as null
}

void ItemSplitter::Fail(const std::string& what) { FailAt(position_, what); }

// At the beginning of the value, so that the error does not depend on how the bytes came.
void ItemSplitter::FailValue(const std::string& what) { FailAt(value_at_, what); }

void ItemSplitter::FailAt(std::uint64_t position, const std::string& what) {
  if (!problem_) problem_ = Corrupt("the list cannot be read at byte " + std::to_string(position) + ": " + what);
}

Status LineSplitter::Feed(std::string_view bytes, const OnItem& on_line) {
  while (!bytes.empty() && !too_long_) {
    const std::size_t end = bytes.find('\n');
    std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(std::min(part.size() + 1, bytes.size()));
    too_long_ = part.size() > limits_.item_bytes - line_.size();
    if (too_long_) break;
    if (end == std::string_view::npos || !line_.empty()) line_ += part;
    if (end == std::string_view::npos) break;
    if (!line_.empty()) part = line_;
    if (!std::all_of(part.begin(), part.end(), IsBlank)) on_line(part);
    line_.clear();
  }
  if (!too_long_) return {};
  return Corrupt("a line of the watch is over the limit of " + Bytes(limits_.item_bytes));
}

}  // namespace podium
