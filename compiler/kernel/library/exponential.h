/* exp, split so that sums can be formed before the last rounding. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/coefficients.h"

/* x = n ln 2 + rest, |rest| <= ln 2 / 2 and a little. */
typedef struct reducedF32 {
  float rest, n;
  int32_t exponent;
} reducedF32;

/* e^x = mantissa * 2^n, mantissa in [0.7, 1.42]: the sum of 1 and the tail,
 * rounded. */
typedef struct expF32 {
  float mantissa, tail, n;
  int32_t exponent;
} expF32;

typedef struct expF64 {
  pair mantissa;
  double n;
  int64_t exponent;
} expF64;

/* Adding it leaves an integer and the bias of exponents in the low bits: 2^n is
 * these shifted, no more. */
#define EXPONENT_MAGIC_F32 0x1.8000fep23f

/* |x| <= 200; a NaN stays one. */
static inline reducedF32 reduceExpF32(float x) {
  float shifted = muladdf(x, (float)LOG2_E, EXPONENT_MAGIC_F32);
  float n = shifted - EXPONENT_MAGIC_F32;
  float rest = muladdf(-n, (float)LN2_F32_0, x);
  rest = muladdf(-n, (float)LN2_F32_1, rest);
  return (reducedF32){rest, n, (int32_t)(bitsOfF32(shifted) - 0x4b40007fu)};
}

/* |x| <= 200; a NaN stays one. */
static inline expF32 splitExpF32(float x) {
  reducedF32 reduced = reduceExpF32(x);
  float r = reduced.rest;
  float tail = muladdf(expTailF32(r), r * r, r);
  return (expF32){1 + tail, tail, reduced.n, reduced.exponent};
}

/* e^x for |x| <= ln 2 / 2: the order that each machine rounds well. */
static inline float expNearF32(float x) {
  float p = expTailF32(x);
  if (alula_has_fma)
    return muladdf(muladdf(p, x, 1), x, 1);
  return 1 + (p * (x * x) + x);
}

/* e^x - 1 within a unit and a half for x from -40 to 40: n ln 2 is precise
 * enough in one piece. */
static inline float expm1NearF32(float x) {
  float shifted = muladdf(x, (float)LOG2_E, EXPONENT_MAGIC_F32);
  float n = shifted - EXPONENT_MAGIC_F32;
  float r = muladdf(-n, (float)LN2_0, x);
  // Where n is small, the sum of the two is exact.
  float scale = floatOfBits(bitsOfF32(shifted) << 23);
  float scaled = scale * r;
  return muladdf(expTailF32(r), scaled * r, scaled + (scale - 1));
}

/* e^x - 1 and the exponent that is left, for |x| <= 1500. */
static inline expF64 splitExpm1F64(double x, double xLow) {
  expF64 result;
  double n = roundF64(x * LOG2_E, &result.exponent);
  result.n = n;
  double high = muladd(-n, LN2_0, x);
  double low = muladd(n, LN2_1, -xLow);
  double r = high - low;
  double lost = (high - r) - low;
  // e^(r + lost) - 1 = r + (r^2 tail + lost (1 + r))
  double tail = muladd(expTailF64(r), r * r, muladd(lost, r, lost));
  result.mantissa = sumOrdered(r, tail);
  return result;
}

/* e^(x + xLow) for |x| <= 1500; a NaN stays one. */
static inline expF64 splitExpF64(double x, double xLow) {
  expF64 result = splitExpm1F64(x, xLow);
  pair one = sumOrdered(1, result.mantissa.high);
  result.mantissa = sumOrdered(one.high, one.low + result.mantissa.low);
  return result;
}

static inline double clampF64(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

static inline float clampF32(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/* e^x in double for arguments and results in f32. */
static inline double expShort(double x) {
  int64_t exponent;
  x = clampF64(x, -250, 250);
  double n = roundF64(x * LOG2_E, &exponent);
  double r = muladd(-n, LN2_0, x);
  r = muladd(-n, LN2_1, r);
  double tail = muladd(expTailShort(r), r * r, r);
  return (1 + tail) * powerOfTwoF64(exponent);
}

/* e^x - 1 likewise; right relative to itself near zero. */
static inline double expm1Short(double x) {
  int64_t exponent;
  x = clampF64(x, -250, 250);
  double n = roundF64(x * LOG2_E, &exponent);
  double r = muladd(-n, LN2_0, x);
  r = muladd(-n, LN2_1, r);
  double tail = muladd(expTailShort(r), r * r, r);
  double scale = powerOfTwoF64(exponent);
  return muladd(scale, tail, scale - 1);
}
