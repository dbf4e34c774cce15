// Reading one place of a policy file: what is there, what messages call it, and where its problems go. Each mapping of
// the language is a table of keys (KeyRow); unknown keys, missing keys and the schema test all come from that table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/policy.h"
#include "policy/compile.h"
#include "policy/text_rules.h"
#include "wire/yaml.h"

namespace podium {

// Collects every problem of one compilation. Not thread-safe; one per CompilePolicy call.
class Problems {
 public:
  void Error(const SourceSpan& span, std::string message);
  void Warn(const SourceSpan& span, std::string message);
  // What could not be read as YAML. The tree has a hole there, which is no second problem.
  void Unreadable(const SourceSpan& span, std::string message);
  [[nodiscard]] std::size_t ErrorCount() const { return errors_; }
  [[nodiscard]] bool HasErrors() const { return errors_ > 0; }
  // In the order of `files`, then by line and column; of one place in the order of their finding.
  [[nodiscard]] std::vector<Diagnostic> InOrderOf(const std::vector<PolicyFile>& files) const;

 private:
  std::size_t errors_ = 0;
  std::vector<Diagnostic> diagnostics_;
  std::vector<SourceSpan> holes_;  // few: ParseYaml stops after fifty problems
};

// "; did you mean 'name'?" or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);
// "a, b, c"; of a long list the beginning and how many there are.
std::string JoinNames(std::span<const std::string_view> names);
// The text for a message: in quotes, without control characters, cut when long.
std::string InQuotes(std::string_view text);
// "policy.yaml:3:5", for messages that name a second place.
std::string ShowSpan(const SourceSpan& span);

// One word of a fixed choice and what it means.
template <typename E>
struct Word {
  std::string_view text;
  E value;
};

// A node of a policy file and how messages call it ("spec.classes[0].value"). The readers report what is wrong and
// return nothing then. A view: the tree and `problems` must outlive it.
class Field {
 public:
  Field(const YamlNode& node, std::string path, Problems& problems)
      : node_(&node), path_(std::move(path)), problems_(&problems) {}

