#include "wire/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "core/text.h"
#include "wire/utf8.h"

namespace podium {
namespace {

constexpr std::size_t kMaxProblems = 50;
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

// Thrown through yaml-cpp when going on makes no sense; the problem has been noted.
struct Stop {};

// User text inside a message: one line, at most 60 bytes of it, cut between characters.
std::string Shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && IsContinuation(static_cast<unsigned char>(text[end]))) --end;
  std::string shown(text.substr(0, end));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return end < text.size() ? shown + "..." : shown;
}

// `text` begins with a scalar, perhaps with a tag before it. True when that is quoted and its closing quote is missing.
bool IsUnclosedQuote(std::string_view text) {
  if (text.starts_with('!')) text.remove_prefix(std::min(text.find_first_of(" \t\r\n"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return false;
  const char quote = text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (text[i] == quote && i + 1 < text.size() && quote == '\'' && text[i + 1] == quote)
      ++i;
    else if (text[i] == quote)
      return false;
  }
  return true;
}

// A mapping or sequence that is still open.
struct Frame {
  YamlNode node;
  std::optional<YamlNode> key;             // of a mapping: read, its value not yet
  bool key_refused = false;                // the key was no good: its value is read and dropped
  std::map<std::string, SourceSpan> seen;  // keys of a mapping
};

// Builds trees out of yaml-cpp's events. Its own nodes are not used: they share what an alias names, so a small file
// can be a billion nodes or a cycle, and they keep duplicate keys.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, std::string_view text, const YamlLimits& limits)
      : file_(file), text_(text), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    root_.reset();
    document_span_ = Span(mark);
    // yaml-cpp takes "{a: 1} {b: 2}" for two documents.
    if (documents_started_++ > 0 && !HasSeparator(mark))
      StopWith(document_span_, "unexpected text after the end of the document; a new document begins with '---'");
  }

  void OnDocumentEnd() override {
    if (!root_ || root_->kind == YamlKind::kNull) return;
    if (parse_.documents.size() == limits_.documents) StopWith(document_span_, TooManyDocuments());
    parse_.documents.push_back(std::move(*root_));
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    YamlNode node = NewNode(YamlKind::kNull, mark);
    // An empty value has the position of whatever comes next: its key says better where it is.
    if (!frames_.empty() && frames_.back().key && frames_.back().key->span.line != node.span.line)
      node.span = frames_.back().key->span;
    Place(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "an alias ('*name') is not allowed; write the value out");
    OnNull(mark, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    YamlNode node = NewNode(YamlKind::kScalar, mark);
    CheckTag(mark, tag, "str");
    // yaml-cpp takes the end of the text for the closing quote.
    if (IsUnclosedQuote(text_.substr(node_offset_))) StopWith(node.span, "the closing quote is missing");
    node.scalar = value;
    node.quoted = tag != "?";
    Place(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "seq");
    Open(NewNode(YamlKind::kSequence, mark));
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "map");
    Open(NewNode(YamlKind::kMapping, mark));
  }

  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    Refuse(mark, "the anchor '&" + Shown(name) + "' is not allowed; write the value out where it is needed");
  }

  void AddProblem(const SourceSpan& span, std::string message) {
    parse_.problems.push_back({span, std::move(message)});
  }
  [[nodiscard]] SourceSpan Span(const YAML::Mark& mark) const {
    return mark.is_null() ? SourceSpan{file_, 0, 0} : SourceSpan{file_, mark.line + 1, mark.column + 1};
  }
  YamlParse Finish() && { return std::move(parse_); }

 private:
  // --- problems

  void Refuse(const YAML::Mark& mark, std::string message) { Refuse(Span(mark), std::move(message)); }

  void Refuse(const SourceSpan& span, std::string message) {
    AddProblem(span, std::move(message));
    if (parse_.problems.size() == kMaxProblems) StopWith(span, "too many problems; the rest is not shown");
  }

  [[noreturn]] void StopWith(const SourceSpan& span, std::string message) {
    AddProblem(span, std::move(message));
    throw Stop();
  }

  [[nodiscard]] std::string TooManyDocuments() const {
    if (limits_.documents == 1)
      return "a second document begins here; only one document is allowed in a file: move it to a file of its own";
    return "more than " + std::to_string(limits_.documents) + " documents; split the file";
  }

  void CheckTag(const YAML::Mark& mark, const std::string& tag, std::string_view standard) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    const bool short_form = tag.starts_with(kTagPrefix);
    const std::string name = short_form ? tag.substr(kTagPrefix.size()) : tag;
    if (short_form && name == standard) return;
    Refuse(mark, "the tag '" + Shown(short_form ? "!!" + name : name) + "' is not allowed; remove it");
  }

  bool HasSeparator(const YAML::Mark& mark) const {
    const auto start = std::min(static_cast<std::size_t>(mark.pos), text_.size());
    if (text_.substr(start).starts_with("---") || text_.substr(start).starts_with("%")) return true;
    const std::size_t end_marker = text_.substr(0, start).rfind("\n...");
    return end_marker != std::string_view::npos && end_marker > node_offset_;
  }

  // --- the tree

  YamlNode NewNode(YamlKind kind, const YAML::Mark& mark) {
    node_offset_ = std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    if (++nodes_ > limits_.nodes)
      StopWith(Span(mark), "more than " + std::to_string(limits_.nodes) + " values; split the file");
    YamlNode node;
    node.kind = kind;
    node.span = Span(mark);
    return node;
  }

  void Open(YamlNode node) {
    if (frames_.size() == static_cast<std::size_t>(limits_.depth))
      StopWith(node.span, "nested deeper than " + std::to_string(limits_.depth) + " levels");
    frames_.push_back({std::move(node), std::nullopt, false, {}});
  }

  void Close() {
    YamlNode node = std::move(frames_.back().node);
    frames_.pop_back();
    Place(std::move(node));
  }

  void Place(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == YamlKind::kSequence) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.key) {
      if (!frame.key_refused) frame.node.members.push_back({std::move(*frame.key), std::move(node)});
      frame.key.reset();
    } else {
      frame.key_refused = !IsGoodKey(frame, node);
      frame.key = std::move(node);
    }
  }

  bool IsGoodKey(Frame& frame, const YamlNode& key) {
    if (key.kind != YamlKind::kScalar) {
      Refuse(key.span, "a mapping key must be a text; found " + std::string(KindName(key.kind)));
      return false;
    }
    if (key.scalar == "<<" && !key.quoted) {
      Refuse(key.span, "the merge key '<<' is not allowed; write the members out");
      return false;
    }
    const auto [first, is_new] = frame.seen.emplace(key.scalar, key.span);
    if (is_new) return true;
    Refuse(key.span, "duplicate key '" + Shown(key.scalar) + "': it is already written at line " +
                         std::to_string(first->second.line) + ", column " + std::to_string(first->second.column) +
                         "; remove one of the two");
    return false;
  }

  static std::string_view KindName(YamlKind kind) {
    switch (kind) {
      case YamlKind::kNull: return "nothing or null";
      case YamlKind::kScalar: return "a text";
      case YamlKind::kSequence: return "a sequence";
      case YamlKind::kMapping: return "a mapping";
    }
    return "a text";
  }

  const std::string file_;
  const std::string_view text_;
  const YamlLimits limits_;
  YamlParse parse_;
  std::vector<Frame> frames_;
  std::optional<YamlNode> root_;
  SourceSpan document_span_;
  std::size_t nodes_ = 0;
  std::size_t documents_started_ = 0;
  std::size_t node_offset_ = 0;  // where the node read last begins
};

