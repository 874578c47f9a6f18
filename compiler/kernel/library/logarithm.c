/* log, log1p. */
#include "compiler/kernel/library/logarithm.h"
#include "compiler/kernel/library/real_math.h"

ALULA_INLINE float alula_log_f32(float x) {
  splitF32 split = splitOfF32(x);
  float f = split.mantissa - 1;
  float exponent = (float)split.exponent;
  float square = f * f;
  float tail = muladdf(logTailF32(f) * f, square, exponent * (float)LN2_F32_1);
  tail = muladdf(-0.5f, square, tail);
  // The first product is exact; what the sum loses goes to the tail.
  float base = exponent * (float)LN2_F32_0;
  float sum = base + f;
  float lost = (base - sum) + f;
  float result = sum + (lost + tail);
  result = x < INFINITY_F32 ? result : x;
  result = x == 0 ? -INFINITY_F32 : result;
  return x < 0 ? NAN_F32 : result;
}

static inline double finishLogF64(double x, double result) {
  result = x < INFINITY_F64 ? result : x;
  result = x == 0 ? -INFINITY_F64 : result;
  return x < 0 ? NAN_F64 : result;
}

ALULA_INLINE double alula_log_f64(double x) {
  splitF64 split = splitOfF64(x);
  double result =
      logOf1pF64(split.mantissa - 1, 0, doubleOfInt(split.exponent));
  return finishLogF64(x, result);
}

ALULA_INLINE float alula_log1p_f32(float x) {
  // In double 1 + x is exact enough unless x is small: then log(1 + x) is
  // log u * x / (u - 1) for the rounded u.
  double wide = x;
  double u = 1 + wide;
  double lost = wide - (u - 1);
  double result = logShort(u) + lost / u;
  result = x < INFINITY_F32 ? result : wide;
  result = x == -1 ? -INFINITY_F64 : result;
  result = x == 0 ? wide : result;
  return x < -1 ? NAN_F32 : (float)result;
}

ALULA_INLINE double alula_log1p_f64(double x) {
  pair u = sumExact(1, x);
  splitF64 split = splitOfF64(u.high);
  // Where the factor is not a normal number the low part is nothing.
  double factor = split.exponent > 1000 ? 0 : powerOfTwoF64(-split.exponent);
  pair f = sumOrdered(split.mantissa - 1, u.low * factor);
  double result = logOf1pF64(f.high, f.low, doubleOfInt(split.exponent));
  result = finishLogF64(u.high, result);
  return __builtin_fabs(x) < 0x1p-60 ? x : result;
}
