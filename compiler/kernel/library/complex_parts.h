/* Complex numbers as two doubles: sizes, quotients, roots. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"

typedef struct complexF64 {
  double re, im;
} complexF64;

static inline int isFiniteF64(double x) {
  return __builtin_fabs(x) < INFINITY_F64;
}

static inline double largerF64(double a, double b) { return a > b ? a : b; }

/* The exponent of the larger part; between the denormals' and 1023. */
static inline int64_t exponentOf(complexF64 z) {
  double size = largerF64(__builtin_fabs(z.re), __builtin_fabs(z.im));
  int isSmall = size < 0x1p-1022;
  size = isSmall ? size * 0x1p54 : size;
  int64_t exponent = (int64_t)(bitsOfF64(size) >> 52 & 0x7ff) - 1023;
  exponent -= isSmall ? 54 : 0;
  return exponent > 1023 ? 1023 : exponent < -1074 ? -1074 : exponent;
}

static inline complexF64 scaleComplex(complexF64 z, int64_t n) {
  n = n > 2044 ? 2044 : n < -2044 ? -2044 : n;
  return (complexF64){scaleF64(z.re, n), scaleF64(z.im, n)};
}

/* The square of the size, of parts that are neither large nor small. */
static inline pair squareOf(complexF64 z) {
  return pairSum(productExact(z.re, z.re), productExact(z.im, z.im));
}

/* The size of such a number. */
static inline double rootOf(pair square) {
  double root = __builtin_sqrt(square.high);
  pair back = productExact(root, root);
  double rest = ((square.high - back.high) - back.low) + square.low;
  return square.high == 0 ? 0 : root + 0.5 * rest / root;
}

static inline double absF64(complexF64 z) {
  int64_t exponent = exponentOf(z);
  complexF64 near = scaleComplex(z, -exponent);
  double size = scaleF64(rootOf(squareOf(near)), exponent);
  size = z.re == 0 ? __builtin_fabs(z.im) : size;
  size = z.im == 0 ? __builtin_fabs(z.re) : size;
  int isInfinite = __builtin_fabs(z.re) == INFINITY_F64 ||
                   __builtin_fabs(z.im) == INFINITY_F64;
  return isInfinite ? INFINITY_F64 : size;
}

/* a * b + c * d with about one rounding. */
static inline double sumOfProducts(double a, double b, double c, double d) {
  pair sum = pairSum(productExact(a, b), productExact(c, d));
  return sum.high + sum.low;
}

