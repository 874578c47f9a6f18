// Products of matrices of bytes with sums modulo 2^32.
//
// Where the machine multiplies four bytes at once, those of one side are signed
// and those of the other are not; on aarch64 they are the same. If those of a
// product are otherwise, 128 is added to b or taken from it, which is one bit,
// and sums of rows of a correct that. Elsewhere bytes become pairs of 16 bits,
// on aarch64 numbers of 32, which are multiplied lane by lane.
#include "compiler/kernel/library/product_narrow_types.h"
#include "compiler/kernel/library/transpose.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TYPE bytes
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 1
#define WIDENS 1
#define PANELS_LIE 0
#define HAS_MATRICES 0
#define USES_MATRICES 0
#define CORRECTS 0
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y) NAME(add)(s, x, y)
#define LANE_DOT(s, y, x, i)                                                   \
  NAME(add)(s, __builtin_shufflevector(x, x, i, i, i, i), y)
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"
#define BY_MACHINE(CALL) CALL(16);
#include "compiler/kernel/library/product_narrow.inc"

#define TYPE i8
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 4
#define WIDENS 0
#define PANELS_LIE 0
#define HAS_MATRICES 1
#define USES_MATRICES alula_has_matrix_products
#define CORRECTS 1
#define IS_SIGNED 1
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y) (SUMS) vdotq_s32((int32x4_t)s, (int8x16_t)x, (int8x16_t)y)
#define LANE_DOT(s, y, x, i)                                                   \
  (SUMS) vdotq_laneq_s32((int32x4_t)s, (int8x16_t)y, (int8x16_t)x, i)
#define MATRIX_DOT(s, x, y)                                                    \
  (SUMS) vmmlaq_s32((int32x4_t)s, (int8x16_t)x, (int8x16_t)y)
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_matrix.inc"
#include "compiler/kernel/library/product_narrow_tile.inc"
#undef MATRIX_DOT
#define BY_MACHINE(CALL) CALL(16);
#include "compiler/kernel/library/product_narrow.inc"

#define TYPE ui8
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 4
#define WIDENS 0
#define PANELS_LIE 0
#define HAS_MATRICES 1
#define USES_MATRICES alula_has_matrix_products
#define CORRECTS 1
#define IS_SIGNED 0
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) vdotq_u32((uint32x4_t)s, (uint8x16_t)x, (uint8x16_t)y)
#define LANE_DOT(s, y, x, i)                                                   \
  (SUMS) vdotq_laneq_u32((uint32x4_t)s, (uint8x16_t)y, (uint8x16_t)x, i)
#define MATRIX_DOT(s, x, y)                                                    \
  (SUMS) vmmlaq_u32((uint32x4_t)s, (uint8x16_t)x, (uint8x16_t)y)
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_matrix.inc"
#include "compiler/kernel/library/product_narrow_tile.inc"
#undef MATRIX_DOT
#define BY_MACHINE(CALL) CALL(16);
#include "compiler/kernel/library/product_narrow.inc"

#define IF_FOURS(type) product_product_##type(&t);
#define HAS_FOURS alula_has_int8_dot
/* Bytes that are multiplied have one sign; those of panels never have it. */
#define MIXES_SIGNS 0
#define PANEL_FLIP 0x80808080
/* Of bytes as numbers of 32 bits. */
#define UNSIGNED_MASK 0xff
#define WIDE_FLIP 0x80808080
#define WIDE_BIAS 0x80

#else
#define TYPE bytes
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 2
#define WIDENS 1
#define PANELS_LIE 0
#define HAS_MATRICES 0
#define USES_MATRICES 0
#define CORRECTS 0
#include "compiler/kernel/library/product_narrow_pack.inc"

#if defined(__x86_64__)
typedef short halves_of_16 __attribute__((vector_size(16)));
typedef short halves_of_32 __attribute__((vector_size(32)));
typedef short halves_of_64 __attribute__((vector_size(64)));
#define PAIRS_16(x, y)                                                         \
  __builtin_ia32_pmaddwd128((halves_of_16)x, (halves_of_16)y)
#define PAIRS_32(x, y)                                                         \
  __builtin_ia32_pmaddwd256((halves_of_32)x, (halves_of_32)y)
#define PAIRS_64(x, y)                                                         \
  __builtin_ia32_pmaddwd512((halves_of_64)x, (halves_of_64)y)
#else
typedef int32_t signed_16 __attribute__((vector_size(16)));
typedef int32_t signed_32 __attribute__((vector_size(32)));
typedef int32_t signed_64 __attribute__((vector_size(64)));
#define PAIRS(type, x, y)                                                      \
  ((SUMS)((type)(x << 16) >> 16) * (SUMS)((type)(y << 16) >> 16) +             \
   (SUMS)((type)x >> 16) * (SUMS)((type)y >> 16))
#define PAIRS_16(x, y) PAIRS(signed_16, x, y)
#define PAIRS_32(x, y) PAIRS(signed_32, x, y)
#define PAIRS_64(x, y) PAIRS(signed_64, x, y)
#endif

#define DOT(s, x, y) s + (SUMS)PAIRS_16(x, y)
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"

#define DOT(s, x, y) s + (SUMS)PAIRS_32(x, y)
#define WAY 32
#define VECTOR_BYTES 32
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"

