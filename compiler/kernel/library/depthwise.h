/* Convolutions whose channels have weights of their own and lie side by side.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row of outputs:
 *   to[x * to_place + c] = the sum over i < kernel_rows and j < kernel_columns
 * of from[(first_row + i * row_step) * from_row + (first_column + x * stride +
 * j * column_step) * from_place + c] * kernel[i * kernel_row + j * kernel_place
 * + c] for x < places and c < channels, where what is read is in one of `rows`
 * rows and `columns` columns; around them are zeros. Steps are positive,
 * distances in the kernel may be negative. */
#define ALULA_DEPTHWISE(type, T)                                               \
  void alula_depthwise_##type(                                                 \
      T *to, int64_t to_place, int64_t places, int64_t channels,               \
      const T *from, int64_t from_row, int64_t from_place, int64_t rows,       \
      int64_t columns, int64_t first_row, int64_t first_column,                \
      int64_t stride, int64_t row_step, int64_t column_step, const T *kernel,  \
      int64_t kernel_row, int64_t kernel_place, int64_t kernel_rows,           \
      int64_t kernel_columns);
ALULA_DEPTHWISE(f32, float)
ALULA_DEPTHWISE(f64, double)
#undef ALULA_DEPTHWISE

#ifdef __cplusplus
}
#endif
