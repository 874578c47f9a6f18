/* Floats of at most 16 bits: f32 and f64 to the nearest code and back, ties to
 * even, in the formats of alula/dtype.h. Branch-free and always inlined.
 *
 *   float alula_decode_<type>(int32_t code)
 *   int32_t alula_encode_<type>(float x)
 *   int32_t alula_encode_<type>_f64(double x)     rounds once
 *
 * for bf16, f16, f8e4m3, f8e4m3fn, f8e4m3fnuz, f8e4m3b11fnuz, f8e5m2,
 * f8e5m2fnuz, f8e3m4, f8e8m0fnu, f6e2m3fn, f6e3m2fn, f4e2m1fn. Bits of `code`
 * above the type's are ignored; those of a result are zero.
 *
 * Too large a number becomes infinity, NaN where there is no infinity, the
 * largest number where there is no NaN either. There NaN becomes the zero of
 * the other sign. f8e8m0fnu has NaN for everything that is not positive. */
#pragma once

#include "alula/dtype.h"

#include <stdint.h>

/* The types by the names of their functions; f32 and f64 have none. */
#define ALULA_IF_SMALL_BF16(X, ...) X(bf16, __VA_ARGS__)
#define ALULA_IF_SMALL_F16(X, ...) X(f16, __VA_ARGS__)
#define ALULA_IF_SMALL_F32(X, ...)
#define ALULA_IF_SMALL_F64(X, ...)
#define ALULA_IF_SMALL_F8E4M3(X, ...) X(f8e4m3, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E4M3FN(X, ...) X(f8e4m3fn, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E4M3FNUZ(X, ...) X(f8e4m3fnuz, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E4M3B11FNUZ(X, ...) X(f8e4m3b11fnuz, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E5M2(X, ...) X(f8e5m2, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E5M2FNUZ(X, ...) X(f8e5m2fnuz, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E3M4(X, ...) X(f8e3m4, __VA_ARGS__)
#define ALULA_IF_SMALL_F8E8M0FNU(X, ...) X(f8e8m0fnu, __VA_ARGS__)
#define ALULA_IF_SMALL_F6E2M3FN(X, ...) X(f6e2m3fn, __VA_ARGS__)
#define ALULA_IF_SMALL_F6E3M2FN(X, ...) X(f6e3m2fn, __VA_ARGS__)
#define ALULA_IF_SMALL_F4E2M1FN(X, ...) X(f4e2m1fn, __VA_ARGS__)

#define ALULA_DECLARE(type, ...)                                               \
  float alula_decode_##type(int32_t code);                                     \
  int32_t alula_encode_##type(float x);                                        \
  int32_t alula_encode_##type##_f64(double x);
#define ALULA_EACH(NAME, ...) ALULA_IF_SMALL_##NAME(ALULA_DECLARE, )
ALULA_FOR_EACH_FLOAT_FORMAT(ALULA_EACH)
#undef ALULA_EACH
#undef ALULA_DECLARE
