/* Matrices of integers of few bits, each of which stands for itself times a
 * scale that neighbours share: the weights of quantized models. Kernels widen a
 * piece of them, or multiply one row by them as they lie. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lines of integers in another type:
 *   out[l * out_line + i] = w[first + l * w_line + i] * scale[s]
 *   s = l / scale_lines * scale_line + i / scale_run * scale_step
 * Distances are in elements. Two of four bits share a byte, the first one in
 * its lower bits. `scale` may be null: one. */
#define ALULA_WIDEN(type)                                                      \
  void alula_widen_##type##_f32(                                               \
      float *out, int64_t out_line, const uint8_t *w, int64_t first,           \
      int64_t w_line, int64_t lines, int64_t length, const float *scale,       \
      int64_t scale_lines, int64_t scale_line, int64_t scale_run,              \
      int64_t scale_step);
ALULA_WIDEN(i4)
ALULA_WIDEN(ui4)
ALULA_WIDEN(i8)
ALULA_WIDEN(ui8)
#undef ALULA_WIDEN

/* Lines that are rows of panels, as product.h reads them: columns i of 32 and
 * 32, so many elements from one to the next. out[i / 32 * out_panel + l * 32 +
 * i % 32] with a scale for each column or for all (scale_step: 1 or 0). Of four
 * bits, `first` and `w_line` are even. */
#define ALULA_WIDEN_PANELS(type)                                               \
  void alula_widen_panels_##type(                                              \
      float *out, int64_t out_panel, const uint8_t *w, int64_t first,          \
      int64_t w_line, int64_t lines, int64_t length, const float *scale,       \
      int64_t scale_lines, int64_t scale_line, int64_t scale_step);
ALULA_WIDEN_PANELS(i4)
ALULA_WIDEN_PANELS(ui4)
ALULA_WIDEN_PANELS(i8)
ALULA_WIDEN_PANELS(ui8)
#undef ALULA_WIDEN_PANELS

/* The same integers in bytes, of the same sign. */
void alula_widen_i4_i8(uint8_t *out, int64_t out_line, const uint8_t *w,
                       int64_t first, int64_t w_line, int64_t lines,
                       int64_t length);
void alula_widen_ui4_ui8(uint8_t *out, int64_t out_line, const uint8_t *w,
                         int64_t first, int64_t w_line, int64_t lines,
                         int64_t length);

/* Rows of a times a matrix whose rows are such lines, `depth` of them:
 *   c[r * c_row + j] = sum over l of a[r * a_row + l * a_column] * w[…] * scale
 * with a scale for each column or for all (scale_step: 1 or 0) of scale_lines
 * lines. What shares a scale is summed before it is multiplied. Of four bits,
 * `first` and `w_line` are even. */
#define ALULA_PRODUCT_ROWS(type)                                               \
  void alula_product_rows_##type(                                              \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t first,         \
      int64_t w_line, int64_t depth, int64_t columns, const float *scale,      \
      int64_t scale_lines, int64_t scale_line, int64_t scale_step);
ALULA_PRODUCT_ROWS(i4)
ALULA_PRODUCT_ROWS(ui4)
ALULA_PRODUCT_ROWS(i8)
ALULA_PRODUCT_ROWS(ui8)
#undef ALULA_PRODUCT_ROWS

/* Rows of a times a matrix whose columns are such lines, from `first_line` on:
 *   c[r * c_row + j] = sum over l of
 *     a[r * a_row + l * a_column] * w[i * w_line + l] * scale[s]
 *   i = first_line + j
 *   s = i / scale_lines * scale_line + l / scale_run * scale_step
 * If scale_step is not 0, scale_run is 32, 64 or a multiple of 128. Of four
 * bits, `w_line` is even. `scratch` has room for alula_columns_scratch floats.
 */
#define ALULA_PRODUCT_COLUMNS(type)                                            \
  void alula_product_columns_##type(                                           \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t first_line,    \
      int64_t w_line, int64_t depth, int64_t columns, const float *scale,      \
      int64_t scale_lines, int64_t scale_line, int64_t scale_run,              \
      int64_t scale_step, float *scratch);
ALULA_PRODUCT_COLUMNS(i4)
ALULA_PRODUCT_COLUMNS(ui4)
ALULA_PRODUCT_COLUMNS(i8)
ALULA_PRODUCT_COLUMNS(ui8)
#undef ALULA_PRODUCT_COLUMNS

/* The same products with rows of a rounded to bytes, with a scale for each 32
 * neighbours along the sums, whose largest magnitude is 127. `scratch` has room
 * for alula_rounded_scratch floats, aligned to 64. Where scales change along
 * the sums, scale_lines of rows is a multiple of 32. */
#define ALULA_ROUNDED(type)                                                    \
  void alula_rounded_rows_##type(                                              \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t first,         \
      int64_t w_line, int64_t depth, int64_t columns, const float *scale,      \
      int64_t scale_lines, int64_t scale_line, int64_t scale_step);            \
  void alula_rounded_columns_##type(                                           \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t first_line,    \
      int64_t w_line, int64_t depth, int64_t columns, const float *scale,      \
      int64_t scale_lines, int64_t scale_line, int64_t scale_run,              \
      int64_t scale_step, float *scratch);
ALULA_ROUNDED(i4)
ALULA_ROUNDED(ui4)
ALULA_ROUNDED(i8)
ALULA_ROUNDED(ui8)
#undef ALULA_ROUNDED

