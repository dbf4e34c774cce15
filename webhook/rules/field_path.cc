#include <algorithm>

#include "rules/catalog.h"

namespace podium {
namespace {

// Undoes the escapes of RFC 6901.
std::string Unescape(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escape = segment[i] == '~' && i + 1 < segment.size();
    if (!escape) {
      out += segment[i];
      continue;
    }
    out += segment[++i] == '1' ? '/' : '~';
  }
  return out;
}

// Array indexes and keys that would not read as one name are bracketed, as Kubernetes' field errors do.
bool NeedsBrackets(std::string_view segment) {
  const bool number = std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number || segment.find_first_of("./~") != std::string_view::npos;
}

void AppendSegment(std::string& out, std::string_view segment) {
  if (NeedsBrackets(segment)) {
    out += '[' + Unescape(segment) + ']';
    return;
  }
  if (!out.empty()) out += '.';
  out += segment;
}

}  // namespace

std::string FieldPath(const PodTemplate& pod, std::string_view field) {
  std::string out;
  std::string_view rest = pod.path;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the slash
    const std::size_t end = std::min(rest.find('/'), rest.size());
    AppendSegment(out, rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (!out.empty() && !field.empty()) out += '.';
  return out += field;
}

}  // namespace podium
