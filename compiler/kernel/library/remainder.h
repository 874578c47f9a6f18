/* x - trunc(x / y) * y, exactly. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"

/* m * 2^n modulo d, for m < d < 2^53. */
static inline uint64_t shiftedModulo(uint64_t m, int64_t n, uint64_t d) {
  for (; n > 11; n -= 11)
    m = (m << 11) % d;
  return (m << n) % d;
}

static inline double remainderF64(double x, double y) {
  double up = __builtin_fabs(x), down = __builtin_fabs(y);
  if (!(up < INFINITY_F64) || !(down > 0))
    return NAN_F64;
  if (up < down || y != y)
    return y != y ? y : x;
  uint64_t upBits = bitsOfF64(up), downBits = bitsOfF64(down);
  int64_t upExponent = (int64_t)(upBits >> 52);
  int64_t downExponent = (int64_t)(downBits >> 52);
  uint64_t mask = 0xfffffffffffffu, one = mask + 1;
  uint64_t m = upExponent ? (upBits & mask) | one : upBits;
  uint64_t d = downExponent ? (downBits & mask) | one : downBits;
  upExponent += upExponent == 0;
  downExponent += downExponent == 0;
  m = shiftedModulo(m % d, upExponent - downExponent, d);
  if (m == 0)
    return copySignF64(0, x);
  int64_t zeros = __builtin_clzll(m) - 11;
  int64_t normal = downExponent - 1;
  int64_t shift = zeros < normal ? zeros : normal;
  // The leading one adds itself to the exponent.
  uint64_t result = (m << shift) + ((uint64_t)(normal - shift) << 52);
  return copySignF64(doubleOfBits(result), x);
}

/* m * 2^n modulo d, for m < d < 2^24. */
static inline uint64_t shiftedModuloF32(uint64_t m, int32_t n, uint64_t d) {
  for (; n > 40; n -= 40)
    m = (m << 40) % d;
  return (m << n) % d;
}

static inline float remainderF32(float x, float y) {
  float up = __builtin_fabsf(x), down = __builtin_fabsf(y);
  if (!(up < INFINITY_F32) || !(down > 0))
    return NAN_F32;
  if (up < down || y != y)
    return y != y ? y : x;
  uint32_t upBits = bitsOfF32(up), downBits = bitsOfF32(down);
  int32_t upExponent = (int32_t)(upBits >> 23);
  int32_t downExponent = (int32_t)(downBits >> 23);
  uint64_t m = upExponent ? (upBits & 0x7fffffu) | 0x800000u : upBits;
  uint64_t d = downExponent ? (downBits & 0x7fffffu) | 0x800000u : downBits;
  upExponent += upExponent == 0;
  downExponent += downExponent == 0;
  m = shiftedModuloF32(m % d, upExponent - downExponent, d);
  // An integer below 2^24 times a power of two: both steps are exact.
  float result = (float)(int32_t)m;
  int32_t scale = downExponent - 150;
  int32_t half = scale / 2;
  result = result * powerOfTwoF32(half) * powerOfTwoF32(scale - half);
  return copySignF32(result, x);
}
