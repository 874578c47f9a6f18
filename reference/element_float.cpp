// Encodings of the floats of up to 16 bits.
#include "reference/element_type.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace alula::reference {
namespace {

enum class Special : uint8_t {
  Ieee,        // infinities and NaNs in the highest exponent
  AllOnesNan,  // no infinity; all ones is NaN
  NegZeroNan,  // no infinity, no negative zero; its code is NaN
  FiniteOnly,  // neither infinity nor NaN
  PowersOfTwo, // no sign, no zero, no mantissa; all ones is NaN
};

struct Format {
  int exponentBits;
  int mantissaBits;
  int bias;
  Special special;

  int bits() const { return exponentBits + mantissaBits + 1; }
  uint64_t signBit() const { return uint64_t(1) << (bits() - 1); }
  uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  }
  uint64_t largest() const {
    switch (special) {
    case Special::Ieee:
      return infinity() - 1;
    case Special::AllOnesNan:
      return signBit() - 2;
    case Special::NegZeroNan:
    case Special::FiniteOnly:
      return signBit() - 1;
    case Special::PowersOfTwo:
      return 0xfe;
    }
    return 0;
  }
};

Format getFormat(Kind kind) {
  switch (kind) {
  case Kind::F4E2M1FN:
    return {2, 1, 1, Special::FiniteOnly};
  case Kind::F6E2M3FN:
    return {2, 3, 1, Special::FiniteOnly};
  case Kind::F6E3M2FN:
    return {3, 2, 3, Special::FiniteOnly};
  case Kind::F8E3M4:
    return {3, 4, 3, Special::Ieee};
  case Kind::F8E4M3:
    return {4, 3, 7, Special::Ieee};
  case Kind::F8E4M3FN:
    return {4, 3, 7, Special::AllOnesNan};
  case Kind::F8E4M3FNUZ:
    return {4, 3, 8, Special::NegZeroNan};
  case Kind::F8E4M3B11FNUZ:
    return {4, 3, 11, Special::NegZeroNan};
  case Kind::F8E5M2:
    return {5, 2, 15, Special::Ieee};
  case Kind::F8E5M2FNUZ:
    return {5, 2, 16, Special::NegZeroNan};
  case Kind::F8E8M0FNU:
    return {8, 0, 127, Special::PowersOfTwo};
  case Kind::BF16:
    return {8, 7, 127, Special::Ieee};
  case Kind::F16:
    return {5, 10, 15, Special::Ieee};
  case Kind::F32:
    return {8, 23, 127, Special::Ieee};
  default:
    return {11, 52, 1023, Special::Ieee};
  }
}

double makeNan(bool negative) {
  return std::copysign(std::numeric_limits<double>::quiet_NaN(),
                       negative ? -1.0 : 1.0);
}

uint64_t encodeNan(const Format &format, bool negative) {
  uint64_t sign = negative ? format.signBit() : 0;
  switch (format.special) {
  case Special::Ieee:
    return sign | format.infinity() |
           (uint64_t(1) << (format.mantissaBits - 1));
  case Special::AllOnesNan:
    return sign | (format.signBit() - 1);
  case Special::NegZeroNan:
    return format.signBit();
  case Special::FiniteOnly:
    // There is nothing to say it with; ml_dtypes gives a zero of the opposite
    // sign, and files made with it expect that.
    return negative ? 0 : format.signBit();
  case Special::PowersOfTwo:
    return 0xff;
  }
  return 0;
}

uint64_t encodeOverflow(const Format &format, bool negative, bool infinite) {
  uint64_t sign = negative ? format.signBit() : 0;
  switch (format.special) {
  case Special::Ieee:
    return sign | format.infinity();
  case Special::FiniteOnly:
    return sign | format.largest();
  case Special::AllOnesNan:
  case Special::NegZeroNan:
  case Special::PowersOfTwo:
    return encodeNan(format, negative);
  }
  return 0;
}

/// Significand and exponent with value = significand * 2^(exponent - 52) and
/// bit 52 set; `value` is finite and not zero.
void split(double value, uint64_t &significand, int &exponent) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  significand = bits & ((uint64_t(1) << 52) - 1);
  int stored = int((bits >> 52) & 0x7ff);
  if (stored != 0) {
    significand |= uint64_t(1) << 52;
    exponent = stored - 1023;
    return;
  }
  int shift = std::countl_zero(significand) - 11;
  significand <<= shift;
  exponent = -1022 - shift;
}

/// significand >> shift, to nearest, ties to even.
uint64_t shiftRounded(uint64_t significand, int shift) {
  if (shift <= 0)
    return significand;
  if (shift > 63)
    return 0;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  return kept;
}

uint64_t encodeExponentOnly(const Format &format, double value) {
  if (!(value > 0) || std::isinf(value))
    // Zero has no code; like a negative value it becomes NaN.
    return 0xff;
  uint64_t significand;
  int exponent;
  split(value, significand, exponent);
  if (shiftRounded(significand, 52) == 2)
    ++exponent;
  if (exponent < -127)
    return 0;
  return exponent > 127 ? 0xff : uint64_t(exponent + 127);
}

