/* sin, cos, tan. */
#include "compiler/kernel/library/trigonometry.h"
#include "compiler/kernel/library/real_math.h"
#include "compiler/kernel/library/wide_integer.h"

/* The upper 64 bits of a product. */
static inline uint64_t multiplyHigh(uint64_t a, uint64_t b) {
  return multiplyWide(a, b).high;
}

/* 64 bits of 2/pi after the first `skipped`, which may be negative. */
static inline uint64_t bitsOfTwoOverPi(int64_t skipped) {
  int64_t word = skipped >> 6;
  int64_t shift = skipped & 63;
  uint64_t first = word < 0 ? 0 : twoOverPi[word];
  uint64_t second = word + 1 < 0 ? 0 : twoOverPi[word + 1];
  return shift == 0 ? first : first << shift | second >> (64 - shift);
}

/* The method of Payne and Hanek: of x * 2/pi only the bits are computed that
 * matter modulo 4, as an integer of 192 bits below them. |x| >= 2^20. */
void alula_reduce_huge(double x, double *high, double *low, int64_t *quarters) {
  uint64_t bits = bitsOfF64(x);
  uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023 - 52;
  exponent = exponent > 971 ? 971 : exponent;
  // Bits whose product with the mantissa is a multiple of 4 are skipped.
  int64_t skipped = exponent - 2;
  uint64_t a = bitsOfTwoOverPi(skipped);
  uint64_t b = bitsOfTwoOverPi(skipped + 64);
  uint64_t c = bitsOfTwoOverPi(skipped + 128);
  uint64_t bLow = mantissa * b;
  uint64_t third = mantissa * c;
  uint64_t second = bLow + multiplyHigh(mantissa, c);
  uint64_t first = mantissa * a + multiplyHigh(mantissa, b) + (second < bLow);

  uint64_t whole = first >> 62;
  first = first << 2 | second >> 62;
  second = second << 2 | third >> 62;
  third <<= 2;
  // The nearest whole: a fraction of a half and more is negative.
  uint64_t negative = 0 - (first >> 63);
  whole -= negative;
  first ^= negative;
  second ^= negative;
  third ^= negative;

  // No double is closer to a multiple of pi / 2 than some 62 bits.
  int64_t zeros = first == 0 ? 64 : __builtin_clzll(first);
  if (zeros == 64) {
    first = second;
    second = third;
  } else if (zeros != 0) {
    first = first << zeros | second >> (64 - zeros);
    second = second << zeros | third >> (64 - zeros);
  }
  double upper = (double)(int64_t)(first >> 11);
  double lower =
      (double)(int64_t)((first << 53 | second >> 11) >> 11) * 0x1p-53;
  double scale = powerOfTwoF64(-53 - zeros);
  pair rest = pairProduct((pair){HALF_PI_SUM_0, HALF_PI_SUM_1},
                          (pair){upper * scale, lower * scale});
  // Signs of the fraction and of x.
  int flip = (negative != 0) != (x < 0);
  *high = flip ? -rest.high : rest.high;
  *low = flip ? -rest.low : rest.low;
  *quarters = x < 0 ? -(int64_t)whole : (int64_t)whole;
}

static inline float finishF32(float x, double result) {
  return __builtin_fabsf(x) < INFINITY_F32 ? (float)result : NAN_F32;
}

static inline double finishF64(double x, double result) {
  return __builtin_fabs(x) < INFINITY_F64 ? result : NAN_F64;
}

ALULA_INLINE float alula_sin_f32(float x) {
  return finishF32(x, sinOfShort(reduceShort(x), 0));
}

ALULA_INLINE float alula_cos_f32(float x) {
  return finishF32(x, sinOfShort(reduceShort(x), 1));
}

ALULA_INLINE float alula_tan_f32(float x) {
  reducedShort angle = reduceShort(x);
  return finishF32(x, sinOfShort(angle, 0) / sinOfShort(angle, 1));
}

ALULA_INLINE double alula_sin_f64(double x) {
  double result = finishF64(x, sinOfF64(reduceF64(x), 0));
  return __builtin_fabs(x) < 0x1p-27 ? x : result;
}

ALULA_INLINE double alula_cos_f64(double x) {
  return finishF64(x, sinOfF64(reduceF64(x), 1));
}

ALULA_INLINE double alula_tan_f64(double x) {
  reducedF64 angle = reduceF64(x);
  pair sine = sinPair(angle.rest), cosine = cosPair(angle.rest);
  int odd = (int)(angle.quarters & 1);
  pair up = {odd ? -cosine.high : sine.high, odd ? -cosine.low : sine.low};
  pair down = {odd ? sine.high : cosine.high, odd ? sine.low : cosine.low};
  pair quotient = pairQuotient(up, down);
  double result = finishF64(x, quotient.high + quotient.low);
  return __builtin_fabs(x) < 0x1p-27 ? x : result;
}
