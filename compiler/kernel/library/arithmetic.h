/* The bricks of the math functions: bits of floats, products with one
 * rounding or none, sums and products of unevaluated pairs. */
#pragma once

#include "compiler/kernel/library/machine_facts.h"

#include <stdint.h>

#define INFINITY_F32 __builtin_inff()
#define INFINITY_F64 __builtin_inf()
#define NAN_F32 __builtin_nanf("")
#define NAN_F64 __builtin_nan("")

static inline uint32_t bitsOfF32(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t bitsOfF64(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float floatOfBits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double doubleOfBits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* a * b + c, rounded once or twice, whichever the machine is fast at. */
static inline float muladdf(float a, float b, float c) {
#pragma STDC FP_CONTRACT ON
  return a * b + c;
}

static inline double muladd(double a, double b, double c) {
#pragma STDC FP_CONTRACT ON
  return a * b + c;
}

/* 2^n for n in [-126, 127]. */
static inline float powerOfTwoF32(int32_t n) {
  return floatOfBits((uint32_t)(n + 127) << 23);
}

/* 2^n for n in [-1022, 1023]. */
static inline double powerOfTwoF64(int64_t n) {
  return doubleOfBits((uint64_t)(n + 1023) << 52);
}

/* x * 2^n for |n| <= 252, rounded once more only if the result is denormal. */
static inline float scaleF32(float x, int32_t n) {
  int32_t half = n >> 1;
  return x * powerOfTwoF32(half) * powerOfTwoF32(n - half);
}

/* The same for |n| <= 2044. */
static inline double scaleF64(double x, int64_t n) {
  int64_t half = n >> 1;
  return x * powerOfTwoF64(half) * powerOfTwoF64(n - half);
}

/* The same for 0 <= x < 2 where n is also known as a float. Machines with an
 * instruction for that get it here (compiler/target/cpu/select_scale.cpp),
 * others these bodies in exponential.c. */
float alula_scale_f32(float x, float n, int32_t integer);
double alula_scale_f64(double x, double n, int64_t integer);

/* The nearest integer as a float and as an integer, for |x| < 2^21 (f32) and
 * |x| < 2^50 (f64): adding the magic number leaves the integer in the low
 * bits. */
#define ROUND_MAGIC_F32 0x1.8p23f
#define ROUND_MAGIC_F64 0x1.8p52

static inline float roundF32(float x, int32_t *integer) {
  float shifted = x + ROUND_MAGIC_F32;
  *integer = (int32_t)(bitsOfF32(shifted) - 0x4b400000u);
  return shifted - ROUND_MAGIC_F32;
}

static inline double roundF64(double x, int64_t *integer) {
  double shifted = x + ROUND_MAGIC_F64;
  *integer = (int64_t)(bitsOfF64(shifted) - 0x4338000000000000u);
  return shifted - ROUND_MAGIC_F64;
}

/* An unevaluated sum: `low` is at most half a unit of `high`. */
typedef struct pair {
  double high, low;
} pair;

/* a + b exactly; |a| >= |b| or a == 0. */
static inline pair sumOrdered(double a, double b) {
  double sum = a + b;
  return (pair){sum, b - (sum - a)};
}

/* a + b exactly. */
static inline pair sumExact(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  return (pair){sum, (a - (sum - part)) + (b - part)};
}

/* The upper 26 bits; |x| < 2^996. */
static inline double upperHalf(double x) {
  double scaled = x * 0x1.0000002p27;
  return scaled - (scaled - x);
}

/* a * b exactly, unless it over- or underflows. */
static inline pair productExact(double a, double b) {
  double product = a * b;
  if (alula_has_fma)
    return (pair){product, __builtin_fma(a, b, -product)};
  double aUp = upperHalf(a), bUp = upperHalf(b);
  double aDown = a - aUp, bDown = b - bUp;
  double low =
      ((aUp * bUp - product) + aUp * bDown + aDown * bUp) + aDown * bDown;
  return (pair){product, low};
}

static inline pair pairSum(pair a, pair b) {
  pair sum = sumExact(a.high, b.high);
  return sumOrdered(sum.high, sum.low + (a.low + b.low));
}

static inline pair pairProduct(pair a, pair b) {
  pair product = productExact(a.high, b.high);
  product.low += muladd(a.high, b.low, a.low * b.high);
  return sumOrdered(product.high, product.low);
}

static inline pair pairTimes(pair a, double b) {
  pair product = productExact(a.high, b);
  product.low = muladd(a.low, b, product.low);
  return sumOrdered(product.high, product.low);
}

static inline pair pairQuotient(pair a, pair b) {
  double quotient = a.high / b.high;
  pair back = productExact(quotient, b.high);
  double rest = ((a.high - back.high) - back.low) + a.low - quotient * b.low;
  return sumOrdered(quotient, rest / b.high);
}

static inline float copySignF32(float size, float sign) {
  return floatOfBits((bitsOfF32(size) & 0x7fffffffu) |
                     (bitsOfF32(sign) & 0x80000000u));
}

static inline double copySignF64(double size, double sign) {
  return doubleOfBits((bitsOfF64(size) & 0x7fffffffffffffffu) |
                      (bitsOfF64(sign) & 0x8000000000000000u));
}
