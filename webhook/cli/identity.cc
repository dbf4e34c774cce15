#include "cli/identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace podium {

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "podium";
}

std::string RandomInstance() {
  unsigned char bytes[8] = {};
  // At most 256 bytes never fail once the kernel is seeded; before that, an id that repeats is better than no server.
  if (::getrandom(bytes, sizeof bytes, 0) < 0) std::fill(std::begin(bytes), std::end(bytes), 0);
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back("0123456789abcdef"[byte >> 4U]);
    text.push_back("0123456789abcdef"[byte & 15U]);
  }
  return text;
}

}  // namespace podium