static inline complexF64 multiplyF64(complexF64 a, complexF64 b) {
  return (complexF64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* What Annex G says of a quotient that came out as NaN. */
static inline complexF64 repairQuotient(complexF64 a, complexF64 b,
                                        complexF64 result) {
  int isNanA = a.re != a.re || a.im != a.im;
  int isInfiniteA = __builtin_fabs(a.re) == INFINITY_F64 ||
                    __builtin_fabs(a.im) == INFINITY_F64;
  int isInfiniteB = __builtin_fabs(b.re) == INFINITY_F64 ||
                    __builtin_fabs(b.im) == INFINITY_F64;
  if (b.re == 0 && b.im == 0 && !(a.re != a.re && a.im != a.im)) {
    double infinity = copySignF64(INFINITY_F64, b.re);
    return (complexF64){infinity * a.re, infinity * a.im};
  }
  if (isInfiniteA && isFiniteF64(b.re) && isFiniteF64(b.im)) {
    double x = copySignF64(__builtin_fabs(a.re) == INFINITY_F64, a.re);
    double y = copySignF64(__builtin_fabs(a.im) == INFINITY_F64, a.im);
    return (complexF64){INFINITY_F64 * (x * b.re + y * b.im),
                        INFINITY_F64 * (y * b.re - x * b.im)};
  }
  if (isInfiniteB && !isInfiniteA && !isNanA) {
    double x = copySignF64(__builtin_fabs(b.re) == INFINITY_F64, b.re);
    double y = copySignF64(__builtin_fabs(b.im) == INFINITY_F64, b.im);
    return (complexF64){0 * (a.re * x + a.im * y), 0 * (a.im * x - a.re * y)};
  }
  return result;
}

static inline complexF64 divideF64(complexF64 a, complexF64 b) {
  int64_t up = exponentOf(a), down = exponentOf(b);
  complexF64 x = scaleComplex(a, -up), y = scaleComplex(b, -down);
  pair square = squareOf(y);
  complexF64 result = {sumOfProducts(x.re, y.re, x.im, y.im) / square.high,
                       sumOfProducts(x.im, y.re, -x.re, y.im) / square.high};
  result = scaleComplex(result, up - down);
  if (result.re != result.re && result.im != result.im)
    return repairQuotient(a, b, result);
  return result;
}

/* The same for parts in f32: double has room for every product. */
static inline complexF64 divideShort(complexF64 a, complexF64 b) {
  double square = b.re * b.re + b.im * b.im;
  complexF64 result = {(a.re * b.re + a.im * b.im) / square,
                       (a.im * b.re - a.re * b.im) / square};
  if (result.re != result.re && result.im != result.im)
    return repairQuotient(a, b, result);
  return result;
}

/* The larger part of the square root of a number of that size, neither large
 * nor small. */
static inline double rootOfLarger(complexF64 z, double size) {
  return __builtin_sqrt(0.5 * (__builtin_fabs(z.re) + size));
}

/* The square root by the sizes of its parts. */
static inline complexF64 rootOfParts(complexF64 z, double main, double other) {
  int isLeft = z.re < 0;
  return (complexF64){isLeft ? other : main,
                      copySignF64(isLeft ? main : other, z.im)};
}

static inline complexF64 sqrtF64(complexF64 z) {
  if (z.re == 0 && z.im == 0)
    return (complexF64){0, z.im};
  if (__builtin_fabs(z.im) == INFINITY_F64)
    return (complexF64){INFINITY_F64, z.im};
  if (z.re == INFINITY_F64)
    return (complexF64){z.re, z.im != z.im ? z.im : copySignF64(0, z.im)};
  if (z.re == -INFINITY_F64)
    return (complexF64){z.im != z.im ? z.im : 0,
                        copySignF64(INFINITY_F64, z.im)};
  int64_t half = exponentOf(z) >> 1;
  complexF64 near = scaleComplex(z, -2 * half);
  double main = rootOfLarger(near, rootOf(squareOf(near)));
  main = scaleF64(main, half);
  // From z itself: of `near` the smaller part may have underflowed.
  return rootOfParts(z, main, __builtin_fabs(z.im) / (2 * main));
}

static inline complexF64 rsqrtF64(complexF64 z) {
  int isInfinite = __builtin_fabs(z.re) == INFINITY_F64 ||
                   __builtin_fabs(z.im) == INFINITY_F64;
  int isNan = z.re != z.re || z.im != z.im;
  if (z.re == 0 && z.im == 0)
    return (complexF64){INFINITY_F64, copySignF64(0, -z.im)};
  if (isInfinite)
    return (complexF64){0, isNan ? 0 : copySignF64(0, -z.im)};
  int64_t half = exponentOf(z) >> 1;
  complexF64 near = scaleComplex(z, -2 * half);
  double size = rootOf(squareOf(near));
  double main = rootOfLarger(near, size);
  // From z itself, as for the root; what is small is scaled before it loses
  // bits.
  double side = __builtin_fabs(z.im);
  int64_t up = side < 0x1p-600 ? 400 : 0;
  double other = side * powerOfTwoF64(up) / (2 * main * size);
  complexF64 root = rootOfParts(z, scaleF64(main / size, -half),
                                scaleF64(other, -3 * half - up));
  return (complexF64){root.re, -root.im};
}

static inline complexF64 signF64(complexF64 z) {
  if (z.re != z.re || z.im != z.im)
    return (complexF64){NAN_F64, NAN_F64};
  if (z.re == 0 && z.im == 0)
    return z;
  if (!isFiniteF64(z.re) || !isFiniteF64(z.im))
    return (complexF64){z.re / INFINITY_F64, z.im / INFINITY_F64};
  complexF64 near = scaleComplex(z, -exponentOf(z));
  double size = rootOf(squareOf(near));
  return (complexF64){near.re / size, near.im / size};
}
