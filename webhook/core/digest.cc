#include "core/digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <stdexcept>

namespace podium {

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  // Only an OpenSSL without its default provider fails here: an installation that cannot speak TLS either.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error(
        "OpenSSL offers no SHA-256; its configuration (OPENSSL_CONF) turns the default provider off");
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) {
    hex += kHex[digest[i] >> 4];
    hex += kHex[digest[i] & 0xF];
  }
  return hex;
}

}  // namespace podium