#define DOT(s, x, y) s + (SUMS)PAIRS_64(x, y)
#define WAY 64
#define VECTOR_BYTES 64
#define ROWS 8
#include "compiler/kernel/library/product_narrow_tile.inc"

#define BY_MACHINE(CALL)                                                       \
  if (alula_vector_bytes == 64) {                                              \
    CALL(64);                                                                  \
  } else if (alula_vector_bytes == 32) {                                       \
    CALL(32);                                                                  \
  } else {                                                                     \
    CALL(16);                                                                  \
  }
#include "compiler/kernel/library/product_narrow.inc"

#if defined(__x86_64__)
typedef int32_t fours_32 __attribute__((vector_size(32)));
typedef int32_t fours_64 __attribute__((vector_size(64)));
#define BY_FOURS(CALL)                                                         \
  if (alula_vector_bytes == 64) {                                              \
    CALL(fours_64);                                                            \
  } else {                                                                     \
    CALL(fours_32);                                                            \
  }

#define TYPE i8
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 4
#define WIDENS 0
#define PANELS_LIE 1
#define HAS_MATRICES 0
#define USES_MATRICES 0
#define CORRECTS 1
#define IS_SIGNED 1
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) __builtin_ia32_vpdpbusd256((fours_32)s, (fours_32)y, (fours_32)x)
#define WAY fours_32
#define VECTOR_BYTES 32
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) __builtin_ia32_vpdpbusd512((fours_64)s, (fours_64)y, (fours_64)x)
#define WAY fours_64
#define VECTOR_BYTES 64
#define ROWS 8
#include "compiler/kernel/library/product_narrow_tile.inc"
#define BY_MACHINE BY_FOURS
#include "compiler/kernel/library/product_narrow.inc"

#define TYPE ui8
#define SUM uint32_t
#define ELEMENT_BYTES 1
#define GROUP 4
#define WIDENS 0
#define PANELS_LIE 1
#define HAS_MATRICES 0
#define USES_MATRICES 0
#define CORRECTS 1
#define IS_SIGNED 0
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) __builtin_ia32_vpdpbusd256((fours_32)s, (fours_32)x, (fours_32)y)
#define WAY fours_32
#define VECTOR_BYTES 32
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) __builtin_ia32_vpdpbusd512((fours_64)s, (fours_64)x, (fours_64)y)
#define WAY fours_64
#define VECTOR_BYTES 64
#define ROWS 8
#include "compiler/kernel/library/product_narrow_tile.inc"
#define BY_MACHINE BY_FOURS
#include "compiler/kernel/library/product_narrow.inc"

#define IF_FOURS(type) product_product_##type(&t);
#define HAS_FOURS alula_has_int8_dot
#else
#define IF_FOURS(type)
#define HAS_FOURS 0
#endif
#define MIXES_SIGNS 1
#define PANEL_FLIP 0
#define UNSIGNED_MASK 0x00ff00ff
#define WIDE_FLIP 0x00800080
#define WIDE_BIAS 0x00800080
#endif

#define PRODUCT(type, is_signed)                                               \
  void alula_product_##type(uint32_t *c, int64_t c_group, int64_t c_row,       \
                            const uint8_t *a, int64_t a_group, int64_t a_row,  \
                            int64_t a_column, const int64_t *segment_offsets,  \
                            int64_t segments, int64_t depth, const uint8_t *b, \
                            int64_t b_row, int64_t b_column, int64_t b_panel,  \
                            const int64_t *b_offsets, int64_t groups,          \
                            int64_t m, int64_t n, int32_t add,                 \
                            int32_t b_is_unsigned, void *scratch) {            \
    task t = {                                                                 \
        .c = (char *)c,                                                        \
        .c_group = 4 * c_group,                                                \
        .c_row = 4 * c_row,                                                    \
        .a = (const char *)a,                                                  \
        .a_group = a_group,                                                    \
        .a_row = a_row,                                                        \
        .a_column = a_column,                                                  \
        .offsets = segment_offsets,                                            \
        .segments = segments,                                                  \
        .depth = depth,                                                        \
        .b = (const char *)b,                                                  \
        .b_row = b_row,                                                        \
        .b_column = b_column,                                                  \
        .b_panel = b_panel,                                                    \
        .b_offsets = b_offsets,                                                \
        .groups = groups,                                                      \
        .m = m,                                                                \
        .n = n,                                                                \
        .add = add,                                                            \
        .a_mask = ~0u,                                                         \
        .b_mask = ~0u,                                                         \
        .scratch = scratch,                                                    \
    };                                                                         \
    if (HAS_FOURS) {                                                           \
      t.panel_flip = PANEL_FLIP;                                               \
      if ((b_is_unsigned != is_signed) == MIXES_SIGNS) {                       \
        t.flip = 0x80808080;                                                   \
        t.correction = is_signed == MIXES_SIGNS ? (uint32_t)-128 : 128;        \
      }                                                                        \
      IF_FOURS(type)                                                           \
      return;                                                                  \
    }                                                                          \
    t.a_mask = is_signed ? ~0u : UNSIGNED_MASK;                                \
    t.b_mask = b_is_unsigned ? UNSIGNED_MASK : ~0u;                            \
    t.panel_flip = is_signed ? 0 : WIDE_FLIP;                                  \
    t.panel_bias = b_is_unsigned ? 0 : WIDE_BIAS;                              \
    product_product_bytes(&t);                                                 \
  }
PRODUCT(i8, 1)
PRODUCT(ui8, 0)
