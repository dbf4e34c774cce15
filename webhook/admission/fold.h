// What has been found becomes what the caller is told: verdict, code, message, warnings.
#pragma once

#include <string>
#include <string_view>

#include "podium/admission.h"

namespace podium {

// How the warning begins that stands in for a decision which could not be made.
inline constexpr std::string_view kNotApplied = "podium did not apply its policy: ";

// One line without control characters, at most `max_bytes` long: cut at a character, with "..." at the end.
std::string OneLine(std::string_view text, std::size_t max_bytes);

// Fills in verdict, code, message and warnings from the findings. A refused decision loses its edits.
void Fold(Decision& decision);

// A review that could be read but not decided: `problem` says why, the posture says what that means.
void FoldInternalError(Decision& decision, const std::string& problem, Posture posture);

}  // namespace podium
