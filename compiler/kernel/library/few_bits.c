// Matrices of integers of few bits as numbers.
//
// Four bits become a float by one look-up in a table of sixteen where the
// machine has vectors of as many floats: it reads the lowest bits of each lane.
// Lane l of a vector holds eight neighbours, so that what is summed of vector k
// is column 8 l + k: sums are put in order when they are added to c.
#include "compiler/kernel/library/few_bits.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/transpose.h"

#include <stddef.h>

#pragma STDC FP_CONTRACT ON

/* Columns that are summed at once, and lines until they are added to c. */
enum { STRIP = 128, VECTORS = STRIP / 16, LINES = 32 };

/* Neighbours along the sums that share a scale where rows are rounded, and that
 * columns have numbers for. */
enum { SHARED = 32 };

typedef float floats __attribute__((vector_size(64)));
typedef float loose_floats
    __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t lanes __attribute__((vector_size(64)));
typedef int32_t signed_lanes __attribute__((vector_size(64)));
typedef uint32_t loose_lanes
    __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint8_t bytes_16 __attribute__((vector_size(16)));
typedef uint8_t loose_bytes_16
    __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t signed_bytes_16 __attribute__((vector_size(16)));
typedef uint8_t loose_bytes_32
    __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t loose_double __attribute__((aligned(1), may_alias));
typedef double wide_lanes __attribute__((vector_size(64)));

/// Bytes of `count` integers.
#define BYTES_OF_i4(count) (((count) + 1) / 2)
#define BYTES_OF_ui4(count) (((count) + 1) / 2)
#define BYTES_OF_i8(count) (count)
#define BYTES_OF_ui8(count) (count)

INLINE int32_t get_i4(const uint8_t *w, int64_t i) {
  return (int32_t)((uint32_t)w[i / 2] << (i % 2 ? 24 : 28)) >> 28;
}
INLINE int32_t get_ui4(const uint8_t *w, int64_t i) {
  return w[i / 2] >> (i % 2 ? 4 : 0) & 15;
}
INLINE int32_t get_i8(const uint8_t *w, int64_t i) { return (int8_t)w[i]; }
INLINE int32_t get_ui8(const uint8_t *w, int64_t i) { return w[i]; }

/// The two integers of each byte, in order.
INLINE void split(bytes_16 *to, bytes_16 q) {
  bytes_16 low = q & 15, high = q >> 4;
  to[0] = __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                  5, 21, 6, 22, 7, 23);
  to[1] = __builtin_shufflevector(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                  28, 13, 29, 14, 30, 15, 31);
}

/// 32 integers from an even place on.
INLINE void read_ui4(bytes_16 *to, const uint8_t *w, int64_t i) {
  split(to, *(const loose_bytes_16 *)(w + i / 2));
}
INLINE void read_i4(bytes_16 *to, const uint8_t *w, int64_t i) {
  read_ui4(to, w, i);
  to[0] = (to[0] ^ 8) - 8;
  to[1] = (to[1] ^ 8) - 8;
}
#define WIDE_i4(x)                                                             \
  __builtin_convertvector(                                                     \
      __builtin_convertvector((signed_bytes_16)(x), signed_lanes), floats)
#define WIDE_ui4(x)                                                            \
  __builtin_convertvector(__builtin_convertvector(x, signed_lanes), floats)
#define WIDE_i8 WIDE_i4
#define WIDE_ui8 WIDE_ui4

#define SIGN_i4 1
#define SIGN_ui4 0
#define SIGN_i8 1
#define SIGN_ui8 0

INLINE floats make_table(int is_signed) {
  floats table;
  for (int i = 0; i < 16; ++i)
    table[i] = (float)(is_signed && i > 7 ? i - 16 : i);
  return table;
}

