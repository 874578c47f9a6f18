/* Encodes and decodes every small float. */
#include "compiler/kernel/library/small_floats.h"
#include "compiler/kernel/library/encode_float.h"
#include "compiler/kernel/library/real_math.h"

#define DEFINE(type, exponentBits, mantissaBits, bias, specials)               \
  static const smallFloat type##Format = {exponentBits, mantissaBits, bias,    \
                                          specials};                           \
  ALULA_INLINE float alula_decode_##type(int32_t code) {                       \
    return decodeF32(type##Format, code);                                      \
  }                                                                            \
  ALULA_INLINE int32_t alula_encode_##type(float x) {                          \
    return encodeF32(type##Format, x);                                         \
  }                                                                            \
  ALULA_INLINE int32_t alula_encode_##type##_f64(double x) {                   \
    return encodeF64(type##Format, x);                                         \
  }
#define EACH(NAME, exponentBits, mantissaBits, bias, SPECIALS)                 \
  ALULA_IF_SMALL_##NAME(DEFINE, exponentBits, mantissaBits, bias,              \
                        ALULA_FLOAT_##SPECIALS)
ALULA_FOR_EACH_FLOAT_FORMAT(EACH)
