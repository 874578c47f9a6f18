/* The one algorithm behind all small floats; with constant arguments little of
 * it is left. */
#pragma once

#include "alula/dtype.h"
#include "compiler/kernel/library/arithmetic.h"

typedef struct smallFloat {
  int32_t exponentBits, mantissaBits, bias;
  alula_float_specials specials;
} smallFloat;

static inline uint32_t signOf(smallFloat f) {
  return 1u << (f.exponentBits + f.mantissaBits);
}

/* The code of infinity, or what would be it. */
static inline uint32_t endOf(smallFloat f) {
  return ((1u << f.exponentBits) - 1) << f.mantissaBits;
}

static inline uint32_t largestOf(smallFloat f) {
  switch (f.specials) {
  case ALULA_FLOAT_IEEE:
    return endOf(f) - 1;
  case ALULA_FLOAT_FN:
    return signOf(f) - 2;
  default:
    return signOf(f) - 1;
  }
}

/* From the code that a number would have without an end, and its sign. */
static inline int32_t finishCode(smallFloat f, uint32_t size, int isNegative,
                                 int isNan) {
  uint32_t sign = isNegative ? signOf(f) : 0;
  uint32_t beyond, nan;
  switch (f.specials) {
  case ALULA_FLOAT_IEEE:
    beyond = sign | endOf(f);
    nan = beyond | 1u << (f.mantissaBits - 1);
    break;
  case ALULA_FLOAT_FN:
    nan = beyond = sign | (signOf(f) - 1);
    break;
  case ALULA_FLOAT_FNUZ:
    nan = beyond = signOf(f);
    // There is no -0.
    sign = size == 0 ? 0 : sign;
    break;
  default:
    beyond = sign | largestOf(f);
    nan = sign ^ signOf(f);
    break;
  }
  uint32_t code = size > largestOf(f) ? beyond : sign | size;
  return (int32_t)(isNan ? nan : code);
}

/* Powers of two alone: the exponent of x, up from the middle. */
static inline int32_t encodeExponentF32(float x) {
  uint32_t bits = bitsOfF32(x);
  uint32_t code = (bits + 0x400000u) >> 23;
  code = bits < 0x800000u ? bits >= 0x600000u : code;
  return x > 0 && x < INFINITY_F32 ? (int32_t)code : 0xff;
}

static inline int32_t encodeExponentF64(double x) {
  int64_t code = (int64_t)((bitsOfF64(x) + 0x8000000000000u) >> 52) - 896;
  code = code < 0 ? 0 : code;
  return x > 0 && code < 0xff ? (int32_t)code : 0xff;
}

static inline int32_t encodeF32(smallFloat f, float x) {
  if (f.specials == ALULA_FLOAT_E8M0)
    return encodeExponentF32(x);
  uint32_t bits = bitsOfF32(x) & 0x7fffffffu;
  // Numbers with a leading one: the exponent changes its bias.
  int32_t shift = 23 - f.mantissaBits;
  uint32_t even = bits >> shift & 1;
  uint32_t normal = ((bits + (1u << (shift - 1)) - 1 + even) >> shift) -
                    ((uint32_t)(127 - f.bias) << f.mantissaBits);
  uint32_t size = normal;
  if (f.bias < 127) {
    // Below, a sum with a large number rounds to the smallest unit.
    float magic = powerOfTwoF32(24 - f.bias - f.mantissaBits);
    uint32_t denormal = bitsOfF32(floatOfBits(bits) + magic) - bitsOfF32(magic);
    size = bits < (uint32_t)(128 - f.bias) << 23 ? denormal : normal;
  }
  size = bits < 0x7f800000u ? size : 0x40000000u;
  return finishCode(f, size, (int)(bitsOfF32(x) >> 31), x != x);
}

static inline int32_t encodeF64(smallFloat f, double x) {
  if (f.specials == ALULA_FLOAT_E8M0)
    return encodeExponentF64(x);
  uint64_t bits = bitsOfF64(x) & 0x7fffffffffffffffu;
  int32_t shift = 52 - f.mantissaBits;
  uint64_t even = bits >> shift & 1;
  uint64_t normal =
      ((bits + ((uint64_t)1 << (shift - 1)) - 1 + even) >> shift) -
      ((uint64_t)(1023 - f.bias) << f.mantissaBits);
  double magic = powerOfTwoF64(53 - f.bias - f.mantissaBits);
  uint64_t denormal = bitsOfF64(doubleOfBits(bits) + magic) - bitsOfF64(magic);
  uint64_t size = bits < (uint64_t)(1024 - f.bias) << 52 ? denormal : normal;
  size = size < 0x40000000u ? size : 0x40000000u;
  return finishCode(f, (uint32_t)size, (int)(bitsOfF64(x) >> 63), x != x);
}

static inline float decodeF32(smallFloat f, int32_t code) {
  if (f.specials == ALULA_FLOAT_E8M0) {
    uint32_t exponent = (uint32_t)code & 0xff;
    float value = floatOfBits(exponent == 0 ? 0x400000u : exponent << 23);
    return exponent == 0xff ? NAN_F32 : value;
  }
  uint32_t size = (uint32_t)code & (signOf(f) - 1);
  uint32_t sign = (uint32_t)code & signOf(f);
  uint32_t normal =
      (size << (23 - f.mantissaBits)) + ((uint32_t)(127 - f.bias) << 23);
  uint32_t bits = normal;
  if (f.bias < 127) {
    float small =
        (float)(int32_t)size * powerOfTwoF32(1 - f.bias - f.mantissaBits);
    bits = size < 1u << f.mantissaBits ? bitsOfF32(small) : normal;
  }
  uint32_t infinity = 0x7f800000u, nan = 0x7fc00000u;
  switch (f.specials) {
  case ALULA_FLOAT_IEEE:
    bits = size == endOf(f) ? infinity : size > endOf(f) ? nan : bits;
    break;
  case ALULA_FLOAT_FN:
    bits = size == signOf(f) - 1 ? nan : bits;
    break;
  case ALULA_FLOAT_FNUZ:
    bits = size == 0 && sign != 0 ? nan : bits;
    sign = size == 0 ? 0 : sign;
    break;
  default:
    break;
  }
  return floatOfBits(bits | (sign == 0 ? 0 : 0x80000000u));
}
