/* Products of matrices, as kernels call them block by block. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* b is read in panels of this many bytes, of at most so many rows and of so
 * many panels at once. */
enum { ALULA_PANEL_BYTES = 128, ALULA_PANEL_ROWS = 512, ALULA_PANELS = 8 };
/* How far they are apart in scratch: a line more than they need, since a cache
 * keeps few lines whose addresses differ by a power of two. */
enum { ALULA_PANEL_STEP = ALULA_PANEL_BYTES * ALULA_PANEL_ROWS + 64 };

static inline int64_t alula_product_scratch_bytes(int64_t bytes_of_row_of_b) {
  int64_t panels =
      (bytes_of_row_of_b + ALULA_PANEL_BYTES - 1) / ALULA_PANEL_BYTES;
  return ALULA_PANEL_STEP * (panels < ALULA_PANELS ? panels : ALULA_PANELS);
}

/* c = a b for a of (groups * m) by (segments * depth) and b of
 * (segments * depth) by n; with `add`, c += a b. Element (s, l) of row i of
 * group g of a is
 *   a[g * a_group + i * a_row + segment_offsets[s] + l * a_column];
 * without offsets there is one segment at a itself. Row s * depth + l of b is
 * at b[(s * depth + l) * b_row], its neighbours b_column apart; or, if b_panel
 * is not 0, b lies in panels, as wide as one here, b_panel apart: the row is at
 * b[(s * depth + l) * width] of each. Columns that are missing in the last one
 * are zero. With `b_offsets`, beside those of a, row s * depth + l is at
 * b[b_offsets[s] + l * b_row], or, in panels, at b[b_offsets[s] + l * width] of
 * each. Row i of group g of c is at c[g * c_group + i * c_row], its
 * neighbours at 1. Products are
 * added in an order that depends on the sizes only. `scratch` has
 * alula_product_scratch_bytes, or as many as for any longer row of b, aligned
 * to 64. Nothing overlaps. */
#define ALULA_PRODUCT(type, T)                                                 \
  void alula_product_##type(                                                   \
      T *c, int64_t c_group, int64_t c_row, const T *a, int64_t a_group,       \
      int64_t a_row, int64_t a_column, const int64_t *segment_offsets,         \
      int64_t segments, int64_t depth, const T *b, int64_t b_row,              \
      int64_t b_column, int64_t b_panel, const int64_t *b_offsets,             \
      int64_t groups, int64_t m, int64_t n, int32_t add, void *scratch);
ALULA_PRODUCT(f32, float)
ALULA_PRODUCT(f64, double)
/* Modulo 2^32 and 2^64. */
ALULA_PRODUCT(i32, uint32_t)
ALULA_PRODUCT(i64, uint64_t)
#undef ALULA_PRODUCT

#ifdef __cplusplus
}
#endif
