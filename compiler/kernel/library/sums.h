/* Sums of the rows or of the columns of a matrix. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* Terms of an accumulator of a row, at most: rounding errors add up. */
  ALULA_SUM_TERMS = 128,
  /* Rows whose sum is added to an accumulator of a column. */
  ALULA_SUM_ROWS = 8,
  /* Columns that have more rows are sums of parts of so many. */
  ALULA_SUM_PART_ROWS = 4096,
  /* More columns are not read as one row with those of the next rows. */
  ALULA_SUM_NARROW = 127,
  /* Elements of `scratch` for so few. */
  ALULA_SUM_NARROW_SCRATCH = 2048,
};

/* For i < rows and j < columns; neighbours in a row lie side by side, rows are
 * `row` elements apart. The order of a sum is free; no accumulator of a
 * column has more than some hundred terms either.
 *   alula_sum_rows_<type>(to, from, row, rows, columns, initial)
 *       to[i] = initial + the sum of from[i * row + j] over j
 *   alula_sum_columns_<type>(to, from, row, rows, columns, initial, scratch)
 *       to[j] = initial + the sum of from[i * row + j] over i
 *       The nearest cache should hold `to`. `scratch` has room for
 *       ALULA_SUM_NARROW_SCRATCH elements if there are at most ALULA_SUM_NARROW
 *       columns, and for `columns` if there are more than ALULA_SUM_PART_ROWS
 *       rows. */
#define ALULA_SUM(type, T)                                                     \
  void alula_sum_rows_##type(T *to, const T *from, int64_t row, int64_t rows,  \
                             int64_t columns, T initial);                      \
  void alula_sum_columns_##type(T *to, const T *from, int64_t row,             \
                                int64_t rows, int64_t columns, T initial,      \
                                T *scratch);
ALULA_SUM(f32, float)
ALULA_SUM(f64, double)
#undef ALULA_SUM

#ifdef __cplusplus
}
#endif
