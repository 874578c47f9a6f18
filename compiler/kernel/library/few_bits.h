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

#ifdef __cplusplus
}
#endif