/// Sixteen neighbours from an even place on, as floats.
INLINE floats nibbles_in_order(const uint8_t *w, int is_signed, floats table) {
  typedef uint32_t loose_lane __attribute__((aligned(1), may_alias));
  lanes low = ((const loose_lane *)w)[0] - (lanes){0};
  lanes high = ((const loose_lane *)w)[1] - (lanes){0};
  lanes both = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 24,
                                       25, 26, 27, 28, 29, 30, 31);
  both >>= (lanes){0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
#if defined(__x86_64__)
  typedef int32_t indices __attribute__((vector_size(64)));
  if (alula_vector_bytes == 64)
    return (floats)__builtin_ia32_permvarsf512(table, (indices)both);
#endif
  (void)table;
  both &= 15;
  if (is_signed)
    both = (both ^ 8) - 8;
  return __builtin_convertvector((signed_lanes)both, floats);
}
#define SIXTEEN_i4(w, table) nibbles_in_order(w, 1, table)
#define SIXTEEN_ui4(w, table) nibbles_in_order(w, 0, table)
#define SIXTEEN_i8(w, table)                                                   \
  ((void)(table), WIDE_i8(*(const loose_bytes_16 *)(w)))
#define SIXTEEN_ui8(w, table)                                                  \
  ((void)(table), WIDE_ui8(*(const loose_bytes_16 *)(w)))

/// Whether vectors of 32 integers begin in the middle of a byte.
#define IS_ODD_i4(i) ((i) & 1)
#define IS_ODD_ui4(i) ((i) & 1)
#define IS_ODD_i8(i) 0
#define IS_ODD_ui8(i) 0

#define WIDEN(type)                                                            \
  /* A run of one line, times one number or as many as there are. */           \
  NOINLINE void run_##type(float *out, const uint8_t *w, int64_t first,        \
                           int64_t count, const float *scales, float scale) {  \
    floats table = make_table(SIGN_##type);                                    \
    int64_t i = 0;                                                             \
    if (IS_ODD_##type(first) && count) {                                       \
      out[0] = (float)get_##type(w, first) * (scales ? scales[0] : scale);     \
      i = 1;                                                                   \
    }                                                                          \
    AS_WRITTEN                                                                 \
    for (; i + 32 <= count; i += 32) {                                         \
      const uint8_t *from = w + BYTES_OF_##type(first + i);                    \
      for (int k = 0; k < 2; ++k) {                                            \
        floats x = SIXTEEN_##type(from + BYTES_OF_##type(16 * k), table);      \
        loose_floats *to = (loose_floats *)(out + i + 16 * k);                 \
        *to = scales ? x * *(const loose_floats *)(scales + i + 16 * k)        \
                     : x * scale;                                              \
      }                                                                        \
    }                                                                          \
    AS_WRITTEN                                                                 \
    for (; i < count; ++i)                                                     \
      out[i] = (float)get_##type(w, first + i) * (scales ? scales[i] : scale); \
  }                                                                            \
  void alula_widen_##type##_f32(                                               \
      float *out, int64_t out_line, const uint8_t *w, int64_t first,           \
      int64_t w_line, int64_t lines, int64_t length, const float *scale,       \
      int64_t scale_lines, int64_t scale_line, int64_t scale_run,              \
      int64_t scale_step) {                                                    \
    AS_WRITTEN                                                                 \
    for (int64_t l = 0; l < lines; ++l) {                                      \
      float *to = out + l * out_line;                                          \
      int64_t from = first + l * w_line;                                       \
      const float *of_line =                                                   \
          scale ? scale + l / scale_lines * scale_line : NULL;                 \
      if (of_line && scale_run == 1 && scale_step == 1) {                      \
        run_##type(to, w, from, length, of_line, 1);                           \
        continue;                                                              \
      }                                                                        \
      int64_t run = of_line && scale_step ? scale_run : length;                \
      AS_WRITTEN                                                               \
      for (int64_t i = 0; i < length; i += run) {                              \
        int64_t left = length - i < run ? length - i : run;                    \
        run_##type(to + i, w, from + i, left, NULL, of_line ? *of_line : 1);   \
        if (of_line)                                                           \
          of_line += scale_step;                                               \
      }                                                                        \
    }                                                                          \
  }
