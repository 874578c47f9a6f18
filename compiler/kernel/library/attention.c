// Weights of an attention. The loops along a row are LLVM's to vectorize.
#include "compiler/kernel/library/attention.h"
#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/real_math.h"

#include <stddef.h>

/// exp is zero in f32 below -104.
#define VANISHING -110.0f

INLINE uint16_t round_bf16(float x) {
  uint32_t bits = bitsOfF32(x);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return (uint16_t)(x != x ? 0x7FC0 : rounded);
}

/// The sum of the weights of a row.
NOINLINE float weigh_row_f32(float *weights, int64_t count, float maximum) {
  float sum = 0;
  for (int64_t j = 0; j < count; ++j) {
#pragma clang fp reassociate(on)
    float weight = alula_exp_f32(weights[j] - maximum);
    weights[j] = weight;
    sum += weight;
  }
  return sum;
}

NOINLINE float weigh_row_bf16(const float *restrict scores,
                              uint16_t *restrict weights, int64_t count,
                              float maximum) {
  float sum = 0;
  for (int64_t j = 0; j < count; ++j) {
#pragma clang fp reassociate(on)
    float weight = alula_exp_f32(scores[j] - maximum);
    weights[j] = round_bf16(weight);
    sum += weight;
  }
  return sum;
}

/// Before a row of more keys is weighed: what its scores are compared to.
INLINE float begin_row(float maximum, float *reference) {
  // There may be keys yet that are not -inf.
  return reference && maximum == -__builtin_inff() ? 0 : maximum;
}

INLINE void end_row(float maximum, float compared, float sum, float *to,
                    float *reference, float *values, int64_t columns) {
  if (!reference) {
    *to = sum;
    return;
  }
  float factor = alula_exp_f32(*reference - compared);
  *reference = maximum;
  *to = *to * factor + sum;
  for (int64_t j = 0; j < columns; ++j)
    values[j] *= factor;
}

void alula_attention_weigh_f32(const float *scores, float *weights,
                               int64_t line, int64_t rows, int64_t low,
                               int64_t high, const float *maxima, float *sums,
                               float *references, float *values,
                               int64_t columns) {
  (void)scores; // They are where weights are written.
  AS_WRITTEN
  for (int64_t i = 0; i < rows; ++i) {
    float *reference = references ? references + i : NULL;
    float compared = begin_row(maxima[i], reference);
    float sum = weigh_row_f32(weights + i * line + low, high - low, compared);
    end_row(maxima[i], compared, sum, sums + i, reference, values + i * columns,
            columns);
  }
}

void alula_attention_weigh_bf16(const float *scores, uint16_t *weights,
                                int64_t line, int64_t rows, int64_t low,
                                int64_t high, const float *maxima, float *sums,
                                float *references, float *values,
                                int64_t columns) {
  AS_WRITTEN
  for (int64_t i = 0; i < rows; ++i) {
    float *reference = references ? references + i : NULL;
    float compared = begin_row(maxima[i], reference);
    int64_t first = i * line + low;
    float sum =
        weigh_row_bf16(scores + first, weights + first, high - low, compared);
    end_row(maxima[i], compared, sum, sums + i, reference, values + i * columns,
            columns);
  }
}

/// Whether a weight of the score is not zero in some row, or is no number.
INLINE int is_weighed(float hidden, const float *maxima, int64_t rows) {
  int weighed = 0;
  for (int64_t i = 0; i < rows; ++i)
    weighed |= !(hidden - maxima[i] < VANISHING);
  return weighed;
}

INLINE void write_hidden(float hidden, float *scores, int64_t line,
                         int64_t rows, int64_t low, int64_t high,
                         int64_t count) {
  AS_WRITTEN
  for (int64_t i = 0; i < rows; ++i, scores += line) {
    for (int64_t j = 0; j < low; ++j)
      scores[j] = hidden;
    for (int64_t j = high; j < count; ++j)
      scores[j] = hidden;
  }
}

/// Whether one of the numbers is infinite or none: all bits of its exponent are
/// set.
#define SHOW(type, T, EXPONENT)                                                \
  INLINE int has_bad_##type(const T *values, int64_t rows, int64_t row,        \
                            int64_t columns, int64_t column) {                 \
    T bad = 0;                                                                 \
    AS_WRITTEN                                                                 \
    for (int64_t k = 0; k < rows; ++k, values += row)                          \
      if (column == 1)                                                         \
        for (int64_t j = 0; j < columns; ++j)                                  \
          bad |= (T)((values[j] & EXPONENT) == EXPONENT);                      \
      else                                                                     \
        AS_WRITTEN                                                             \
    for (int64_t j = 0; j < columns; ++j)                                      \
      bad |= (T)((values[j * column] & EXPONENT) == EXPONENT);                 \
    return bad;                                                                \
  }                                                                            \
  int64_t alula_attention_show_##type(                                         \
      float hidden, float *scores, int64_t line, int64_t rows, int64_t low,    \
      int64_t high, int64_t count, const float *maxima, const T *values,       \
      int64_t value_row, int64_t value_column, int64_t columns) {              \
    if (high - low == count)                                                   \
      return 0;                                                                \
    if (!is_weighed(hidden, maxima, rows) &&                                   \
        !has_bad_##type(values, low, value_row, columns, value_column) &&      \
        !has_bad_##type(values + high * value_row, count - high, value_row,    \
                        columns, value_column))                                \
      return 0;                                                                \
    write_hidden(hidden, scores, line, rows, low, high, count);                \
    return 1;                                                                  \
  }
SHOW(f32, uint32_t, 0x7F800000)
SHOW(bf16, uint16_t, 0x7F80)

#define AS_IT_IS(x) x
#define FINISH(type, T, ROUND)                                                 \
  void alula_attention_finish_##type(                                          \
      T *restrict to, int64_t to_row, int64_t to_column,                       \
      const float *restrict values, const float *sums, int64_t rows,           \
      int64_t columns) {                                                       \
    AS_WRITTEN                                                                 \
    for (int64_t i = 0; i < rows; ++i, to += to_row, values += columns) {      \
      float sum = sums[i];                                                     \
      if (to_column == 1)                                                      \
        for (int64_t j = 0; j < columns; ++j)                                  \
          to[j] = ROUND(values[j] / sum);                                      \
      else                                                                     \
        AS_WRITTEN                                                             \
      for (int64_t j = 0; j < columns; ++j)                                    \
        to[j * to_column] = ROUND(values[j] / sum);                            \
    }                                                                          \
  }
FINISH(f32, float, AS_IT_IS)
FINISH(bf16, uint16_t, round_bf16)