// yaml-cpp's words, in words that say what to do. Its messages may quote a raw byte, so only known ones are passed on.
std::string SyntaxMessage(std::string_view message) {
  struct Row {
    std::string_view prefix;
    std::string_view words;
  };
  static constexpr Row kRows[] = {
      {"end of map not found", "this line does not fit into the mapping above it; check the indentation"},
      {"end of sequence not found", "this line does not fit into the sequence above it; check the indentation"},
      {"end of map flow not found", "the closing '}' is missing"},
      {"end of sequence flow not found", "the closing ']' is missing"},
      {"illegal map value", "a ':' that is followed by a blank is not allowed here; put the value in quotes"},
      {"illegal map key", "a mapping key is not allowed here; check the indentation"},
      {"illegal block entry", "a '- ' is not allowed here; check the indentation"},
      {"illegal tab", "a tab is not allowed in indentation; use blanks"},
      {"illegal EOF in scalar", "the closing quote is missing"},
      {"illegal document indicator", "a '---' or '...' stands inside a quoted text; is a closing quote missing?"},
      {"illegal flow end", "a ']' or '}' without its opening bracket"},
      {"unknown escape character", "this backslash escape is not known; write '\\\\' for a backslash"},
      {"the referenced anchor", "an alias ('*name') is not allowed; put the value in quotes if it is a text"},
      {"alias not found", "a text that begins with '*' must be put in quotes"},
      {"anchor not found", "a text that begins with '&' must be put in quotes"},
      {"unknown token", "this character cannot begin a value; put the value in quotes"},
      {"invalid unicode", "this escape names no Unicode character"},
      {"bad character found while scanning hex", "a hexadecimal escape needs hexadecimal digits"},
      {"bad file", "nested too deeply"},
  };
  for (const Row& row : kRows)
    if (message.starts_with(row.prefix)) return std::string(row.words);
  const bool printable = std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  return "this is not valid YAML" + (printable ? " (" + std::string(message) + ")" : "");
}