WIDEN(i4)
WIDEN(ui4)
WIDEN(i8)
WIDEN(ui8)

#define WIDEN_PANELS(type)                                                     \
  /* Panels side by side, as many as share lines of memory. */                 \
  INLINE void strip_of_panels_##type(                                          \
      float *out, int64_t out_panel, const uint8_t *from, int64_t line_bytes,  \
      int64_t lines, int64_t panels, const float *scale, int64_t scale_lines,  \
      int64_t scale_line, int64_t scale_step, floats table) {                  \
    floats scales[VECTORS];                                                    \
    for (int k = 0; k < VECTORS; ++k)                                          \
      scales[k] = 1 - (floats){0};                                             \
    int64_t until = 0;                                                         \
    AS_WRITTEN                                                                 \
    for (int64_t l = 0; l < lines; ++l, from += line_bytes, out += 32) {       \
      if (scale && l == until) {                                               \
        for (int k = 0; k < 2 * panels; ++k)                                   \
          scales[k] = scale_step ? ((const loose_floats *)scale)[k]            \
                                 : *scale - (floats){0};                       \
        until += scale_lines;                                                  \
        scale += scale_line;                                                   \
      }                                                                        \
      /* Lines are too far apart for the machine to expect them. */            \
      __builtin_prefetch(from + 16 * line_bytes);                              \
      for (int k = 0; k < 2 * panels; ++k)                                     \
        *(loose_floats *)(out + k / 2 * out_panel + k % 2 * 16) =              \
            SIXTEEN_##type(from + BYTES_OF_##type(16 * k), table) * scales[k]; \
    }                                                                          \
  }                                                                            \
  void alula_widen_panels_##type(                                              \
      float *out, int64_t out_panel, const uint8_t *w, int64_t first,          \
      int64_t w_line, int64_t lines, int64_t length, const float *scale,       \
      int64_t scale_lines, int64_t scale_line, int64_t scale_step) {           \
    floats table = make_table(SIGN_##type);                                    \
    int64_t line_bytes = BYTES_OF_##type(w_line);                              \
    w += BYTES_OF_##type(first);                                               \
    int64_t j = 0;                                                             \
    AS_WRITTEN                                                                 \
    for (; j + STRIP <= length; j += STRIP)                                    \
      strip_of_panels_##type(out + j / 32 * out_panel, out_panel,              \
                             w + BYTES_OF_##type(j), line_bytes, lines,        \
                             STRIP / 32,                                       \
                             scale ? scale + j * scale_step : NULL,            \
                             scale_lines, scale_line, scale_step, table);      \
    AS_WRITTEN                                                                 \
    for (; j + 32 <= length; j += 32)                                          \
      strip_of_panels_##type(out + j / 32 * out_panel, out_panel,              \
                             w + BYTES_OF_##type(j), line_bytes, lines, 1,     \
                             scale ? scale + j * scale_step : NULL,            \
                             scale_lines, scale_line, scale_step, table);      \
    AS_WRITTEN                                                                 \
    for (int64_t l = 0; j < length && l < lines; ++l) {                        \
      float *to = out + j / 32 * out_panel + l * 32;                           \
      const float *by =                                                        \
          scale ? scale + l / scale_lines * scale_line + j * scale_step        \
                : NULL;                                                        \
      AS_WRITTEN                                                               \
      for (int64_t i = 0; i < length - j; ++i)                                 \
        to[i] = (float)get_##type(w + l * line_bytes, j + i) *                 \
                (by ? by[i * scale_step] : 1);                                 \
    }                                                                          \
  }
WIDEN_PANELS(i4)
WIDEN_PANELS(ui4)
WIDEN_PANELS(i8)
WIDEN_PANELS(ui8)

