/* Functions of complex numbers: what StableHLO's elementwise ops mean, for
 * complex<f32> and complex<f64>. A number comes as its two parts; the parts of
 * the result go through two pointers, which may not alias. Infinities and NaN
 * follow C's Annex G, but for products, which are the textbook's. Nothing
 * overflows unless its result does. Parts of complex<f32> are off by at most 1
 * unit; of complex<f64> by a few units of the larger part (see
 * test_complex_math.py). complex<f64> functions are not always inlined. */
#pragma once

#include <stdint.h>

/* Size of the number, as C's hypot. */
float alula_abs_c64(float re, float im);
double alula_abs_c128(double re, double im);

#define ALULA_FOR_EACH_COMPLEX_UNARY(X)                                        \
  X(exp)                                                                       \
  X(expm1)                                                                     \
  X(log)                                                                       \
  X(log1p)                                                                     \
  X(logistic)                                                                  \
  X(sin)                                                                       \
  X(cos)                                                                       \
  X(tan)                                                                       \
  X(tanh)                                                                      \
  X(sqrt)                                                                      \
  X(rsqrt)                                                                     \
  X(cbrt)                                                                      \
  X(sign)

#define ALULA_FOR_EACH_COMPLEX_BINARY(X)                                       \
  X(multiply)                                                                  \
  X(divide)                                                                    \
  X(pow)                                                                       \
  X(atan2)

/* void alula_exp_c64(float re, float im, float *outRe, float *outIm) */
#define ALULA_DECLARE(name)                                                    \
  void alula_##name##_c64(float re, float im, float *outRe, float *outIm);     \
  void alula_##name##_c128(double re, double im, double *outRe, double *outIm);
ALULA_FOR_EACH_COMPLEX_UNARY(ALULA_DECLARE)
#undef ALULA_DECLARE

/* void alula_pow_c64(float aRe, float aIm, float bRe, float bIm, …) */
#define ALULA_DECLARE(name)                                                    \
  void alula_##name##_c64(float aRe, float aIm, float bRe, float bIm,          \
                          float *outRe, float *outIm);                         \
  void alula_##name##_c128(double aRe, double aIm, double bRe, double bIm,     \
                           double *outRe, double *outIm);
ALULA_FOR_EACH_COMPLEX_BINARY(ALULA_DECLARE)
#undef ALULA_DECLARE
