#include "dialect/newer/float_format.h"

#include <cassert>
#include <cmath>
#include <limits>

using namespace alula::newer;

// Indexed by FloatFormat.
static constexpr FloatFormatInfo formatInfos[] = {
    {"f8E3M4", 8, 4, 3, true, true, 0x6F},
    {"f8E8M0FNU", 8, 0, 127, false, false, 0xFE},
    {"f6E2M3FN", 6, 3, 1, true, false, 0x1F},
    {"f6E3M2FN", 6, 2, 3, true, false, 0x1F},
    {"f4E2M1FN", 4, 1, 1, true, false, 0x07},
};

const FloatFormatInfo &alula::newer::getInfo(FloatFormat format) {
  return formatInfos[static_cast<unsigned>(format)];
}

std::optional<FloatFormat>
alula::newer::parseFloatFormat(llvm::StringRef name) {
  for (FloatFormat format : allFloatFormats)
    if (name == getInfo(format).name)
      return format;
  return std::nullopt;
}

static uint8_t getSignBit(const FloatFormatInfo &info) {
  return info.isSigned ? uint8_t(1u << (info.bitWidth - 1)) : uint8_t(0);
}

bool alula::newer::isNaN(FloatFormat format, uint8_t code) {
  const FloatFormatInfo &info = getInfo(format);
  if (format == FloatFormat::F8E8M0FNU)
    return code == 0xFF;
  uint8_t magnitude = code & (getSignBit(info) - 1);
  return info.hasInfinity && magnitude > info.largestFinite + 1;
}

/// The value of a finite code without its sign.
static double decodeMagnitude(const FloatFormatInfo &info, uint8_t magnitude) {
  int exponent = magnitude >> info.mantissaBits;
  int mantissa = magnitude & ((1 << info.mantissaBits) - 1);
  int mantissaBits = static_cast<int>(info.mantissaBits);
  if (info.isSigned && exponent == 0)
    return std::ldexp(mantissa, 1 - info.bias - mantissaBits);
  return std::ldexp((1 << mantissaBits) + mantissa,
                    exponent - info.bias - mantissaBits);
}

double alula::newer::decode(FloatFormat format, uint8_t code) {
  const FloatFormatInfo &info = getInfo(format);
  if (isNaN(format, code))
    return std::numeric_limits<double>::quiet_NaN();
  uint8_t sign = getSignBit(info);
  uint8_t magnitude = info.isSigned ? code & (sign - 1) : code;
  double value = info.hasInfinity && magnitude > info.largestFinite
                     ? std::numeric_limits<double>::infinity()
                     : decodeMagnitude(info, magnitude);
  return code & sign ? -value : value;
}

/// The power of two nearest to `value`; in the middle the larger one.
static uint8_t encodePowerOfTwo(double value) {
  if (std::isnan(value) || std::isinf(value) ||
      (std::signbit(value) && value != 0))
    return 0xFF;
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(value, &exponent); // in [0.5, 1)
  int code = exponent - 1 + 127 + (fraction >= 0.75 ? 1 : 0);
  if (code > 0xFE)
    return 0xFF;
  return static_cast<uint8_t>(code < 0 ? 0 : code);
}

uint8_t alula::newer::encode(FloatFormat format, double value) {
  const FloatFormatInfo &info = getInfo(format);
  if (format == FloatFormat::F8E8M0FNU)
    return encodePowerOfTwo(value);

  uint8_t sign = getSignBit(info);
  bool isNegative = std::signbit(value);
  if (std::isnan(value)) {
    if (!info.hasInfinity)
      return isNegative ? 0 : sign;
    uint8_t quietNaN = uint8_t(info.largestFinite + 1) |
                       uint8_t(1u << (info.mantissaBits - 1));
    return isNegative ? quietNaN | sign : quietNaN;
  }

  // Codes of one sign are ordered by value, so that the nearest one is found
  // by halving, and "even" means an even code.
  double magnitude = std::fabs(value);
  unsigned low = 0, high = info.largestFinite + 1u;
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    if (decodeMagnitude(info, uint8_t(middle)) <= magnitude)
      low = middle;
    else
      high = middle;
  }
  unsigned code = low;
  // One past the largest decodes to where the next value would be, which is
  // the border that rounding to infinity needs.
  double below = decodeMagnitude(info, uint8_t(low));
  double above = decodeMagnitude(info, uint8_t(high));
  double middle = below + (above - below) / 2;
  if (magnitude > middle || (magnitude == middle && (low & 1)))
    code = high;
  if (code > info.largestFinite && !info.hasInfinity)
    code = info.largestFinite;
  return uint8_t(code) | (isNegative ? sign : 0);
}
