#include "policy/field.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <tuple>

#include "core/text.h"

namespace podium {
namespace {

constexpr std::size_t kShownNames = 12;
// A suggestion costs an edit distance per candidate; nobody reads one out of a thousand names.
constexpr std::size_t kSuggestionCandidates = 200;
constexpr std::size_t kSuggestionLength = 64;
constexpr std::size_t kShownBytes = 60;

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What YAML 1.2's core schema (and so every editor) does not take for a text: numbers and truth values.
bool LooksLikeNumber(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0o")) {
    const std::string_view digits = text[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
    return text.size() > 2 && text.find_first_not_of(digits, 2) == std::string_view::npos;
  }
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".Inf" || text == ".INF" || text == ".nan" || text == ".NaN" || text == ".NAN")
    return true;
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (!power.empty() && (power.front() == '-' || power.front() == '+')) power.remove_prefix(1);
    if (!IsDigits(power)) return false;
    text = text.substr(0, exponent);
  }
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return IsDigits(text);
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = text.substr(point + 1);
  if (whole.empty() && fraction.empty()) return false;
  return (whole.empty() || IsDigits(whole)) && (fraction.empty() || IsDigits(fraction));
}

bool IsPlainText(const YamlNode& node) {
  if (node.quoted) return true;
  const std::string_view text = node.scalar;
  for (const std::string_view truth : {"true", "True", "TRUE", "false", "False", "FALSE"})
    if (text == truth) return false;
  return !LooksLikeNumber(text);
}

std::string ShowValue(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull: return "empty";
    case YamlKind::kSequence: return node.items.empty() ? "an empty list" : "a list";
    case YamlKind::kMapping: return node.members.empty() ? "an empty mapping" : "a mapping";
    case YamlKind::kScalar: break;
  }
  if (IsPlainText(node)) return InQuotes(node.scalar);
  return node.scalar.substr(0, kShownBytes);
}

