// What products of narrow numbers have in common, whatever the numbers are.
#pragma once

#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/coming.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/product_narrow.h"
#include "compiler/kernel/library/row_walk.h"

#include <stddef.h>

/* So few rows that packing takes longer than reading b as it lies. */
enum {
  FEW_ROWS = 3,
  /* Groups of rows of b that such rows take at once. */
  AT_ONCE = 2,
  COLUMNS = ALULA_NARROW_PANEL_COLUMNS,
  MAX_PIECES = 64
};

/* Neighbours along the sums, as they lie: the first one in the lowest bits. */
typedef uint32_t loose_group __attribute__((aligned(1), may_alias));
typedef uint16_t loose_half __attribute__((aligned(1), may_alias));
typedef uint64_t loose_double __attribute__((aligned(1), may_alias));
typedef uint32_t groups_4 __attribute__((vector_size(16)));
typedef uint32_t loose_groups_4
    __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t groups_16 __attribute__((vector_size(64), may_alias));
typedef uint32_t loose_groups_16
    __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint8_t bytes_32 __attribute__((vector_size(32)));
typedef uint8_t loose_bytes_32
    __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint8_t bytes_64 __attribute__((vector_size(64)));
typedef uint8_t loose_bytes_64
    __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint16_t halves_32 __attribute__((vector_size(64)));
typedef int8_t signed_bytes_32 __attribute__((vector_size(32)));
typedef int16_t signed_halves_32 __attribute__((vector_size(64)));

#define INTERLEAVE_LOW_32(x, y)                                                \
  __builtin_shufflevector(x, y, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6,   \
                          38, 7, 39, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, \
                          45, 14, 46, 15, 47)
#define INTERLEAVE_HIGH_32(x, y)                                               \
  __builtin_shufflevector(x, y, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21,    \
                          53, 22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27, 59,  \
                          28, 60, 29, 61, 30, 62, 31, 63)
#define INTERLEAVE_32(x, y)                                                    \
  __builtin_shufflevector(                                                     \
      x, y, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9,  \
      41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 16, 48, 17, 49, 18,  \
      50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27,  \
      59, 28, 60, 29, 61, 30, 62, 31, 63)

/* The same in each quarter of 64 bytes by itself, as machines like it best. */
#define QUARTER_8(i)                                                           \
  i, i + 64, i + 1, i + 65, i + 2, i + 66, i + 3, i + 67, i + 4, i + 68,       \
      i + 5, i + 69, i + 6, i + 70, i + 7, i + 71
#define QUARTER_16(i)                                                          \
  i, i + 32, i + 1, i + 33, i + 2, i + 34, i + 3, i + 35
#define LOW_OF_QUARTERS_8(x, y)                                                \
  __builtin_shufflevector(x, y, QUARTER_8(0), QUARTER_8(16), QUARTER_8(32),    \
                          QUARTER_8(48))
#define HIGH_OF_QUARTERS_8(x, y)                                               \
  __builtin_shufflevector(x, y, QUARTER_8(8), QUARTER_8(24), QUARTER_8(40),    \
                          QUARTER_8(56))
#define LOW_OF_QUARTERS_16(x, y)                                               \
  __builtin_shufflevector(x, y, QUARTER_16(0), QUARTER_16(8), QUARTER_16(16),  \
                          QUARTER_16(24))
#define HIGH_OF_QUARTERS_16(x, y)                                              \
  __builtin_shufflevector(x, y, QUARTER_16(4), QUARTER_16(12), QUARTER_16(20), \
                          QUARTER_16(28))

/* Exchanges quarter i of vector j and quarter j of vector i. */
INLINE void exchange_quarters(groups_16 *v) {
#define FIRST(x, y)                                                            \
  __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20,    \
                          21, 22, 23)
#define LAST(x, y)                                                             \
  __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27,  \
                          28, 29, 30, 31)
#define EVEN(x, y)                                                             \
  __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24,  \
                          25, 26, 27)
#define ODD(x, y)                                                              \
  __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23,    \
                          28, 29, 30, 31)
  groups_16 x0 = FIRST(v[0], v[1]), x1 = LAST(v[0], v[1]);
  groups_16 y0 = FIRST(v[2], v[3]), y1 = LAST(v[2], v[3]);
  v[0] = EVEN(x0, y0);
  v[1] = ODD(x0, y0);
  v[2] = EVEN(x1, y1);
  v[3] = ODD(x1, y1);
#undef FIRST
#undef LAST
#undef EVEN
#undef ODD
}

/* Rows of a panel that lie in one segment of a: where they begin in a row of a,
 * how many of its groups are whole, how many bytes of one more there are, and
 * the rows of b: which, how many, how many bytes from the first one. */
typedef struct piece {
  int64_t offset, whole, rest;
  int64_t b_first, b_count, b_offset;
} piece;

/* What is asked for, distances in bytes. */
typedef struct task {
  char *c;
  int64_t c_group, c_row;
  const char *a;
  int64_t a_group, a_row, a_column;
  const int64_t *offsets;
  int64_t segments, depth;
  const char *b;
  int64_t b_row, b_column;
  /* Not 0: b lies in panels, so many bytes apart. */
  int64_t b_panel;
  /* Where the rows of each segment are, in elements; null: one after the other. */
  const int64_t *b_offsets;
  int64_t groups, m, n;
  int32_t add;
  /* Bytes only. Bits of b that change where bytes of one sign stand for those
   * of the other, and what each sum of a row of a then counts for. */
  uint32_t flip, correction;
  /* Of bytes of panels that are widened: what is changed, then subtracted. */
  uint32_t panel_flip, panel_bias;
  /* Widened bytes keep these bits: all of signed ones. */
  uint32_t a_mask, b_mask;
  char *scratch;
} task;

/* Fewer bytes than a group has; the others are zero. */
INLINE uint32_t read_rest(const char *x, int64_t bytes) {
  uint32_t group = 0;
  if (bytes & 2)
    group = *(const loose_half *)x;
  if (bytes & 1)
    group |= (uint32_t)(uint8_t)x[bytes - 1] << (8 * (bytes - 1));
  return group;
}

INLINE void copy_bytes(char *to, const char *from, int64_t bytes) {
  int64_t i = 0;
  AS_WRITTEN
  for (; i + 32 <= bytes; i += 32)
    *(loose_bytes_32 *)(to + i) = *(const loose_bytes_32 *)(from + i);
  AS_WRITTEN
  for (; i + 8 <= bytes; i += 8)
    *(loose_double *)(to + i) = *(const loose_double *)(from + i);
  AS_WRITTEN
  for (; i < bytes; ++i)
    to[i] = from[i];
}
