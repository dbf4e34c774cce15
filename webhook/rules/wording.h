// Pieces of messages that several rules write: quoted names and short lists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

// Text of a request in one of our messages: 'name', printable, cut after 80 bytes.
std::string Quote(std::string_view text);

// "a, b, c"; of more than `at_most` the rest is counted: "a, b and 5 more". "none" when empty.
std::string ListNames(const std::vector<std::string_view>& names, std::size_t at_most = 8);

// "; did you mean 'x'?", or "." when nothing is near: ends a sentence either way.
std::string EndOrDidYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace podium
