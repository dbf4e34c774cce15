// SHA-256, the only digest Podium uses.
#pragma once

#include <string>
#include <string_view>

namespace podium {

// Lower-case hex, 64 characters. Throws only where OpenSSL itself is not usable.
std::string Sha256Hex(std::string_view bytes);

}  // namespace podium
