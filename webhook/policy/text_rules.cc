#include "policy/text_rules.h"

#include <algorithm>
#include <cstddef>

namespace podium {
namespace {

constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }

// Not empty, at most `limit` long, and every character is a lower-case letter, a digit or one of `others`.
bool IsLowerText(std::string_view text, std::size_t limit, std::string_view others) {
  if (text.empty() || text.size() > limit) return false;
  return std::all_of(text.begin(), text.end(),
                     [others](char c) { return IsLower(c) || IsDigit(c) || others.find(c) != std::string_view::npos; });
}

// The name part of a label key, and a label value that is not empty.
bool IsLabelName(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool HasOnly(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [others](char c) { return IsAlnum(c) || others.find(c) != std::string_view::npos; });
}

}  // namespace

bool IsDnsLabel(std::string_view text) {
  return IsLowerText(text, 63, "-") && text.front() != '-' && text.back() != '-';
}

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (!IsLowerText(part, 253, "-") || part.front() == '-' || part.back() == '-') return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsLabelKey(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsLabelName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsLabelName(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) { return text.empty() || text == "*" || IsLabelName(text); }

bool IsKind(std::string_view text) {
  return !text.empty() && text.size() <= 63 && !IsDigit(text.front()) && HasOnly(text, "");
}

bool IsNamespacePattern(std::string_view text) { return IsLowerText(text, 63, "-*"); }

bool IsNamePattern(std::string_view text) { return IsLowerText(text, 253, "-.*"); }

bool IsServiceAccountPattern(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  return IsNamespacePattern(text.substr(0, colon)) && IsNamePattern(text.substr(colon + 1));
}

bool IsResourcePattern(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size() || text.size() > 317) return false;
  return IsLowerText(text.substr(0, slash), 253, "-.*") && HasOnly(text.substr(slash + 1), "-_.*");
}

bool IsAnyPattern(std::string_view text) { return !text.empty() && text.size() <= 317 && HasOnly(text, "-_./*"); }

bool IsOneLine(std::string_view text) {
  if (text.empty() || text.size() > 256) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool IsProse(std::string_view text) {
  if (text.size() > 1024) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; });
}

}  // namespace podium
