// Which texts may stand where: names, labels and patterns, as Kubernetes has them (apimachinery/pkg/util/validation).
#pragma once

#include <string_view>

namespace podium {

struct TextRule {
  bool (*accepts)(std::string_view text);
  std::string_view allowed;  // for messages: "allowed: ..."
};

bool IsDnsLabel(std::string_view text);
bool IsDnsSubdomain(std::string_view text);
bool IsLabelKey(std::string_view text);
bool IsLabelValue(std::string_view text);
bool IsKind(std::string_view text);
bool IsNamespacePattern(std::string_view text);
bool IsNamePattern(std::string_view text);
bool IsServiceAccountPattern(std::string_view text);
bool IsResourcePattern(std::string_view text);
bool IsAnyPattern(std::string_view text);
bool IsOneLine(std::string_view text);
bool IsProse(std::string_view text);

inline constexpr TextRule kDnsLabel{IsDnsLabel,
                                    "1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends"};
inline constexpr TextRule kDnsSubdomain{
    IsDnsSubdomain,
    "1 to 253 lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part"};
inline constexpr TextRule kLabelKey{IsLabelKey, "a label key such as app or example.com/team"};
inline constexpr TextRule kLabelValue{
    IsLabelValue, "a label value (at most 63 letters, digits, '-', '_' and '.'), or \"*\" for any value"};
inline constexpr TextRule kKind{IsKind, "a Kubernetes kind such as Deployment"};
inline constexpr TextRule kNamespacePattern{
    IsNamespacePattern, "a namespace name; '*' stands for any run of characters: team-* or kube-system"};
inline constexpr TextRule kNamePattern{IsNamePattern,
                                       "an object name; '*' stands for any run of characters: llm-eval-*"};
inline constexpr TextRule kServiceAccountPattern{IsServiceAccountPattern,
                                                 "\"namespace:name\"; '*' stands for any run of characters: \"ci:*\""};
// Without a domain the pattern could take cpu or memory for a GPU.
inline constexpr TextRule kResourcePattern{
    IsResourcePattern, "a resource name with its domain; '*' stands for any run of characters: nvidia.com/mig-*"};
inline constexpr TextRule kAnyPattern{IsAnyPattern,
                                      "a resource name; '*' stands for any run of characters: nvidia.com/*"};
inline constexpr TextRule kOneLine{IsOneLine, "a text of 1 to 256 bytes on one line"};
inline constexpr TextRule kProse{IsProse, "a text of at most 1024 bytes"};

}  // namespace podium
