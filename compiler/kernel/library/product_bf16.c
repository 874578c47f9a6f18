// Products of matrices of bf16 with sums in f32.
//
// Panels of b hold pairs of rows: a vector of pairs meets a pair of a in one
// instruction where the machine has it; elsewhere both halves of pairs are
// widened to f32 where they are multiplied. On aarch64 they are multiplied as
// matrices, or widened when they are packed and multiplied lane by lane.
#include "compiler/kernel/library/product_narrow_types.h"
#include "compiler/kernel/library/transpose.h"

#pragma STDC FP_CONTRACT ON

#define SUM float
#define ELEMENT_BYTES 2
#define CORRECTS 0

#if defined(__aarch64__)
#include <arm_neon.h>

#define TYPE bf16
#define GROUP 1
#define WIDENS 1
#define PANELS_LIE 0
#define HAS_MATRICES 0
#define USES_MATRICES 0
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

#define SUM float
#define ELEMENT_BYTES 2
#define CORRECTS 0
#define TYPE bf16_pairs
#define GROUP 2
#define WIDENS 0
#define PANELS_LIE 0
#define HAS_MATRICES 1
#define USES_MATRICES 1
#include "compiler/kernel/library/product_narrow_pack.inc"
#define DOT(s, x, y)                                                           \
  (SUMS) vbfdotq_f32((float32x4_t)s, (bfloat16x8_t)x, (bfloat16x8_t)y)
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"
#define MATRIX_DOT(s, x, y)                                                    \
  (SUMS) vbfmmlaq_f32((float32x4_t)s, (bfloat16x8_t)x, (bfloat16x8_t)y)
#include "compiler/kernel/library/product_narrow_matrix.inc"
#undef MATRIX_DOT
#define BY_MACHINE(CALL) CALL(16);
#include "compiler/kernel/library/product_narrow.inc"
#define PRODUCT                                                                \
  if (alula_has_matrix_products)                                               \
    product_product_bf16_pairs(&t);                                            \
  else                                                                         \
    product_product_bf16(&t);

#else
#define TYPE bf16
#define GROUP 2
#define WIDENS 0
#define PANELS_LIE 1
#define HAS_MATRICES 0
#define USES_MATRICES 0
#include "compiler/kernel/library/product_narrow_pack.inc"

#define WIDE_DOT(s, x, y)                                                      \
  NAME(add)(NAME(add)(s, x << 16, y << 16), x & 0xffff0000u, y & 0xffff0000u)

#define DOT WIDE_DOT
#define WAY 16
#define VECTOR_BYTES 16
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"

#define DOT WIDE_DOT
#define WAY 32
#define VECTOR_BYTES 32
#define ROWS 4
#include "compiler/kernel/library/product_narrow_tile.inc"

#define DOT WIDE_DOT
#define WAY 64
#define VECTOR_BYTES 64
#define ROWS 8
#include "compiler/kernel/library/product_narrow_tile.inc"

#if defined(__x86_64__)
typedef __bf16 pairs __attribute__((vector_size(64)));
#define DOT(s, x, y) (SUMS) __builtin_ia32_dpbf16ps_512(s, (pairs)x, (pairs)y)
#define WAY pairs
#define VECTOR_BYTES 64
#define ROWS 8
#include "compiler/kernel/library/product_narrow_tile.inc"
#define HAS_PAIRS alula_has_bf16_dot
#define IF_PAIRS(call) call;
#else
#define HAS_PAIRS 0
#define IF_PAIRS(call)
#endif

#define BY_MACHINE(CALL)                                                       \
  if (HAS_PAIRS) {                                                             \
    IF_PAIRS(CALL(pairs))                                                      \
  } else if (alula_vector_bytes == 64) {                                       \
    CALL(64);                                                                  \
  } else if (alula_vector_bytes == 32) {                                       \
    CALL(32);                                                                  \
  } else {                                                                     \
    CALL(16);                                                                  \
  }
#include "compiler/kernel/library/product_narrow.inc"
#define PRODUCT product_product_bf16(&t);
#endif

void alula_product_bf16(float *c, int64_t c_group, int64_t c_row,
                        const uint16_t *a, int64_t a_group, int64_t a_row,
                        int64_t a_column, const int64_t *segment_offsets,
                        int64_t segments, int64_t depth, const uint16_t *b,
                        int64_t b_row, int64_t b_column, int64_t b_panel,
                        const int64_t *b_offsets, int64_t groups, int64_t m,
                        int64_t n, int32_t add, void *scratch) {
  task t = {
      .c = (char *)c,
      .c_group = 4 * c_group,
      .c_row = 4 * c_row,
      .a = (const char *)a,
      .a_group = 2 * a_group,
      .a_row = 2 * a_row,
      .a_column = 2 * a_column,
      .offsets = segment_offsets,
      .segments = segments,
      .depth = depth,
      .b = (const char *)b,
      .b_row = 2 * b_row,
      .b_column = 2 * b_column,
      .b_panel = 2 * b_panel,
      .b_offsets = b_offsets,
      .groups = groups,
      .m = m,
      .n = n,
      .add = add,
      .a_mask = ~0u,
      .b_mask = ~0u,
      .scratch = scratch,
  };
  PRODUCT
}
