/* Weights of an attention, for a tile of rows whose scores are in memory. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Row i has scores of keys at scores[i * line + j] for low <= j < high, and the
 * maximum of all of its scores at maxima[i]. */

/* weights[i * line + j] = exp(score - maximum); sums[i] = the sum of a row's
 * weights, before they are rounded. Weights of f32 lie where scores are.
 *
 * With `references` these are more keys of rows whose earlier ones had the
 * maxima references[i]: sums[i] is scaled to the new one and added to, values[i
 * * columns + j] is scaled, references[i] becomes the new maximum. Rows that
 * have had no key begin with -inf and zeros, as do those whose scores are all
 * -inf so far. */
#define ALULA_ATTENTION_WEIGH(type, T)                                         \
  void alula_attention_weigh_##type(                                           \
      const float *scores, T *weights, int64_t line, int64_t rows,             \
      int64_t low, int64_t high, const float *maxima, float *sums,             \
      float *references, float *values, int64_t columns);
ALULA_ATTENTION_WEIGH(f32, float)
ALULA_ATTENTION_WEIGH(bf16, uint16_t)
#undef ALULA_ATTENTION_WEIGH

/* Keys from 0 to low and from high to count have the score `hidden` in all
 * rows. Whether these count: 0 if their weights are zero in f32 and their
 * values finite, so that both products with them are zero; else 1, and their
 * scores have been written. Value j of key k is at
 * values[k * value_row + j * value_column]. */
#define ALULA_ATTENTION_SHOW(type, T)                                          \
  int64_t alula_attention_show_##type(                                         \
      float hidden, float *scores, int64_t line, int64_t rows, int64_t low,    \
      int64_t high, int64_t count, const float *maxima, const T *values,       \
      int64_t value_row, int64_t value_column, int64_t columns);
ALULA_ATTENTION_SHOW(f32, uint32_t)
ALULA_ATTENTION_SHOW(bf16, uint16_t)
#undef ALULA_ATTENTION_SHOW

/* Values added up, [row][column], divided by the sums of weights:
 * to[i * to_row + j * to_column] = values[i * columns + j] / sums[i]. */
#define ALULA_ATTENTION_FINISH(type, T)                                        \
  void alula_attention_finish_##type(T *to, int64_t to_row, int64_t to_column, \
                                     const float *values, const float *sums,   \
                                     int64_t rows, int64_t columns);
ALULA_ATTENTION_FINISH(f32, float)
ALULA_ATTENTION_FINISH(bf16, uint16_t)
#undef ALULA_ATTENTION_FINISH

#ifdef __cplusplus
}
#endif