  [[nodiscard]] const YamlNode& node() const { return *node_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const SourceSpan& span() const { return node_->span; }
  [[nodiscard]] Problems& problems() const { return *problems_; }

  void Error(std::string message) const { problems_->Error(span(), std::move(message)); }
  void Warn(std::string message) const { problems_->Warn(span(), std::move(message)); }
  // "spec.classes[0].value is 1000.5; allowed: ..."
  void Unfit(std::string_view allowed) const;

  // Quoted or not; a plain number, true or false is not a text (an editor and kubectl would not take it for one).
  [[nodiscard]] std::optional<std::string> Text() const;
  [[nodiscard]] std::optional<std::string> Text(const TextRule& rule) const;
  // Decimal, without quotes, sign '+' or leading zeros: "010" is 8 to some YAML readers and 10 to others.
  [[nodiscard]] std::optional<std::int64_t> Integer(IntRange allowed) const;
  // Unquoted true and false only.
  [[nodiscard]] std::optional<bool> Boolean() const;
  // A non-empty list of texts.
  [[nodiscard]] std::optional<std::vector<std::string>> Texts(const TextRule& rule) const;
  [[nodiscard]] std::optional<std::vector<Field>> Items() const;
  // Keys and values of a mapping with free keys.
  [[nodiscard]] std::optional<std::vector<std::pair<Field, Field>>> Members() const;

  template <typename E, std::size_t N>
  [[nodiscard]] std::optional<E> OneOf(const Word<E> (&words)[N]) const {
    std::vector<std::string_view> texts;
    for (const Word<E>& word : words) texts.push_back(word.text);
    const std::optional<std::size_t> index = Choice(texts);
    if (!index) return std::nullopt;
    return words[*index].value;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> Choice(std::span<const std::string_view> words) const;

  const YamlNode* node_;
  std::string path_;
  Problems* problems_;
};

// Assigns what could be read; false when nothing could.
template <typename Slot, typename T>
bool Set(Slot& slot, std::optional<T> value) {
  if (!value) return false;
  slot = std::move(*value);
  return true;
}

enum class Presence { kRequired, kOptional };

// One key of a mapping of the language. `read` fills `target` and returns whether the value was good.
template <typename T>
struct KeyRow {
  std::string_view name;
  Presence presence;
  bool (*read)(T& target, const Field& value);
  std::vector<std::string_view> (*words)() = nullptr;  // of a fixed choice: the words
};

template <typename T>
struct KeyTable {
  std::string_view name;  // of the definition in policies/priority-policy.schema.json: "class"
  std::string_view what;  // for messages: "a class"
  std::span<const KeyRow<T>> rows;
  std::string_view advice = "";  // what to do about a key that does not belong here
};

// Reader and word list of a key whose value is one of `kWords`.
template <const auto& kWords, auto kMember, typename T>
bool ReadWord(T& target, const Field& value) {
  return Set(target.*kMember, value.OneOf(kWords));
}
template <const auto& kWords>
std::vector<std::string_view> TextsOf() {
  std::vector<std::string_view> texts;
  for (const auto& word : kWords) texts.push_back(word.text);
  return texts;
}

// What one mapping said, and where.
template <typename T>
struct Draft {
  T value;
  SourceSpan span;
  std::map<std::string_view, SourceSpan> at = {};  // values that could be read, by key
  bool flawed = false;  // an error was reported in it: what seems to be left out may only be misspelt

  [[nodiscard]] bool Has(std::string_view key) const { return at.contains(key); }
  [[nodiscard]] const SourceSpan& At(std::string_view key) const {
    const auto found = at.find(key);
    return found == at.end() ? span : found->second;
  }
};

struct KeyName {
  std::string_view name;
  Presence presence;
};

// A KeyTable without its readers.
struct MappingShape {
  std::string_view what;
  std::vector<KeyName> keys;
  std::string_view advice = "";
};

// A known key of a mapping: its row in the table and its value.
struct FoundKey {
  std::size_t row;
  Field value;
};

// The known keys in file order. Reports unknown and missing ones; nothing when it is no mapping.
std::optional<std::vector<FoundKey>> FindKeys(const Field& mapping, const MappingShape& shape);

template <typename T>
MappingShape ShapeOf(const KeyTable<T>& table) {
  MappingShape shape{.what = table.what, .keys = {}, .advice = table.advice};
  for (const KeyRow<T>& row : table.rows) shape.keys.push_back({row.name, row.presence});
  return shape;
}

// `initial`: what the mapping adds to.
template <typename T>
std::optional<Draft<T>> ReadMapping(const Field& mapping, const KeyTable<T>& table, T initial = {}) {
  const std::size_t errors_before = mapping.problems().ErrorCount();
  const std::optional<std::vector<FoundKey>> found = FindKeys(mapping, ShapeOf(table));
  if (!found) return std::nullopt;
  Draft<T> draft{.value = std::move(initial), .span = mapping.span()};
  for (const FoundKey& key : *found) {
    const KeyRow<T>& row = table.rows[key.row];
    if (row.read(draft.value, key.value)) draft.at.emplace(row.name, key.value.span());
  }
  draft.flawed = mapping.problems().ErrorCount() > errors_before;
  return draft;
}

// The items that are mappings at all; each may lack what could not be read.
template <typename T>
std::vector<Draft<T>> ReadList(const Field& list, const KeyTable<T>& table) {
  std::vector<Draft<T>> drafts;
  const std::optional<std::vector<Field>> items = list.Items();
  if (!items) return drafts;
  for (const Field& item : *items)
    if (std::optional<Draft<T>> draft = ReadMapping(item, table)) drafts.push_back(std::move(*draft));
  return drafts;
}

}  // namespace podium
