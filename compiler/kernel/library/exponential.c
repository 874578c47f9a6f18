/* exp, expm1, logistic, tanh, and the hyperbolic functions for complex ones. */
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/real_math.h"

ALULA_INLINE float alula_exp_f32(float x) {
  expF32 e = splitExpF32(clampF32(x, -106, 90));
  return scaleF32(e.mantissa, e.exponent);
}

ALULA_INLINE double alula_exp_f64(double x) {
  expF64 e = splitExpF64(clampF64(x, -750, 720), 0);
  return scaleF64(e.mantissa.high + e.mantissa.low, e.exponent);
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
  expF32 e = splitExpF32(-clampF32(__builtin_fabsf(x), 0, 106));
  float low = e.tail - (e.mantissa - 1);
  int32_t exponent = e.exponent < -60 ? -60 : e.exponent;
  float scale = powerOfTwoF32(exponent);
  float z = e.mantissa * scale;
  float sum = 1 + z;
  float lost = muladdf(low, scale, z - (sum - 1));
  float reciprocal = 1 / sum;
  // What the sum has lost, and with exact products the reciprocal too.
  float rest = alula_has_fma ? __builtin_fmaf(-reciprocal, sum, 1) : 0;
  rest = reciprocal * muladdf(-reciprocal, lost, rest);
  float positive = reciprocal + rest;
  float negative = scaleF32(
      muladdf(e.mantissa, reciprocal,
              muladdf(low, reciprocal, e.mantissa * rest)),
      e.exponent);
  return x < 0 ? negative : positive;
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
  return scaleF64(quotient.high + quotient.low, isNegative ? e.exponent : 0);
}

ALULA_INLINE float alula_tanh_f32(float x) {
  float size = __builtin_fabsf(x);
  float square = x * x;
  float near = muladdf(tanhTailF32(square) * square, x, x);
  // 1 - 2 / (e^2|x| + 1)
  expF32 e = splitExpF32(clampF32(2 * size, 0, 20));
  float grown = e.mantissa * powerOfTwoF32(e.exponent);
  float far = copySignF32(1 - 2 / (grown + 1), x);
  float result = size < 0.625f ? near : far;
  // NaN, and the sign of zero.
  return size > 0 ? result : x;
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