#define WIDEN_TO_BYTES(type, wide)                                             \
  void alula_widen_##type##_##wide(                                            \
      uint8_t *out, int64_t out_line, const uint8_t *w, int64_t first,         \
      int64_t w_line, int64_t lines, int64_t length) {                         \
    AS_WRITTEN                                                                 \
    for (int64_t l = 0; l < lines; ++l, out += out_line, first += w_line) {    \
      int64_t i = 0;                                                           \
      if (IS_ODD_##type(first) && length) {                                    \
        out[0] = (uint8_t)get_##type(w, first);                                \
        i = 1;                                                                 \
      }                                                                        \
      AS_WRITTEN                                                               \
      for (; i + 32 <= length; i += 32) {                                      \
        bytes_16 codes[2];                                                     \
        read_##type(codes, w, first + i);                                      \
        ((loose_bytes_16 *)(out + i))[0] = codes[0];                           \
        ((loose_bytes_16 *)(out + i))[1] = codes[1];                           \
      }                                                                        \
      AS_WRITTEN                                                               \
      for (; i < length; ++i)                                                  \
        out[i] = (uint8_t)get_##type(w, first + i);                            \
    }                                                                          \
  }
WIDEN_TO_BYTES(i4, i8)
WIDEN_TO_BYTES(ui4, ui8)

/// Vector k of 128 neighbours of four bits: those at 8 l + k.
INLINE floats nibbles(lanes q, int k, int is_signed, floats table) {
#if defined(__x86_64__)
  typedef int32_t indices __attribute__((vector_size(64)));
  if (alula_vector_bytes == 64)
    return (floats)__builtin_ia32_permvarsf512(table, (indices)(q >> (4 * k)));
#endif
  (void)table;
  if (is_signed)
    return __builtin_convertvector((signed_lanes)(q << (28 - 4 * k)) >> 28,
                                   floats);
  return __builtin_convertvector((signed_lanes)(q >> (4 * k) & 15), floats);
}

#define READ_NIBBLES(is_signed)                                                \
  lanes q = *(const loose_lanes *)p;                                           \
  for (int k = 0; k < VECTORS; ++k)                                            \
    sums[k] += of_line * nibbles(q, k, is_signed, table);
#define READ_BYTES(wide)                                                       \
  for (int k = 0; k < vectors; ++k)                                            \
    sums[k] += of_line * wide(((const loose_bytes_16 *)p)[k]);
#define ADD_LINE_i4 READ_NIBBLES(1)
#define ADD_LINE_ui4 READ_NIBBLES(0)
#define ADD_LINE_i8 READ_BYTES(WIDE_i8)
#define ADD_LINE_ui8 READ_BYTES(WIDE_ui8)

/// Vectors of every eighth column → neighbours.
INLINE void put_in_order(floats *v) {
#define LOW(x, y)                                                              \
  __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,   \
                          22, 7, 23)
#define HIGH(x, y)                                                             \
  __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,  \
                          14, 30, 15, 31)
#define LOW_2(x, y)                                                            \
  (floats) __builtin_shufflevector((wide_lanes)x, (wide_lanes)y, 0, 8, 1, 9,   \
                                   2, 10, 3, 11)
#define HIGH_2(x, y)                                                           \
  (floats) __builtin_shufflevector((wide_lanes)x, (wide_lanes)y, 4, 12, 5, 13, \
                                   6, 14, 7, 15)
#define LOW_4(x, y)                                                            \
  __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20,    \
                          21, 22, 23)