double decodeSlow(const Format &format, uint64_t bits) {
  if (format.special == Special::PowersOfTwo)
    return bits == 0xff ? makeNan(false) : std::ldexp(1.0, int(bits) - 127);
  bool negative = bits & format.signBit();
  uint64_t magnitude = bits & (format.signBit() - 1);
  switch (format.special) {
  case Special::Ieee:
    if (magnitude == format.infinity())
      return negative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
    if (magnitude > format.infinity())
      return makeNan(negative);
    break;
  case Special::AllOnesNan:
    if (magnitude == format.signBit() - 1)
      return makeNan(negative);
    break;
  case Special::NegZeroNan:
    if (negative && magnitude == 0)
      return makeNan(false);
    break;
  case Special::FiniteOnly:
  case Special::PowersOfTwo:
    break;
  }
  int exponent = int(magnitude >> format.mantissaBits);
  uint64_t mantissa = magnitude & ((uint64_t(1) << format.mantissaBits) - 1);
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= uint64_t(1) << format.mantissaBits;
  double value = std::ldexp(double(mantissa),
                            exponent - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

/// Every float of a format of at most eight bits.
struct SmallTable {
  std::array<double, 256> values;
  explicit SmallTable(Kind kind) {
    Format format = getFormat(kind);
    uint64_t mask = format.special == Special::PowersOfTwo
                        ? 0xff
                        : (uint64_t(1) << format.bits()) - 1;
    for (unsigned bits = 0; bits < 256; ++bits)
      values[bits] = decodeSlow(format, bits & mask);
  }
};

template <Kind kind> double decodeSmall(uint64_t bits) {
  static const SmallTable table(kind);
  return table.values[bits & 0xff];
}

} // namespace

double decodeFloat(Kind kind, uint64_t bits) {
  switch (kind) {
  case Kind::F4E2M1FN:
    return decodeSmall<Kind::F4E2M1FN>(bits);
  case Kind::F6E2M3FN:
    return decodeSmall<Kind::F6E2M3FN>(bits);
  case Kind::F6E3M2FN:
    return decodeSmall<Kind::F6E3M2FN>(bits);
  case Kind::F8E3M4:
    return decodeSmall<Kind::F8E3M4>(bits);
  case Kind::F8E4M3:
    return decodeSmall<Kind::F8E4M3>(bits);
  case Kind::F8E4M3FN:
    return decodeSmall<Kind::F8E4M3FN>(bits);
  case Kind::F8E4M3FNUZ:
    return decodeSmall<Kind::F8E4M3FNUZ>(bits);
  case Kind::F8E4M3B11FNUZ:
    return decodeSmall<Kind::F8E4M3B11FNUZ>(bits);
  case Kind::F8E5M2:
    return decodeSmall<Kind::F8E5M2>(bits);
  case Kind::F8E5M2FNUZ:
    return decodeSmall<Kind::F8E5M2FNUZ>(bits);
  case Kind::F8E8M0FNU:
    return decodeSmall<Kind::F8E8M0FNU>(bits);
  case Kind::BF16:
    return std::bit_cast<float>(uint32_t(bits << 16));
  case Kind::F16:
    return decodeSlow(getFormat(kind), bits);
  case Kind::F32:
    return std::bit_cast<float>(uint32_t(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}

uint64_t encodeFloat(Kind kind, double value) {
  if (kind == Kind::F32)
    return std::bit_cast<uint32_t>(float(value));
  if (kind == Kind::F64)
    return std::bit_cast<uint64_t>(value);
  Format format = getFormat(kind);
  bool negative = std::signbit(value);
  if (std::isnan(value))
    return encodeNan(format, negative);
  if (format.special == Special::PowersOfTwo)
    return encodeExponentOnly(format, value);
  if (std::isinf(value))
    return encodeOverflow(format, negative, /*infinite=*/true);
  uint64_t sign = negative ? format.signBit() : 0;
  if (value == 0)
    return format.special == Special::NegZeroNan ? 0 : sign;
  uint64_t significand;
  int exponent;
  split(value, significand, exponent);
  int smallest = 1 - format.bias;
  int shift = 52 - format.mantissaBits;
  uint64_t magnitude;
  if (exponent < smallest) {
    magnitude = shiftRounded(significand, shift + smallest - exponent);
  } else {
    // A carry out of the mantissa runs into the exponent, as it should.
    magnitude = (uint64_t(exponent + format.bias - 1) << format.mantissaBits) +
                shiftRounded(significand, shift);
  }
  if (magnitude > format.largest())
    return encodeOverflow(format, negative, /*infinite=*/false);
  if (magnitude == 0 && format.special == Special::NegZeroNan)
    return 0;
  return sign | magnitude;
}

FloatFormat getFloatFormat(Kind kind) {
  Format format = getFormat(getRealKind(kind));
  return {format.exponentBits, format.mantissaBits, format.bias};
}

std::optional<uint64_t> getUlpDistance(Kind kind, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b))
    return std::nullopt;
  Format format = getFormat(kind);
  // Codes in the order of the values they stand for, zero at 0.
  auto order = [&](double value) -> int64_t {
    uint64_t bits = encodeFloat(kind, value);
    if (format.special == Special::PowersOfTwo)
      return int64_t(bits);
    int64_t magnitude = int64_t(bits & (format.signBit() - 1));
    return bits & format.signBit() ? -magnitude : magnitude;
  };
  int64_t x = order(a), y = order(b);
  return x > y ? uint64_t(x) - uint64_t(y) : uint64_t(y) - uint64_t(x);
}

} // namespace alula::reference
