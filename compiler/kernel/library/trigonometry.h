/* Reduction of angles of any size to quarters of a turn, and the sine and the
 * cosine of what is left. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/coefficients.h"

/* angle = quarters * pi / 2 + rest, modulo whole turns. */
typedef struct reducedShort {
  double rest;
  int64_t quarters;
} reducedShort;

typedef struct reducedF64 {
  pair rest;
  int64_t quarters;
} reducedF64;

/* An angle in f32, to about 2^-27 of the rest even next to a multiple of
 * pi / 2. Infinities and NaN give anything finite or NaN. */
static inline reducedShort reduceShort(float x) {
  uint32_t bits = bitsOfF32(x);
  // x = small * 2^scale, where small is an integer if scale is not 0.
  int32_t scale = (int32_t)(bits >> 23 & 0xff) - 127 - 23;
  scale = scale < 0 ? 0 : scale;
  scale = scale > 104 ? 104 : scale;
  double small = floatOfBits(bits - ((uint32_t)scale << 23));
  const double *multiple = twoOverPiMultiples[scale];
  double turns = small * multiple[0];
  reducedShort result;
  double whole = roundF64(turns, &result.quarters);
  double fraction = muladd(small, multiple[1], turns - whole);
  result.rest = fraction * HALF_PI_SUM_0;
  return result;
}

/* Sine of the angle plus `turn` quarters. */
static inline double sinOfShort(reducedShort angle, int64_t turn) {
  double square = angle.rest * angle.rest;
  double sine = angle.rest * muladd(sinTailShort(square), square, 1);
  double cosine = muladd(muladd(cosTailShort(square), square, -0.5), square, 1);
  int64_t quarters = angle.quarters + turn;
  double result = quarters & 1 ? cosine : sine;
  return doubleOfBits(bitsOfF64(result) ^ (uint64_t)(quarters & 2) << 62);
}

/* An angle in f64 below 2^20, to about 2^-100. */
static inline reducedF64 reduceMedium(double x) {
  reducedF64 result;
  double n = roundF64(x * TWO_OVER_PI, &result.quarters);
  // Products of n are exact.
  double start = x - n * HALF_PI_0;
  pair second = sumExact(start, -(n * HALF_PI_1));
  pair third = sumExact(second.high, -(n * HALF_PI_2));
  double low = muladd(-n, HALF_PI_3, second.low + third.low);
  result.rest = sumOrdered(third.high, low);
  return result;
}

void alula_reduce_huge(double x, double *high, double *low, int64_t *quarters);

static inline reducedF64 reduceF64(double x) {
  reducedF64 result = reduceMedium(x);
  if (__builtin_expect(!(__builtin_fabs(x) < 0x1p20), 0))
    alula_reduce_huge(x, &result.rest.high, &result.rest.low, &result.quarters);
  return result;
}

/* Sine and cosine of an angle up to about pi / 4. */
static inline pair sinPair(pair angle) {
  double square = angle.high * angle.high;
  double tail = muladd(sinTailF64(square) * square, angle.high,
                       angle.low * muladd(-0.5, square, 1));
  return sumOrdered(angle.high, tail);
}

static inline pair cosPair(pair angle) {
  double square = angle.high * angle.high;
  pair head = sumOrdered(1, -0.5 * square);
  // The square was rounded: with exact products that is repaired.
  double lost =
      alula_has_fma ? __builtin_fma(angle.high, angle.high, -square) : 0;
  double tail = muladd(cosTailF64(square) * square, square,
                       head.low - muladd(angle.high, angle.low, 0.5 * lost));
  return sumOrdered(head.high, tail);
}

static inline double sinOfF64(reducedF64 angle, int64_t turn) {
  pair sine = sinPair(angle.rest), cosine = cosPair(angle.rest);
  int64_t quarters = angle.quarters + turn;
  double result = quarters & 1 ? cosine.high : sine.high;
  return doubleOfBits(bitsOfF64(result) ^ (uint64_t)(quarters & 2) << 62);
}
