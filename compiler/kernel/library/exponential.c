/* exp, expm1, logistic, tanh, and the hyperbolic functions for complex ones. */
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/real_math.h"

float alula_scale_f32(float x, float n, int32_t integer) {
  (void)n;
  return scaleF32(x, integer);
}

double alula_scale_f64(double x, double n, int64_t integer) {
  (void)n;
  return scaleF64(x, integer);
}

ALULA_INLINE float alula_exp_f32(float x) {
  reducedF32 reduced = reduceExpF32(clampF32(x, -106, 90));
  return alula_scale_f32(expNearF32(reduced.rest), reduced.n,
                         reduced.exponent);
}

ALULA_INLINE double alula_exp_f64(double x) {
  expF64 e = splitExpF64(clampF64(x, -750, 720), 0);
  return alula_scale_f64(e.mantissa.high + e.mantissa.low, e.n, e.exponent);
}

ALULA_INLINE float alula_expm1_f32(float x) {
  // Below 2^-25 the result is x, and -0 must stay.
  float result = (float)expm1Short(x);
  return x == 0 ? x : result;
}

ALULA_INLINE double alula_expm1_f64(double x) {
  expF64 e = splitExpm1F64(clampF64(x, -50, 710), 0);
  // 2^n (1 + mantissa) - 1, halved so that 2^1024 isn't met on the way.
  double half = powerOfTwoF64(e.exponent - 1);
  pair base = sumExact(half, -0.5);
  pair sum = sumExact(base.high, half * e.mantissa.high);
  double result =
      2 * (sum.high + (sum.low + (base.low + half * e.mantissa.low)));
  // A denormal must not be halved.
  return __builtin_fabs(x) < 0x1p-60 ? x : result;
}

ALULA_INLINE float alula_logistic_f32(float x) {
  // 1 / (1 + z) or z / (1 + z) with z = e^-|x|: nothing overflows. The
  // numerator is scaled last, where the result may be denormal.
  reducedF32 e = reduceExpF32(-clampF32(__builtin_fabsf(x), 0, 106));
  float mantissa = expNearF32(e.rest);
  int32_t exponent = e.exponent < -60 ? -60 : e.exponent;
  float z = mantissa * powerOfTwoF32(exponent);
  float sum = 1 + z;
  float lost = z - (sum - 1);
  int isNegative = x < 0;
  float quotient = (isNegative ? mantissa : 1) / sum;
  // What the sum loses, but for a factor between 1/2 and 1.
  quotient = muladdf(-quotient, lost, quotient);
  return alula_scale_f32(quotient, isNegative ? e.n : 0,
                         isNegative ? e.exponent : 0);
}

ALULA_INLINE double alula_logistic_f64(double x) {
  expF64 e = splitExpF64(-clampF64(__builtin_fabs(x), 0, 750), 0);
  int64_t exponent = e.exponent < -200 ? -200 : e.exponent;
  double scale = powerOfTwoF64(exponent);
  pair sum = sumOrdered(1, e.mantissa.high * scale);
  sum.low += e.mantissa.low * scale;
  int isNegative = x < 0;
  pair numerator = {isNegative ? e.mantissa.high : 1,
                    isNegative ? e.mantissa.low : 0};
  pair quotient = pairQuotient(numerator, sum);
  return alula_scale_f64(quotient.high + quotient.low, isNegative ? e.n : 0,
                         isNegative ? e.exponent : 0);
}

ALULA_INLINE float alula_tanh_f32(float x) {
  // t / (t + 2) with t = e^2|x| - 1, from 10 on 1; where n is zero t = e^-2|x| -
  // 1, whose sum with 2 loses less.
  float size = clampF32(__builtin_fabsf(x), 0, 10);
  float t = expm1NearF32(size * (size < 0.17328f ? -2.0f : 2.0f));
  float sum = t + 2, result = t / sum;
  // Without fused products t is worse, and what the sum has lost counts.
  if (!alula_has_fma)
    result -= result * (t - (sum - 2)) / sum;
  return copySignF32(result, x);
}

ALULA_INLINE double alula_tanh_f64(double x) {
  // t / (t + 2) with t = e^2|x| - 1
  double size = __builtin_fabs(x);
  expF64 e = splitExpm1F64(clampF64(2 * size, 0, 60), 0);
  double scale = powerOfTwoF64(e.exponent);
  pair t = sumExact(scale - 1, scale * e.mantissa.high);
  t = sumOrdered(t.high, t.low + scale * e.mantissa.low);
  pair sum = sumExact(2, t.high);
  sum.low += t.low;
  pair quotient = pairQuotient(t, sum);
  double result = copySignF64(quotient.high + quotient.low, x);
  result = size < 0x1p-30 ? x : result;
  return x != x ? x : result;
}

double alula_sinh_f64(double x) {
  // t = e^|x| - 1: sinh = (t + t / (t + 1)) / 2
  double size = __builtin_fabs(x);
  expF64 e = splitExpm1F64(clampF64(size, 0, 50), 0);
  double scale = powerOfTwoF64(e.exponent);
  pair base = sumExact(scale, -1);
  pair t = sumExact(base.high, scale * e.mantissa.high);
  t = sumOrdered(t.high, t.low + (base.low + scale * e.mantissa.low));
  pair sum = sumExact(t.high, 1);
  sum = sumOrdered(sum.high, sum.low + t.low);
  pair total = pairSum(t, pairQuotient(t, sum));
  double near = 0.5 * (total.high + total.low);
  expF64 large = splitExpF64(clampF64(size, 0, 720), 0);
  double far =
      scaleF64(large.mantissa.high + large.mantissa.low, large.exponent - 1);
  double result = copySignF64(size > 40 ? far : near, x);
  return size < 0x1p-30 || x != x ? x : result;
}

double alula_cosh_f64(double x) {
  expF64 e = splitExpF64(clampF64(__builtin_fabs(x), 0, 720), 0);
  double far = scaleF64(e.mantissa.high + e.mantissa.low, e.exponent - 1);
  double scale = powerOfTwoF64(e.exponent > 100 ? 100 : e.exponent);
  pair grown = {e.mantissa.high * scale, e.mantissa.low * scale};
  pair total = pairSum(grown, pairQuotient((pair){1, 0}, grown));
  return e.exponent > 80 ? far : 0.5 * (total.high + total.low);
}
