/* Products of matrices of bf16 and of bytes, as kernels call them block by
 * block: like those of product.h, with sums that are wider than what is
 * multiplied. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Neighbours along the sums are multiplied at once: two of bf16, four bytes. A
 * panel of b has 32 columns of such groups, at most so many one below the
 * other; a side that does not lie as it is needed is copied so many rows at
 * once. */
enum {
  ALULA_NARROW_PANEL_COLUMNS = 32,
  ALULA_NARROW_PANEL_ROWS = 256,
  ALULA_NARROW_COPIED_ROWS = 256,
  ALULA_NARROW_COPIED_ROW_BYTES = 4 * ALULA_NARROW_PANEL_ROWS + 64,
  ALULA_NARROW_SUMMED_ROWS = 1024
};

static inline int64_t alula_product_narrow_scratch_bytes(void) {
  return 4 * ALULA_NARROW_PANEL_COLUMNS * ALULA_NARROW_PANEL_ROWS +
         ALULA_NARROW_COPIED_ROWS * ALULA_NARROW_COPIED_ROW_BYTES +
         4 * ALULA_NARROW_SUMMED_ROWS;
}

/* c = a b, or c += a b, as in product.h; all distances are in elements. Only
 * c and the sums are wider: f32 for bf16, whose products are exact, and integers
 * modulo 2^32 for bytes. `scratch` has alula_product_narrow_scratch_bytes,
 * aligned to 64.
 *
 * If b_panel is not 0, b lies in panels, so many of its elements from one to the
 * next, and b_row and b_column say nothing: rows of 32 columns, each a group of
 * neighbours along the sums; what the last row or panel has to spare is zero, or
 * what stands for it. A segment is a number of whole groups, and there are no
 * b_offsets.
 *
 * Bytes of panels have the sign that those of a lack: of others 128 is taken
 * away, or added, which is one bit.
 *
 * bf16: where the machine multiplies pairs (`alula_has_bf16_dot`), numbers below
 * the smallest normal one count as zero. */
void alula_product_bf16(float *c, int64_t c_group, int64_t c_row,
                        const uint16_t *a, int64_t a_group, int64_t a_row,
                        int64_t a_column, const int64_t *segment_offsets,
                        int64_t segments, int64_t depth, const uint16_t *b,
                        int64_t b_row, int64_t b_column, int64_t b_panel,
                        const int64_t *b_offsets, int64_t groups, int64_t m,
                        int64_t n, int32_t add, void *scratch);

/* a is signed in _i8, unsigned in _ui8; b is what it is told to be. */
void alula_product_i8(uint32_t *c, int64_t c_group, int64_t c_row,
                      const uint8_t *a, int64_t a_group, int64_t a_row,
                      int64_t a_column, const int64_t *segment_offsets,
                      int64_t segments, int64_t depth, const uint8_t *b,
                      int64_t b_row, int64_t b_column, int64_t b_panel,
                      const int64_t *b_offsets, int64_t groups, int64_t m,
                      int64_t n, int32_t add, int32_t b_is_unsigned, void *scratch);
void alula_product_ui8(uint32_t *c, int64_t c_group, int64_t c_row,
                       const uint8_t *a, int64_t a_group, int64_t a_row,
                       int64_t a_column, const int64_t *segment_offsets,
                       int64_t segments, int64_t depth, const uint8_t *b,
                       int64_t b_row, int64_t b_column, int64_t b_panel,
                       const int64_t *b_offsets, int64_t groups, int64_t m,
                       int64_t n, int32_t add, int32_t b_is_unsigned, void *scratch);

#ifdef __cplusplus
}
#endif
