// Typed edits become an RFC 6902 document, here and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podium/admission.h"

namespace podium {

// "app/x~y" -> "app~1x~0y": one segment of a JSON pointer.
std::string EscapePointerSegment(std::string_view segment);

// The patch as JSON text: an array. An edit whose value is already there gives no operation; a missing parent is
// created once, before the first edit below it; "[]" when nothing is left to do.
// Requires: edits are in the order in which they are to be applied, at most one for each path.
std::string MakePatch(const std::vector<Edit>& edits);

// Standard alphabet, with padding.
std::string Base64(std::string_view bytes);

}  // namespace podium