// yaml-cpp complains of something else on such a line.
bool IsIndentedByTab(std::string_view text, const YAML::Mark& mark) {
  if (mark.is_null() || mark.column > mark.pos) return false;
  const std::string_view line = text.substr(std::min(static_cast<std::size_t>(mark.pos - mark.column), text.size()));
  return line.find_first_not_of(' ') == line.find('\t') && line.find('\t') != std::string_view::npos;
}

SourceSpan SpanAt(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  return {std::string(file), static_cast<int>(line), static_cast<int>(column)};
}

bool IsForbiddenControl(unsigned char byte) {
  return byte == 0x7f || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r');
}

// A control character must be written as an escape. yaml-cpp even ends the text at a raw 0x04, without a word.
std::optional<YamlProblem> FindControl(std::string_view file, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto found = std::find_if(text.begin(), text.end(), IsForbiddenControl);
  if (found == text.end()) return std::nullopt;
  const auto byte = static_cast<unsigned char>(*found);
  const std::string code = {kHex[byte >> 4], kHex[byte & 0xf]};
  return YamlProblem{
      SpanAt(file, text, static_cast<std::size_t>(found - text.begin())),
      "the control character U+00" + code + " is not allowed; inside double quotes write '\\x" + code + "'"};
}

std::optional<YamlProblem> FindBadUtf8(std::string_view file, std::string_view text) {
  if (IsUtf8(text)) return std::nullopt;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = static_cast<unsigned char>(text[i]) < 0x80 ? 1 : MultiByteLength(text.substr(i, 4));
    if (length == 0) break;
    i += length;
  }
  return YamlProblem{SpanAt(file, text, i), "invalid UTF-8; save the file as UTF-8"};
}

std::optional<YamlProblem> CheckText(std::string_view file, std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return YamlProblem{{std::string(file), 1, 1},
                       "the text has " + std::to_string(text.size()) + " bytes; at most " +
                           std::to_string(limits.bytes) + " are allowed"};
  }
  if (auto problem = FindBadUtf8(file, text)) return problem;
  return FindControl(file, text);
}

void ReadDocuments(TreeBuilder& builder, std::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(builder)) {
  }
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name.scalar == key) return &value;
  return nullptr;
}

YamlParse ParseYaml(std::string_view file, std::string_view text, const YamlLimits& limits) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (auto problem = CheckText(file, text, limits)) return {{}, {std::move(*problem)}};
  TreeBuilder builder(file, text, limits);
  try {
    ReadDocuments(builder, text);
  } catch (const Stop&) {
  } catch (const YAML::Exception& exception) {
    const SourceSpan span = builder.Span(exception.mark);
    builder.AddProblem(span, IsIndentedByTab(text, exception.mark) ? "a tab is not allowed in indentation; use blanks"
                                                                   : SyntaxMessage(exception.msg));
  } catch (const std::exception&) {
    builder.AddProblem({std::string(file), 0, 0}, "the text could not be read as YAML");
  }
  return std::move(builder).Finish();
}

}  // namespace podium
