/* log, split so that sums and products can be formed before the last
 * rounding. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/coefficients.h"

/* x = mantissa * 2^exponent, mantissa in [sqrt 1/2, sqrt 2], for x positive and
 * finite; of anything else the mantissa and the exponent are just numbers. */
typedef struct splitF32 {
  float mantissa;
  int32_t exponent;
} splitF32;

typedef struct splitF64 {
  double mantissa;
  int64_t exponent;
} splitF64;

static inline splitF32 splitOfF32(float x) {
  int isSmall = x < 0x1p-126f;
  uint32_t bits = bitsOfF32(isSmall ? x * 0x1p25f : x);
  // The bits of sqrt 1/2 become the start of an exponent.
  uint32_t shifted = bits - 0x3f3504f3u;
  int32_t exponent = (int32_t)shifted >> 23;
  uint32_t mantissa = (shifted & 0x7fffffu) + 0x3f3504f3u;
  return (splitF32){floatOfBits(mantissa), exponent - (isSmall ? 25 : 0)};
}

static inline splitF64 splitOfF64(double x) {
  int isSmall = x < 0x1p-1022;
  uint64_t bits = bitsOfF64(isSmall ? x * 0x1p54 : x);
  uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;
  int64_t exponent = (int64_t)shifted >> 52;
  uint64_t mantissa = (shifted & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu;
  return (splitF64){doubleOfBits(mantissa), exponent - (isSmall ? 54 : 0)};
}

/* An integer of up to 2^51 as a double: vectors of 64-bit integers have no
 * conversion before AVX-512. */
static inline double doubleOfInt(int64_t n) {
  return doubleOfBits((uint64_t)n + 0x4338000000000000u) - ROUND_MAGIC_F64;
}

/* log(2^exponent * (1 + f)), within about half a unit; f in [-0.293, 0.415]
 * and fLow below half a unit of 1 + f. */
static inline double logOf1pF64(double f, double fLow, double exponent) {
  double s = f / (2 + f);
  double z = s * s;
  double halfSquare = 0.5 * f * f;
  double tail = s * (halfSquare + z * logTailF64(z));
  // f - f^2/2 + tail: the square with what its rounding loses.
  pair square = productExact(f, f);
  pair head = sumOrdered(f, -0.5 * square.high);
  double low = head.low - 0.5 * square.low;
  pair sum = sumOrdered(exponent * LN2_0, head.high);
  low += muladd(exponent, LN2_1, fLow * (1 - f * (1 - f)));
  return sum.high + (sum.low + (low + tail));
}

/* log x to about 2^-67 of itself, for x positive and finite. */
static inline pair logPair(double x) {
  splitF64 split = splitOfF64(x);
  double f = split.mantissa - 1;
  double exponent = doubleOfInt(split.exponent);
  pair s = pairQuotient((pair){f, 0}, sumOrdered(2, f));
  pair square = pairProduct(s, s);
  // 2 s + s^3 (2/3 + s^2 tail)
  double z = square.high;
  pair factor = sumOrdered(TWO_THIRDS_0, z * logTailLong(z));
  factor.low += TWO_THIRDS_1;
  pair cubic = pairProduct(pairProduct(s, square), factor);
  pair head = pairSum((pair){2 * s.high, 2 * s.low}, cubic);
  pair base = productExact(exponent, LN2_SUM_0);
  base.low = muladd(exponent, LN2_SUM_1, base.low);
  return pairSum(base, head);
}

/* log x in double for results in f32; x is positive, finite and normal. */
static inline double logShort(double x) {
  uint64_t shifted = bitsOfF64(x) - 0x3fe6a09e667f3bcdu;
  int64_t exponent = (int64_t)shifted >> 52;
  double m = doubleOfBits((shifted & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  double s = (m - 1) / (m + 1);
  double z = s * s;
  double log = muladd(logTailShort(z) * z, s, 2 * s);
  return muladd(doubleOfInt(exponent), LN2_SUM_0, log);
}