#define HIGH_4(x, y)                                                           \
  __builtin_shufflevector(x, y, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15,  \
                          28, 29, 30, 31)
  floats pairs[8], fours[8];
  for (int k = 0; k < 4; ++k) {
    pairs[2 * k] = LOW(v[2 * k], v[2 * k + 1]);
    pairs[2 * k + 1] = HIGH(v[2 * k], v[2 * k + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    fours[4 * k] = LOW_2(pairs[4 * k], pairs[4 * k + 2]);
    fours[4 * k + 1] = HIGH_2(pairs[4 * k], pairs[4 * k + 2]);
    fours[4 * k + 2] = LOW_2(pairs[4 * k + 1], pairs[4 * k + 3]);
    fours[4 * k + 3] = HIGH_2(pairs[4 * k + 1], pairs[4 * k + 3]);
  }
  for (int k = 0; k < 4; ++k) {
    v[2 * k] = LOW_4(fours[k], fours[4 + k]);
    v[2 * k + 1] = HIGH_4(fours[k], fours[4 + k]);
  }
}
#define IN_ORDER_i4(sums) put_in_order(sums);
#define IN_ORDER_ui4(sums) put_in_order(sums);
#define IN_ORDER_i8(sums)
#define IN_ORDER_ui8(sums)

/* Columns of a strip that is read where it lies. */
#define WHOLE_i4 STRIP
#define WHOLE_ui4 STRIP
#define WHOLE_i8 16
#define WHOLE_ui8 16

#define PRODUCT_ROWS(type)                                                     \
  /* One strip of c, of which `columns` are there; `count` lines. */           \
  INLINE void strip_##type(float *c, const float *x, const uint8_t *p,         \
                           int64_t line_bytes, int64_t count, int64_t columns, \
                           const float *scale, int64_t scale_step,             \
                           int32_t add, floats table, int vectors) {           \
    (void)table;                                                               \
    floats sums[VECTORS];                                                      \
    for (int k = 0; k < vectors; ++k)                                          \
      sums[k] = (floats){0};                                                   \
    AS_WRITTEN                                                                 \
    for (int64_t l = 0; l < count; ++l, p += line_bytes) {                     \
      /* Lines are far apart: no machine expects the next piece. */            \
      __builtin_prefetch(p + LINES * line_bytes);                              \
      if (BYTES_OF_##type(16 * vectors) > 64)                                  \
        __builtin_prefetch(p + LINES * line_bytes + 64);                       \
      floats of_line = x[l] - (floats){0};                                     \
      ADD_LINE_##type                                                          \
    }                                                                          \
    IN_ORDER_##type(sums) float scales[STRIP], ends[STRIP];                    \
    const float *by = scale;                                                   \
    float *to = c;                                                             \
    if (columns < 16 * vectors) {                                              \
      for (int64_t j = 0; j < STRIP; ++j) {                                    \
        scales[j] = scale && j < columns ? scale[j * scale_step] : 0;          \
        ends[j] = add && j < columns ? c[j] : 0;                               \
      }                                                                        \
      by = scale ? scales : NULL;                                              \
      to = ends;                                                               \
    }                                                                          \
    for (int k = 0; k < vectors; ++k) {                                        \
      loose_floats *at = (loose_floats *)(to + 16 * k);                        \
      floats s = sums[k];                                                      \
      if (by && (scale_step || columns < 16 * vectors))                        \
        s *= *(const loose_floats *)(by + 16 * k);                             \
      else if (by)                                                             \
        s *= *by;                                                              \
      *at = add ? *at + s : s;                                                 \
    }                                                                          \
    AS_WRITTEN                                                                 \
    for (int64_t j = 0; columns < 16 * vectors && j < columns; ++j)            \
      c[j] = ends[j];                                                          \
  }                                                                            \
  void alula_product_rows_##type(                                              \
      float *c, int64_t c_row, const float *a, int64_t a_row,                  \
      int64_t a_column, int64_t rows, const uint8_t *w, int64_t first,         \
      int64_t w_line, int64_t depth, int64_t columns, const float *scale,      \
      int64_t scale_lines, int64_t scale_line, int64_t scale_step) {           \
    floats table = make_table(SIGN_##type);                                    \
    int64_t line_bytes = BYTES_OF_##type(w_line),                              \
            whole = columns & -WHOLE_##type;                                   \
    /* Scales of a few whole lines multiply the rows. */                       \
    int is_of_lines = scale && !scale_step && scale_lines < LINES;             \
    uint8_t ends[LINES][BYTES_OF_##type(STRIP)];                               \
    w += BYTES_OF_##type(first);                                               \
    int64_t l = 0;                                                             \
    AS_WRITTEN                                                                 \
    do {                                                                       \
      /* Lines of one scale. */                                                \
      int64_t count = depth - l < LINES ? depth - l : LINES;                   \
      const float *by = NULL;                                                  \
      if (scale && depth && !is_of_lines) {                                    \
        int64_t left = scale_lines - l % scale_lines;                          \
        count = count < left ? count : left;                                   \
        by = scale + l / scale_lines * scale_line;                             \
      }                                                                        \
      const uint8_t *lines = w + l * line_bytes;                               \
      /* The last columns, with as many bytes as a strip has. */               \
      int64_t rest = BYTES_OF_##type(columns - whole);                         \
      AS_WRITTEN                                                               \
      for (int64_t i = 0; rest && i < count; ++i) {                            \
        const uint8_t *from = lines + i * line_bytes + BYTES_OF_##type(whole); \
        int64_t b = 0;                                                         \
        AS_WRITTEN                                                             \
        for (; b + 8 <= rest; b += 8)                                          \
          *(loose_double *)(ends[i] + b) = *(const loose_double *)(from + b);  \
        AS_WRITTEN                                                             \
        for (; b < BYTES_OF_##type(STRIP); ++b)                                \
          ends[i][b] = b < rest ? from[b] : 0;                                 \
      }                                                                        \
      float x[LINES];                                                          \
      int64_t width;                                                           \
      AS_WRITTEN                                                               \
      for (int64_t j = 0; j < columns; j += width) {                           \
        int64_t left = columns - j;                                            \
        width = left >= STRIP ? STRIP                                          \
                : j == whole  ? left                                           \
                : left >= 64  ? 64                                             \
                              : 16;                                             \
        const float *here = by ? by + j * scale_step : NULL;                   \
        AS_WRITTEN                                                             \
        for (int64_t r = 0; r < rows; ++r) {                                   \
          AS_WRITTEN                                                           \
          for (int64_t i = 0; (j == 0 || rows > 1) && i < count; ++i) {        \
            x[i] = a[r * a_row + (l + i) * a_column];                          \
            if (is_of_lines)                                                   \
              x[i] *= scale[(l + i) / scale_lines * scale_line];               \
          }                                                                    \
          float *to = c + r * c_row + j;                                       \
          const uint8_t *from = lines + BYTES_OF_##type(j);                    \
          if (j == whole)                                                      \
            strip_##type(to, x, ends[0], sizeof ends[0], count, left, here,    \
                         scale_step, l > 0, table, VECTORS);                   \
          else if (width == STRIP)                                             \
            strip_##type(to, x, from, line_bytes, count, STRIP, here,          \
                         scale_step, l > 0, table, VECTORS);                   \
          else if (WHOLE_##type < STRIP && width == 64)                        \
            strip_##type(to, x, from, line_bytes, count, 64, here, scale_step, \
                         l > 0, table, 4);                                     \
          else if (WHOLE_##type < STRIP)                                       \
            strip_##type(to, x, from, line_bytes, count, 16, here, scale_step, \
                         l > 0, table, 1);                                     \
        }                                                                      \
      }                                                                        \
      l += count;                                                              \
    } while (l < depth);                                                       \
  }
PRODUCT_ROWS(i4)
PRODUCT_ROWS(ui4)
PRODUCT_ROWS(i8)
PRODUCT_ROWS(ui8)

#include "compiler/kernel/library/few_bits_columns.inc"

#include "compiler/kernel/library/few_bits_rounded.inc"

#include "compiler/kernel/library/few_bits_block.inc"

#include "compiler/kernel/library/few_bits_panels.inc"
