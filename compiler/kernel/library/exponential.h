/* exp, split so that sums can be formed before the last rounding. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/coefficients.h"

/* e^x = mantissa * 2^exponent, mantissa in [0.7, 1.42]: the sum of 1 and the
 * tail, rounded. */
typedef struct expF32 {
  float mantissa, tail;
  int32_t exponent;
} expF32;

typedef struct expF64 {
  pair mantissa;
  int64_t exponent;
} expF64;

/* |x| <= 200; a NaN stays one. */
static inline expF32 splitExpF32(float x) {
  expF32 result;
  float n = roundF32(x * (float)LOG2_E, &result.exponent);
  float r = muladdf(-n, (float)LN2_F32_0, x);
  r = muladdf(-n, (float)LN2_F32_1, r);
  result.tail = muladdf(expTailF32(r), r * r, r);
  result.mantissa = 1 + result.tail;
  return result;
}

/* e^x - 1 and the exponent that is left, for |x| <= 1500. */
static inline expF64 splitExpm1F64(double x, double xLow) {
  expF64 result;
  double n = roundF64(x * LOG2_E, &result.exponent);
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
