// Kubernetes quantities ("500m", "2e0", "1Ki", "02"), exact.
// Source: apimachinery/pkg/api/resource/quantity.go: optional sign, digits with an optional point, then n u m k M G T P
// E, Ki Mi Gi Ti Pi Ei, or a decimal exponent; both conversions to whole numbers round up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "podium/result.h"

namespace podium {

__extension__ using Int128 = __int128;  // GCC and Clang have it; ISO C++ does not

// An exact decimal with nine digits behind the point, as Kubernetes keeps it. Sums are formed on exact values; rounding
// happens once, on the total: two containers of 500u CPU are 1m together, not 2m.
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity FromNano(Int128 nano) { return Quantity(nano); }
  static constexpr Quantity FromUnits(std::int64_t units) { return Quantity(static_cast<Int128>(units) * kNano); }

  [[nodiscard]] constexpr Int128 nano() const { return nano_; }
  // Whole units, rounded up (away from zero): 500m GPUs are 1. Saturates at the ends of int64.
  [[nodiscard]] std::int64_t CeilUnits() const;

  constexpr Quantity& operator+=(Quantity other) {
    nano_ += other.nano_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  constexpr auto operator<=>(const Quantity&) const = default;  // NOLINT(modernize-use-nullptr): misread

 private:
  static constexpr Int128 kNano = 1'000'000'000;
  constexpr explicit Quantity(Int128 nano) : nano_(nano) {}

  Int128 nano_ = 0;  // 1e-9 units
};

// ParseQuantity("1500m") -> 1.5;  ParseQuantity("+2") -> 2;  ParseQuantity("8e3m") -> error kInvalidInput.
// Anything finer than 1e-9 is rounded up, away from zero. Values are capped at 2^63-1 units.
Result<Quantity> ParseQuantity(std::string_view text);

// The shortest plain decimal: "2", "0.5". For messages; not Kubernetes' canonical form.
std::string FormatQuantity(Quantity quantity);

}  // namespace podium
