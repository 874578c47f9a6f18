#include "tools/values/float_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace alula::values {
namespace {

/// The codes of a format without the sign bit.
struct Codes {
  alula_float_format format;
  uint64_t largest;  ///< the largest finite magnitude
  uint64_t overflow; ///< what a larger magnitude becomes
  uint64_t nan;      ///< NaN of the sign that the number had

  explicit Codes(alula_dtype type) {
    alula_dtype_get_float_format(type, &format);
    unsigned mantissaBits = format.mantissa_bits;
    uint64_t allOnes = (uint64_t(1) << (format.exponent_bits + mantissaBits)) - 1;
    uint64_t topExponent =
        ((uint64_t(1) << format.exponent_bits) - 1) << mantissaBits;
    switch (format.specials) {
    case ALULA_FLOAT_IEEE:
      largest = topExponent - 1;
      overflow = topExponent;
      nan = topExponent | uint64_t(1) << (mantissaBits - 1);
      break;
    case ALULA_FLOAT_FN:
    case ALULA_FLOAT_E8M0:
      largest = allOnes - 1;
      overflow = nan = allOnes;
      break;
    case ALULA_FLOAT_FNUZ:
      largest = allOnes;
      overflow = nan = allOnes + 1;
      break;
    case ALULA_FLOAT_FINITE:
      largest = overflow = allOnes;
      nan = 0;
      break;
    }
  }

  uint64_t getSign() const {
    return format.sign_bits ? uint64_t(1)
                                  << (format.exponent_bits + format.mantissa_bits)
                            : 0;
  }
};

uint64_t encodeNan(const Codes &codes, bool negative) {
  switch (codes.format.specials) {
  case ALULA_FLOAT_IEEE:
  case ALULA_FLOAT_FN:
    return codes.nan | (negative ? codes.getSign() : 0);
  case ALULA_FLOAT_FINITE:
    return negative ? 0 : codes.getSign();
  case ALULA_FLOAT_FNUZ:
  case ALULA_FLOAT_E8M0:
    return codes.nan;
  }
  return codes.nan;
}

/// Rounds a positive finite number to a magnitude code, without the limit.
uint64_t roundMagnitude(const alula_float_format &format, double magnitude) {
  bool hasSubnormals = format.specials != ALULA_FLOAT_E8M0;
  int smallest = (hasSubnormals ? 1 : 0) - format.bias;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, smallest);
  double scaled = std::ldexp(magnitude, format.mantissa_bits - exponent);
  // Below 2^53.
  auto whole = double(uint64_t(scaled)), rest = scaled - whole;
  auto significand = uint64_t(whole);
  if (rest > 0.5 || (rest == 0.5 && (significand & 1)))
    ++significand;
  // The hidden bit of a normal number carries into the exponent by itself.
  int64_t code = (int64_t(exponent + format.bias - 1) << format.mantissa_bits) +
                 int64_t(significand);
  return uint64_t(std::max<int64_t>(code, 0));
}

} // namespace

double decodeFloat(alula_dtype type, uint64_t bits) {
  if (type == ALULA_DTYPE_F64)
    return std::bit_cast<double>(bits);
  if (type == ALULA_DTYPE_F32)
    return double(std::bit_cast<float>(uint32_t(bits)));
  Codes codes(type);
  const alula_float_format &format = codes.format;
  uint64_t sign = codes.getSign();
  bool negative = (bits & sign) != 0;
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.specials == ALULA_FLOAT_FNUZ && bits == sign)
    return nan;
  uint64_t magnitude = bits & (sign ? sign - 1 : 0xFF);
  double value;
  if (magnitude > codes.largest) {
    bool infinite =
        format.specials == ALULA_FLOAT_IEEE && magnitude == codes.overflow;
    value = infinite ? std::numeric_limits<double>::infinity() : nan;
  } else {
    uint64_t mantissa =
        magnitude & ((uint64_t(1) << format.mantissa_bits) - 1);
    int exponent = int(magnitude >> format.mantissa_bits);
    if (exponent == 0 && format.specials != ALULA_FLOAT_E8M0)
      exponent = 1;
    else
      mantissa |= uint64_t(1) << format.mantissa_bits;
    value = std::ldexp(double(mantissa),
                       exponent - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

uint64_t encodeFloat(alula_dtype type, double value) {
  if (type == ALULA_DTYPE_F64)
    return std::bit_cast<uint64_t>(value);
  if (type == ALULA_DTYPE_F32)
    return std::bit_cast<uint32_t>(float(value));
  Codes codes(type);
  bool negative = std::signbit(value);
  alula_float_specials specials = codes.format.specials;
  if (std::isnan(value) ||
      (specials == ALULA_FLOAT_E8M0 && (negative || value == 0)))
    return encodeNan(codes, negative);
  uint64_t code = 0;
  if (std::isinf(value))
    code = codes.overflow;
  else if (value != 0) {
    code = roundMagnitude(codes.format, std::fabs(value));
    if (code > codes.largest)
      code = codes.overflow;
  }
  bool unsignedCode =
      specials == ALULA_FLOAT_FNUZ && (code == 0 || code == codes.nan);
  return negative && !unsignedCode ? code | codes.getSign() : code;
}

} // namespace alula::values
