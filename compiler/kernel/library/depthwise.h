/* Convolutions whose channels lie side by side, with weights of their own. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row of outputs, for x < places and c < channels:
 *   to[x * to_place + c] = the sum over i < kernel_rows, j < kernel_columns of
 *       from[r * from_row + p * from_place + c] *
 *       kernel[i * kernel_row + j * kernel_place + c]
 *   where r = first_row + i * row_step
 *         p = first_column + x * stride + j * column_step
 * Outside of 0 <= r < rows and 0 <= p < columns the input is zero. Steps are
 * positive, distances in the kernel may be negative. */
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