std::optional<std::int64_t> ParseDecimal(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (!IsDigits(digits) || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void Problems::Error(const SourceSpan& span, std::string message) {
  if (std::find(holes_.begin(), holes_.end(), span) != holes_.end()) return;
  ++errors_;
  diagnostics_.push_back({DiagnosticSeverity::kError, span, std::move(message)});
}

void Problems::Warn(const SourceSpan& span, std::string message) {
  diagnostics_.push_back({DiagnosticSeverity::kWarning, span, std::move(message)});
}

void Problems::Unreadable(const SourceSpan& span, std::string message) {
  ++errors_;
  diagnostics_.push_back({DiagnosticSeverity::kError, span, std::move(message)});
  holes_.push_back(span);
}

std::vector<Diagnostic> Problems::InOrderOf(const std::vector<PolicyFile>& files) const {
  std::map<std::string_view, std::size_t> order;
  for (std::size_t i = 0; i < files.size(); ++i) order.emplace(files[i].name, i);
  std::vector<Diagnostic> sorted = diagnostics_;
  std::stable_sort(sorted.begin(), sorted.end(), [&order](const Diagnostic& a, const Diagnostic& b) {
    const auto rank = [&order](const SourceSpan& span) {
      const auto found = order.find(span.file);
      return std::tuple(found == order.end() ? std::size_t{0} : found->second, span.line, span.column);
    };
    return rank(a.span) < rank(b.span);
  });
  return sorted;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kSuggestionLength || candidates.size() > kSuggestionCandidates) return "";
  const std::optional<std::string_view> nearest = NearestName(word, candidates);
  return nearest ? "; did you mean " + InQuotes(*nearest) + "?" : "";
}

std::string JoinNames(std::span<const std::string_view> names) {
  if (names.empty()) return "none";
  std::string joined;
  for (const std::string_view name : names.first(std::min(names.size(), kShownNames))) {
    if (!joined.empty()) joined += ", ";
    joined += name;
  }
  if (names.size() > kShownNames) joined += ", ... (" + std::to_string(names.size()) + " in all)";
  return joined;
}

std::string InQuotes(std::string_view text) { return Quoted(text, kShownBytes); }

std::string ShowSpan(const SourceSpan& span) {
  return span.file + ":" + std::to_string(span.line) + ":" + std::to_string(span.column);
}

void Field::Unfit(std::string_view allowed) const {
  Error((path_.empty() ? "the file" : path_) + " is " + ShowValue(*node_) + "; allowed: " + std::string(allowed));
}

std::optional<std::string> Field::Text() const {
  if (node_->kind == YamlKind::kScalar && IsPlainText(*node_)) return node_->scalar;
  if (node_->kind == YamlKind::kScalar)
    Unfit("a text; put it in quotes: \"" + node_->scalar.substr(0, kShownBytes) + "\"");
  else
    Unfit("a text");
  return std::nullopt;
}

std::optional<std::string> Field::Text(const TextRule& rule) const {
  std::optional<std::string> text = Text();
  if (!text || rule.accepts(*text)) return text;
  Unfit(rule.allowed);
  return std::nullopt;
}

std::optional<std::int64_t> Field::Integer(IntRange allowed) const {
  if (node_->kind == YamlKind::kScalar && !node_->quoted) {
    const std::optional<std::int64_t> number = ParseDecimal(node_->scalar);
    if (number && *number >= allowed.at_least && *number <= allowed.at_most) return number;
  }
  std::string wanted =
      "a whole number from " + std::to_string(allowed.at_least) + " to " + std::to_string(allowed.at_most);
  const std::string_view text = node_->scalar;
  if (node_->quoted)
    wanted += ", without quotes";
  else if (text.starts_with('+') || (text.starts_with('0') && text.size() > 1) || text.starts_with("-0"))
    wanted += ", in decimal and without '+' or a leading 0";
  Unfit(wanted);
  return std::nullopt;
}

std::optional<bool> Field::Boolean() const {
  if (node_->kind == YamlKind::kScalar && !node_->quoted) {
    if (node_->scalar == "true") return true;
    if (node_->scalar == "false") return false;
  }
  Unfit(node_->quoted ? "true or false, without quotes" : "true or false");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Field::Texts(const TextRule& rule) const {
  const std::optional<std::vector<Field>> items = Items();
  if (!items) return std::nullopt;
  if (items->empty()) {
    Unfit("a list with at least one entry; to set no condition, leave the key out");
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const Field& item : *items)
    if (std::optional<std::string> text = item.Text(rule)) texts.push_back(std::move(*text));
  if (texts.size() != items->size()) return std::nullopt;
  return texts;
}

std::optional<std::vector<Field>> Field::Items() const {
  if (node_->kind != YamlKind::kSequence) {
    Unfit("a list");
    return std::nullopt;
  }
  std::vector<Field> items;
  for (const YamlNode& item : node_->items)
    items.emplace_back(item, path_ + "[" + std::to_string(items.size()) + "]", *problems_);
  return items;
}

std::optional<std::vector<std::pair<Field, Field>>> Field::Members() const {
  if (node_->kind != YamlKind::kMapping) {
    Unfit("a mapping");
    return std::nullopt;
  }
  std::vector<std::pair<Field, Field>> members;
  for (const auto& [key, value] : node_->members) {
    const std::string step = IsDnsLabel(key.scalar) ? "." + key.scalar : "[" + InQuotes(key.scalar) + "]";
    members.emplace_back(Field(key, "the key in " + path_, *problems_), Field(value, path_ + step, *problems_));
  }
  return members;
}

std::optional<std::size_t> Field::Choice(std::span<const std::string_view> words) const {
  if (node_->kind == YamlKind::kScalar) {
    const auto found = std::find(words.begin(), words.end(), node_->scalar);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  Unfit(JoinNames(words) + DidYouMean(node_->scalar, words));
  return std::nullopt;
}

std::optional<std::vector<FoundKey>> FindKeys(const Field& mapping, const MappingShape& shape) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> required;
  for (const KeyName& key : shape.keys) {
    names.push_back(key.name);
    if (key.presence == Presence::kRequired) required.push_back(key.name);
  }
  if (mapping.node().kind != YamlKind::kMapping) {
    mapping.Unfit(std::string(shape.what) + ", a mapping with the keys " + JoinNames(names));
    return std::nullopt;
  }
  std::vector<FoundKey> found;
  for (const auto& [key, value] : mapping.node().members) {
    const auto row = std::find(names.begin(), names.end(), key.scalar);
    if (row == names.end()) {
      mapping.problems().Error(key.span, "unknown key " + InQuotes(key.scalar) + "; allowed: " + JoinNames(names) +
                                             std::string(shape.advice) + DidYouMean(key.scalar, names));
      continue;
    }
    const std::string path = mapping.path().empty() ? key.scalar : mapping.path() + "." + key.scalar;
    found.push_back({static_cast<std::size_t>(row - names.begin()), Field(value, path, mapping.problems())});
  }
  for (const std::string_view name : required)
    if (mapping.node().Find(name) == nullptr)
      mapping.Error("missing key " + InQuotes(name) + "; " + std::string(shape.what) + " needs " + JoinNames(required));
  return found;
}

}  // namespace podium
