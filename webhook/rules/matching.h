// Whether a condition of the policy holds: labels and name patterns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podium/objects.h"

namespace podium {

// "*" wants the key, whatever its value. `found` null: the key is not there.
bool LabelValueMatches(const std::string& wanted, const std::string* found);

// Every wanted label is among `found`.
bool LabelsMatch(const Labels& wanted, const Labels& found);

bool AnyPatternMatches(const std::vector<std::string>& patterns, std::string_view text);

// Null: there is no such key.
const std::string* FindLabel(const Labels& labels, const std::string& key);

}  // namespace podium
