/* pow and roots. */
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/logarithm.h"
#include "compiler/kernel/library/real_math.h"

/* What pow gives beside numbers of ordinary size: `size` is |x|^y where x is
 * positive and finite. The rules are C's. */
static inline double finishPower(double x, double y, double size) {
  double result = size;
  int isOdd = __builtin_trunc(y) == y && __builtin_trunc(0.5 * y) != 0.5 * y;
  int isInteger = __builtin_trunc(y) == y;
  double zeroOrInfinity = (x == 0) == (y < 0) ? INFINITY_F64 : 0;
  result =
      x == 0 || __builtin_fabs(x) == INFINITY_F64 ? zeroOrInfinity : result;
  result = bitsOfF64(x) >> 63 && isOdd ? -result : result;
  result = x < 0 && x > -INFINITY_F64 && !isInteger ? NAN_F64 : result;
  result = x == -1 && __builtin_fabs(y) == INFINITY_F64 ? 1 : result;
  result = x != x || y != y ? NAN_F64 : result;
  return x == 1 || y == 0 ? 1 : result;
}

ALULA_INLINE float alula_pow_f32(float x, float y) {
  double wide = x;
  double size = expShort(logShort(__builtin_fabs(wide)) * y);
  return (float)finishPower(wide, y, size);
}

double alula_pow_f64(double x, double y) {
  // Any larger exponent over- or underflows just as well.
  double limited = clampF64(y, -0x1p65, 0x1p65);
  pair product = pairTimes(logPair(__builtin_fabs(x)), limited);
  double high = clampF64(product.high, -750, 720);
  double low = high == product.high ? product.low : 0;
  expF64 e = splitExpF64(high, low);
  double size = scaleF64(e.mantissa.high + e.mantissa.low, e.exponent);
  return finishPower(x, y, size);
}

ALULA_INLINE float alula_cbrt_f32(float x) {
  float size = __builtin_fabsf(x);
  int isSmall = size < 0x1p-126f;
  float scaled = isSmall ? size * 0x1p24f : size;
  // A third of the exponent, with a bias that makes the error least.
  double root = floatOfBits(bitsOfF32(scaled) / 3 + 709958130u);
  double cube = root * root * root;
  root = root * (cube + 2.0 * scaled) / (2 * cube + scaled);
  cube = root * root * root;
  root = root * (cube + 2.0 * scaled) / (2 * cube + scaled);
  float result = copySignF32((float)(isSmall ? root * 0x1p-8 : root), x);
  return x == 0 || !(size < INFINITY_F32) ? x : result;
}

ALULA_INLINE double alula_cbrt_f64(double x) {
  double size = __builtin_fabs(x);
  int isSmall = size < 0x1p-1022;
  // In the middle of the range nothing over- or underflows.
  double scaled = isSmall ? size * 0x1p54 : size;
  uint32_t top = (uint32_t)(bitsOfF64(scaled) >> 32);
  uint32_t third = top / 3;
  // x = m * 8^e, m in about [1, 8)
  int64_t e = ((int64_t)third >> 20) - 341;
  double m = scaled * powerOfTwoF64(-2 * e) * powerOfTwoF64(-e);
  double root =
      doubleOfBits((uint64_t)(third + 715094163u) << 32) * powerOfTwoF64(-e);
  double cube = root * root * root;
  root = root * (cube + 2 * m) / (2 * cube + m);
  cube = root * root * root;
  root = root * (cube + 2 * m) / (2 * cube + m);
  // Cut to 26 bits: its square is exact.
  root = doubleOfBits((bitsOfF64(root) + 0x4000000u) & ~(uint64_t)0x7ffffff);
  double quotient = m / (root * root);
  double rest = (quotient - root) / (2 * root + quotient);
  root = muladd(root, rest, root) * powerOfTwoF64(e);
  double result = copySignF64(isSmall ? root * 0x1p-18 : root, x);
  return x == 0 || !(size < INFINITY_F64) ? x : result;
}

ALULA_INLINE float alula_sqrt_f32(float x) { return __builtin_sqrtf(x); }

ALULA_INLINE double alula_sqrt_f64(double x) { return __builtin_sqrt(x); }

ALULA_INLINE float alula_rsqrt_f32(float x) { return 1 / __builtin_sqrtf(x); }

ALULA_INLINE double alula_rsqrt_f64(double x) { return 1 / __builtin_sqrt(x); }