/* The same for many rows, which share what is made of the integers:
 *   c[r * c_row + j] = sum over l of
 *     a[r * a_row + l * a_column] * w[l * w_row + i * w_column] * scale[s]
 *   i = column + j
 *   s = l / row_span * row_step + i / column_span * column_step
 * w_row or w_column is 1; of four bits, `column` and the other one are even. If
 * row_step is not 0, row_span is a multiple of 32. `scratch` has room for
 * alula_block_scratch floats, aligned to 64. Fast where the machine multiplies
 * four bytes at once, in vectors of 64 bytes. */
#define ALULA_ROUNDED_BLOCK(type)                                              \
  void alula_rounded_block_##type(                                             \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t w_row,         \
      int64_t w_column, int64_t depth, int64_t column, int64_t columns,        \
      const float *scale, int64_t row_span, int64_t row_step,                  \
      int64_t column_span, int64_t column_step, float *scratch);
ALULA_ROUNDED_BLOCK(i4)
ALULA_ROUNDED_BLOCK(ui4)
ALULA_ROUNDED_BLOCK(i8)
ALULA_ROUNDED_BLOCK(ui8)
#undef ALULA_ROUNDED_BLOCK

/* Matrices in panels, as dispatch.from_panels has them: 32 columns each,
 * `w_panel` bytes from one to the next. A line of 128 bytes is 32 bits of each
 * column: eight terms of four bits, four of eight. Integers are moved up to be
 * unsigned, by 8 or 128. `columns` begin with a panel.
 *   c[r * c_row + j] = sum over l of a[r * a_row + l * a_column] * w[l, j] *
 *     scale[l / scale_lines * scale_line + j / 32 * scale_panel +
 *           j % 32 * scale_step]
 * or, where `zero` is not null, of (w[l, j] - zero[…]) * scale[…], whose
 * numbers are the same: floats, or bytes, all 32 of a panel. scale_step is 0
 * or 1. If scale_line is not 0, scale_lines is a multiple of what a line has
 * terms of, and of 32 where rows are rounded: `product` is for a few rows as
 * they are, `rounded` for a few that become bytes, `block` for many that do.
 * `scratch` has room for alula_panel_scratch floats, of a block for
 * alula_block_scratch, aligned to 64. */
enum { ALULA_ZERO_FLOATS, ALULA_ZERO_UNSIGNED, ALULA_ZERO_SIGNED };
#define ALULA_PANELS(type)                                                     \
  void alula_panel_product_##type(                                             \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t w_panel,       \
      int64_t depth, int64_t columns, const float *scale, int64_t scale_lines, \
      int64_t scale_line, int64_t scale_panel, int64_t scale_step,             \
      const void *zero, int64_t zero_kind, float *scratch);                    \
  void alula_panel_rounded_##type(                                             \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t w_panel,       \
      int64_t depth, int64_t columns, const float *scale, int64_t scale_lines, \
      int64_t scale_line, int64_t scale_panel, int64_t scale_step,             \
      const void *zero, int64_t zero_kind, float *scratch);                    \
  void alula_panel_block_##type(                                               \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t w_panel,       \
      int64_t depth, int64_t columns, const float *scale, int64_t scale_lines, \
      int64_t scale_line, int64_t scale_panel, int64_t scale_step,             \
      const void *zero, int64_t zero_kind, float *scratch);                    \
  /* Terms from `first` on, which begins a line, as product.h reads panels. */ \
  void alula_panel_widen_##type(                                               \
      float *out, int64_t out_panel, const uint8_t *w, int64_t w_panel,        \
      int64_t first, int64_t terms, int64_t columns, const float *scale,       \
      int64_t scale_lines, int64_t scale_line, int64_t scale_panel,            \
      int64_t scale_step, const void *zero, int64_t zero_kind);
ALULA_PANELS(i4)
ALULA_PANELS(ui4)
ALULA_PANELS(i8)
ALULA_PANELS(ui8)
#undef ALULA_PANELS

/* Terms and columns of a panel. */
enum { ALULA_BLOCK_TERMS = 512, ALULA_BLOCK_COLUMNS = 32 };

static inline int64_t alula_block_scratch(int64_t rows) {
  int64_t panel = 2 * ALULA_BLOCK_TERMS * ALULA_BLOCK_COLUMNS;
  int64_t shares = ALULA_BLOCK_TERMS / 32;
  return panel / 4 + 2 * shares * ALULA_BLOCK_COLUMNS +
         rows * (ALULA_BLOCK_TERMS / 4 + 3 * shares);
}
static inline int64_t alula_rounded_scratch(int64_t rows, int64_t depth) {
  return (rows * 68 + 16) * ((depth + 127) / 128);
}
static inline int64_t alula_panel_scratch(int64_t rows, int64_t depth) {
  return rows * ((depth + 31) & -32);
}
static inline int32_t alula_rounded_rows_fit(int64_t scale_lines,
                                             int64_t scale_line) {
  return scale_line == 0 || scale_lines % 32 == 0;
}
static inline int64_t alula_columns_scratch(int64_t rows, int64_t depth) {
  return (rows * 32 + 4) * (((depth + 127) & -128) / 32);
}
static inline int32_t alula_columns_fit(int64_t scale_run, int64_t scale_step) {
  return scale_step == 0 || scale_run == 32 || scale_run == 64 ||
         scale_run % 128 == 0;
}

#ifdef __cplusplus
}
#endif
