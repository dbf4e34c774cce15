// What has been found becomes what the caller is told: verdict, code, message, warnings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "podium/admission.h"

namespace podium {

// How the warning begins that stands in for a decision which could not be made.
inline constexpr std::string_view kNotApplied = "podium did not apply its policy: ";

// The API server drops a warning with control characters and cuts long ones (SA/endpoints/filters/warning.go).
inline constexpr std::size_t kMostWarnings = 3;
inline constexpr std::size_t kWarningBytes = 120;

// One line without control characters, at most `max_bytes` long: cut at a character, with "..." at the end.
std::string OneLine(std::string_view text, std::size_t max_bytes);

// Fills in verdict, code, message and warnings from the findings. A refused decision loses its edits.
void Fold(Decision& decision);

// A review that could be read but not decided: `problem` says why, the posture says what that means.
void FoldInternalError(Decision& decision, const std::string& problem, Posture posture);

}  // namespace podium
