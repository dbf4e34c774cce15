// Reading a file that a user named.
#pragma once

#include <cstddef>
#include <string>

#include "podium/result.h"

namespace podium {

// The bytes of the regular file `path` (links are followed), or the first `most_bytes` + 1 of them: one too many tells
// that it is too large. Never waits: opening a pipe without a writer would, so pipes, devices and folders are refused.
// The error says why and leaves it to the caller to say what was to be read: "it is a pipe; wanted: a regular file".
// No copy of the bytes is left behind in freed memory where the file does not grow meanwhile: they may be a key.
Result<std::string> ReadRegularFile(const std::string& path, std::size_t most_bytes);

// Another text whenever the file was written or exchanged; "-" when there is none. A mounted Secret is exchanged by
// renaming a link, so the file behind it is another one.
std::string FileMark(const std::string& path);

// What an errno of a call on a file means: "No such file or directory".
Error FileError(int number);

}  // namespace podium
