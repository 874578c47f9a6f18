/* Element types: the one list that compiler, runtime, tools and Python share.
 *
 * Buffers, constants and globals hold elements of 2 and 4 bits packed: four or
 * two to a byte, the first in the lowest bits, in row-major order, the unused
 * bits of the last byte zero. A 3x3xi4 takes 5 bytes. i1 and floats of 6 bits
 * take a byte each: i1 is 0 or 1, unused bits are zero.
 *
 * Arrays of the host (NumPy's, JAX's, what the tools read and print) have one
 * element of 2 or 4 bits to a byte: the value in the low bits, signed integers
 * sign-extended, other unused bits zero. `alula_dtype_pack` and
 * `alula_dtype_unpack` convert.
 *
 * Everything is little endian. A complex number is its real part, then its
 * imaginary part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Any number can come in where an enum is expected, so in C++ the enums have a
 * fixed type: no value of it is undefined behaviour. */
#ifndef ALULA_ENUM_TYPE
#ifdef __cplusplus
#define ALULA_ENUM_TYPE : unsigned
#else
#define ALULA_ENUM_TYPE
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, code, KIND, bits, bytes, "mlir name", "numpy name", pjrt)
 *
 * `code` is written into artifacts: never renumber, only append. Codes 2, 3, 8,
 * 9 and 28 were elements of 2 and 4 bits that took a byte each; nothing has
 * them any more. `bits` counts the value, `bytes` one element in an array of
 * the host. `pjrt` is the value of PJRT_Buffer_Type. The numpy name is what
 * `numpy.dtype(...)` takes, once ml_dtypes is imported for those that it adds;
 * a token has none. */
#define ALULA_FOR_EACH_DTYPE(X)                                                \
  X(I1, 1, BOOL, 1, 1, "i1", "bool", 1)                                        \
  X(I2, 32, INT, 2, 1, "i2", "int2", 24)                                       \
  X(I4, 33, INT, 4, 1, "i4", "int4", 21)                                       \
  X(I8, 4, INT, 8, 1, "i8", "int8", 2)                                         \
  X(I16, 5, INT, 16, 2, "i16", "int16", 3)                                     \
  X(I32, 6, INT, 32, 4, "i32", "int32", 4)                                     \
  X(I64, 7, INT, 64, 8, "i64", "int64", 5)                                     \
  X(UI2, 34, UINT, 2, 1, "ui2", "uint2", 25)                                   \
  X(UI4, 35, UINT, 4, 1, "ui4", "uint4", 22)                                   \
  X(UI8, 10, UINT, 8, 1, "ui8", "uint8", 6)                                    \
  X(UI16, 11, UINT, 16, 2, "ui16", "uint16", 7)                                \
  X(UI32, 12, UINT, 32, 4, "ui32", "uint32", 8)                                \
  X(UI64, 13, UINT, 64, 8, "ui64", "uint64", 9)                                \
  X(BF16, 14, FLOAT, 16, 2, "bf16", "bfloat16", 13)                            \
  X(F16, 15, FLOAT, 16, 2, "f16", "float16", 10)                               \
  X(F32, 16, FLOAT, 32, 4, "f32", "float32", 11)                               \
  X(F64, 17, FLOAT, 64, 8, "f64", "float64", 12)                               \
  X(F8E4M3, 18, FLOAT, 8, 1, "f8E4M3", "float8_e4m3", 26)                      \
  X(F8E4M3FN, 19, FLOAT, 8, 1, "f8E4M3FN", "float8_e4m3fn", 17)                \
  X(F8E4M3FNUZ, 20, FLOAT, 8, 1, "f8E4M3FNUZ", "float8_e4m3fnuz", 20)          \
  X(F8E4M3B11FNUZ, 21, FLOAT, 8, 1, "f8E4M3B11FNUZ", "float8_e4m3b11fnuz", 18) \
  X(F8E5M2, 22, FLOAT, 8, 1, "f8E5M2", "float8_e5m2", 16)                      \
  X(F8E5M2FNUZ, 23, FLOAT, 8, 1, "f8E5M2FNUZ", "float8_e5m2fnuz", 19)          \
  X(F8E3M4, 24, FLOAT, 8, 1, "f8E3M4", "float8_e3m4", 27)                      \
  X(F8E8M0FNU, 25, FLOAT, 8, 1, "f8E8M0FNU", "float8_e8m0fnu", 28)             \
  X(F6E2M3FN, 26, FLOAT, 6, 1, "f6E2M3FN", "float6_e2m3fn", 32)                \
  X(F6E3M2FN, 27, FLOAT, 6, 1, "f6E3M2FN", "float6_e3m2fn", 33)                \
  X(F4E2M1FN, 36, FLOAT, 4, 1, "f4E2M1FN", "float4_e2m1fn", 29)                \
  X(C64, 29, COMPLEX, 64, 8, "complex<f32>", "complex64", 14)                  \
  X(C128, 30, COMPLEX, 128, 16, "complex<f64>", "complex128", 15)              \
  X(TOKEN, 31, TOKEN, 0, 0, "token", "", 23)

