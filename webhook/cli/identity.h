// What tells this process from others.
#pragma once

#include <string>

namespace podium {

std::string HostName();        // "podium" when the system does not say
std::string RandomInstance();  // 16 hex digits

}  // namespace podium
