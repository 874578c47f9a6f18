// Floats of 8 and 16 bits as the device has them.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace alula::ptx {

/// A format of a sign, `Exponent` and `Mantissa` bits. `IsFinite`: no infinity,
/// one NaN with all bits set (e4m3fn).
template <unsigned Exponent, unsigned Mantissa, bool IsFinite = false>
struct FloatFormat {
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr uint32_t exponentMask = (1u << Exponent) - 1;
  static constexpr uint32_t mantissaMask = (1u << Mantissa) - 1;
  static constexpr uint32_t nan =
      IsFinite ? (exponentMask << Mantissa) | mantissaMask
               : (exponentMask << Mantissa) | mantissaMask;
  static constexpr uint32_t largest =
      IsFinite ? nan - 1 : (exponentMask << Mantissa) - 1;

  static double decode(uint32_t bits) {
    bool isNegative = bits >> (Exponent + Mantissa) & 1;
    uint32_t exponent = bits >> Mantissa & exponentMask;
    uint32_t mantissa = bits & mantissaMask;
    double value;
    if (exponent == exponentMask && (!IsFinite || mantissa == mantissaMask))
      value = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
      value = std::ldexp(double(mantissa), 1 - bias - int(Mantissa));
    else
      value = std::ldexp(double(mantissa | (1u << Mantissa)),
                         int(exponent) - bias - int(Mantissa));
    return isNegative ? -value : value;
  }

  /// To nearest, ties to even; `isTruncated`: towards zero. `isSaturated`: what
  /// is too large becomes the largest number.
  static uint32_t encode(double value, bool isTruncated = false,
                         bool isSaturated = false) {
    uint32_t sign = uint32_t(std::signbit(value)) << (Exponent + Mantissa);
    double size = std::fabs(value);
    if (std::isnan(value))
      return nan;
    uint32_t infinity = IsFinite ? nan : exponentMask << Mantissa;
    if (std::isinf(value))
      return sign | (isSaturated ? largest : infinity);
    if (size == 0)
      return sign;
    int exponent = std::ilogb(size);
    if (exponent < 1 - bias)
      exponent = 1 - bias;
    // In units of the last place; exact.
    double units = std::ldexp(size, int(Mantissa) - exponent);
    double rounded = isTruncated ? std::trunc(units) : std::nearbyint(units);
    auto whole = uint32_t(rounded);
    // A carry goes into the exponent by itself.
    uint32_t bits = whole < (1u << Mantissa)
                        ? whole
                        : ((uint32_t(exponent + bias) << Mantissa) + whole -
                           (1u << Mantissa));
    if (bits > largest)
      return sign | (isSaturated || isTruncated ? largest : infinity);
    return sign | bits;
  }
};

using F16 = FloatFormat<5, 10>;
using BF16 = FloatFormat<8, 7>;
using E4M3 = FloatFormat<4, 3, true>;
using E5M2 = FloatFormat<5, 2>;

/// What registers of 16 bits hold: arithmetic goes through double.
template <class Format> struct Small {
  uint16_t bits;
  operator double() const { return Format::decode(bits); }
  static Small make(double value) { return {uint16_t(Format::encode(value))}; }
};
using Half = Small<F16>;
using BFloat = Small<BF16>;

} // namespace alula::ptx