/* X(NAME, exponent bits, stored mantissa bits, bias, SPECIALS): the layout of
 * the FLOAT kinds. SPECIALS says which codes are not numbers:
 *   IEEE    largest exponent: infinity and NaN
 *   FN      no infinity; NaN is all exponent and mantissa bits set
 *   FNUZ    no infinity, no negative zero; NaN is the code of negative zero
 *   E8M0    a power of two: no sign, no zero; NaN is all bits set
 *   FINITE  neither infinity nor NaN */
#define ALULA_FOR_EACH_FLOAT_FORMAT(X)                                         \
  X(BF16, 8, 7, 127, IEEE)                                                     \
  X(F16, 5, 10, 15, IEEE)                                                      \
  X(F32, 8, 23, 127, IEEE)                                                     \
  X(F64, 11, 52, 1023, IEEE)                                                   \
  X(F8E4M3, 4, 3, 7, IEEE)                                                     \
  X(F8E4M3FN, 4, 3, 7, FN)                                                     \
  X(F8E4M3FNUZ, 4, 3, 8, FNUZ)                                                 \
  X(F8E4M3B11FNUZ, 4, 3, 11, FNUZ)                                             \
  X(F8E5M2, 5, 2, 15, IEEE)                                                    \
  X(F8E5M2FNUZ, 5, 2, 16, FNUZ)                                                \
  X(F8E3M4, 3, 4, 3, IEEE)                                                     \
  X(F8E8M0FNU, 8, 0, 127, E8M0)                                                \
  X(F6E2M3FN, 2, 3, 1, FINITE)                                                 \
  X(F6E3M2FN, 3, 2, 3, FINITE)                                                 \
  X(F4E2M1FN, 2, 1, 1, FINITE)

/* The element types; 0 is none of them, and not every number up to
 * ALULA_DTYPE_LAST, the highest, is one. */
typedef enum alula_dtype ALULA_ENUM_TYPE {
  ALULA_DTYPE_INVALID = 0,
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  ALULA_DTYPE_##NAME = code,
  ALULA_FOR_EACH_DTYPE(X)
#undef X
      ALULA_DTYPE_LAST = ALULA_DTYPE_F4E2M1FN
} alula_dtype;

typedef enum alula_dtype_kind ALULA_ENUM_TYPE {
  ALULA_KIND_INVALID = 0,
  ALULA_KIND_BOOL,
  ALULA_KIND_INT,
  ALULA_KIND_UINT,
  ALULA_KIND_FLOAT,
  ALULA_KIND_COMPLEX,
  ALULA_KIND_TOKEN
} alula_dtype_kind;

typedef enum alula_float_specials ALULA_ENUM_TYPE {
  ALULA_FLOAT_IEEE,
  ALULA_FLOAT_FN,
  ALULA_FLOAT_FNUZ,
  ALULA_FLOAT_E8M0,
  ALULA_FLOAT_FINITE
} alula_float_specials;

/* The layout of one FLOAT kind; `sign_bits` is 0 for f8E8M0FNU, else 1. */
typedef struct alula_float_format {
  uint8_t sign_bits, exponent_bits, mantissa_bits;
  int16_t bias;
  alula_float_specials specials;
} alula_float_format;

/* Each function takes any integer as `type`: what is no element type gives 0,
 * ALULA_KIND_INVALID or NULL. */

static inline alula_dtype_kind alula_dtype_get_kind(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return ALULA_KIND_##KIND;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return ALULA_KIND_INVALID;
  }
}

/* Width of the value in bits: 1 for i1, 4 for i4, 64 for complex<f32>. */
static inline uint32_t alula_dtype_get_bits(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return bits;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return 0;
  }
}

/* Bytes of one element in an array of the host: 1 for anything below 8 bits, 0
 * for a token. In a buffer it's the bytes of one element that stands alone. */
static inline uint32_t alula_dtype_get_bytes(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return bytes;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return 0;
  }
}

/* How many elements share a byte of a buffer: 4 or 2 for elements of 2 or 4
 * bits, else 1. */
static inline uint32_t alula_dtype_get_packing(uint32_t type) {
  uint32_t bits = alula_dtype_get_bits(type);
  return bits == 2 || bits == 4 ? 8 / bits : 1;
}

/* Bytes in a buffer of elements that take `host_bytes` in an array of the host:
 * the same, unless they are packed. */
static inline uint64_t alula_dtype_get_packed_bytes(uint32_t type,
                                                    uint64_t host_bytes) {
  uint32_t packing = alula_dtype_get_packing(type);
  return host_bytes / packing + (host_bytes % packing != 0);
}

/* Copies `count` elements of an array of the host to the form that buffers
 * have, which is the same unless they are packed. Whatever the unused bits of
 * the array are, those of the result are zero. No overlap. */
static inline void alula_dtype_pack(uint32_t type, const void *host,
                                    void *packed, uint64_t count) {
  const uint8_t *from = (const uint8_t *)host;
  uint8_t *to = (uint8_t *)packed;
  uint32_t packing = alula_dtype_get_packing(type);
  uint32_t bits = 8 / packing;
  uint64_t i;
  if (packing == 1) {
    if (count)
      memcpy(to, from, (size_t)count * alula_dtype_get_bytes(type));
    return;
  }
  for (i = 0; i < count; ++i) {
    uint32_t place = (uint32_t)(i % packing) * bits;
    uint32_t code = (uint32_t)from[i] & ((1u << bits) - 1);
    uint32_t before = place ? to[i / packing] : 0;
    to[i / packing] = (uint8_t)(before | code << place);
  }
}

/* The other way: elements `first` to `first + count - 1` of a buffer, one to a
 * byte, signed integers sign-extended. No overlap. */
static inline void alula_dtype_unpack(uint32_t type, const void *packed,
                                      void *host, uint64_t first,
                                      uint64_t count) {
  const uint8_t *from = (const uint8_t *)packed;
  uint8_t *to = (uint8_t *)host;
  uint32_t packing = alula_dtype_get_packing(type);
  uint32_t bits = 8 / packing;
  uint32_t sign =
      alula_dtype_get_kind(type) == ALULA_KIND_INT ? 1u << (bits - 1) : 0;
  uint64_t i;
  if (packing == 1) {
    if (count)
      memcpy(to, from + (size_t)first * alula_dtype_get_bytes(type),
             (size_t)count * alula_dtype_get_bytes(type));
    return;
  }
  for (i = 0; i < count; ++i) {
    uint32_t place = (uint32_t)((first + i) % packing) * bits;
    uint32_t code = (uint32_t)from[(first + i) / packing] >> place;
    to[i] = (uint8_t)(((code & ((1u << bits) - 1)) ^ sign) - sign);
  }
}

/* MLIR's spelling: "f32", "ui8", "complex<f32>". */
static inline const char *alula_dtype_get_name(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return name;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return 0;
  }
}

/* numpy's spelling: "float32", "bfloat16"; "" for a token. */
static inline const char *alula_dtype_get_numpy_name(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return numpy;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return 0;
  }
}

/* The value of PJRT_Buffer_Type. */
static inline uint32_t alula_dtype_get_pjrt(uint32_t type) {
  switch (type) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case code:                                                                   \
    return pjrt;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return 0;
  }
}

/* The type with this PJRT_Buffer_Type, or ALULA_DTYPE_INVALID. PJRT's S1 and
 * U1 are not PRED and have no type here. */
static inline alula_dtype alula_dtype_from_pjrt(uint32_t pjrtType) {
  switch (pjrtType) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  case pjrt:                                                                   \
    return ALULA_DTYPE_##NAME;
    ALULA_FOR_EACH_DTYPE(X)
#undef X
  default:
    return ALULA_DTYPE_INVALID;
  }
}

/* The type with this MLIR name of `length` characters, or
 * ALULA_DTYPE_INVALID. */
static inline alula_dtype alula_dtype_from_name(const char *text,
                                                size_t length) {
#define X(NAME, code, KIND, bits, bytes, name, numpy, pjrt)                    \
  if (length == sizeof(name) - 1 && memcmp(text, name, length) == 0)           \
    return ALULA_DTYPE_##NAME;
  ALULA_FOR_EACH_DTYPE(X)
#undef X
  return ALULA_DTYPE_INVALID;
}

/* The layout of a FLOAT kind; false for any other type. */
static inline int alula_dtype_get_float_format(uint32_t type,
                                               alula_float_format *format) {
  switch (type) {
#define X(NAME, exponentBits, mantissaBits, biasValue, SPECIALS)               \
  case ALULA_DTYPE_##NAME:                                                     \
    format->sign_bits = ALULA_FLOAT_##SPECIALS != ALULA_FLOAT_E8M0;            \
    format->exponent_bits = exponentBits;                                      \
    format->mantissa_bits = mantissaBits;                                      \
    format->bias = biasValue;                                                  \
    format->specials = ALULA_FLOAT_##SPECIALS;                                 \
    return 1;
    ALULA_FOR_EACH_FLOAT_FORMAT(X)
#undef X
  default:
    return 0;
  }
}

#ifdef __cplusplus
} /* extern "C" */
#endif
