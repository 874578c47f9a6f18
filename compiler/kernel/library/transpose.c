// Transposes: squares go through registers, in rounds that exchange single
// elements, pairs, quads and eights between rows.
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/transpose.h"

enum {
  /* Bytes that memory takes at once. */
  LINE = 64,
  /* Of each row, what a strip collects before it writes it. */
  COLLECTED = 256,
  /* Columns whose sources are fetched together, while those before them are
   * moved. */
  FETCHED = 16
};

typedef char line __attribute__((vector_size(LINE), may_alias));

/// Memory may take such lines in another order than others may see.
INLINE void finish_lines(void) {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

INLINE void copy_bytes(char *to, const char *from, int64_t begin, int64_t end) {
  AS_WRITTEN
  for (int64_t i = begin; i < end; ++i)
    to[i] = from[i];
}

INLINE int64_t get_phase(const void *pointer) {
  return (int64_t)((uintptr_t)pointer % LINE);
}

/// `size` bytes of a row to `to`. Where `to` is in its line, the row is in its
/// one; what does not fill the last line becomes the first one, if there is more
/// to come.
INLINE void put_row(char *to, char *row, int64_t size, int is_first,
                    int is_last) {
  int64_t phase = get_phase(to), end = phase + size, at = 0;
  to -= phase;
  row -= phase;
  if (is_first && phase) {
    copy_bytes(to, row, phase, end < LINE ? end : LINE);
    at = LINE;
  }
  AS_WRITTEN
  for (; at + LINE <= end; at += LINE)
    __builtin_nontemporal_store(*(const line *)(row + at), (line *)(to + at));
  if (is_last)
    copy_bytes(to, row, at, end);
  else if (at < end)
    *(line *)row = *(const line *)(row + at);
}

/* Lanes of the first and of the second of two rows, with each other's runs of
 * `n` in place of half of their own: of eight lanes, and of sixteen. */
#define FIRST_8_1 0, 8, 2, 10, 4, 12, 6, 14
#define SECOND_8_1 1, 9, 3, 11, 5, 13, 7, 15
#define FIRST_8_2 0, 1, 8, 9, 4, 5, 12, 13
#define SECOND_8_2 2, 3, 10, 11, 6, 7, 14, 15
#define FIRST_8_4 0, 1, 2, 3, 8, 9, 10, 11
#define SECOND_8_4 4, 5, 6, 7, 12, 13, 14, 15
#define FIRST_16_1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define SECOND_16_1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define FIRST_16_2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define SECOND_16_2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define FIRST_16_4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define SECOND_16_4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define FIRST_16_8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define SECOND_16_8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31

#define EXCHANGE(side, n)                                                      \
  UNROLLED                                                                     \
  for (int i = 0; i < side; ++i)                                               \
    if (!(i & n)) {                                                            \
      __typeof__(*r) x = r[i], y = r[i + n];                                   \
      r[i] = __builtin_shufflevector(x, y, FIRST_##side##_##n);                \
      r[i + n] = __builtin_shufflevector(x, y, SECOND_##side##_##n);           \
    }
#define EXCHANGE_8 EXCHANGE(8, 1) EXCHANGE(8, 2) EXCHANGE(8, 4)
#define EXCHANGE_16                                                            \
  EXCHANGE(16, 1) EXCHANGE(16, 2) EXCHANGE(16, 4) EXCHANGE(16, 8)

/* Squares of `side` rows and columns, through registers. */
#define SQUARE(side)                                                           \
  typedef ELEMENT LOCAL(row_##side)                                            \
      __attribute__((vector_size(side * BITS / 8), may_alias));                \
  typedef ELEMENT LOCAL(loose_##side) __attribute__((                          \
      vector_size(side * BITS / 8), aligned(BITS / 8), may_alias));            \
  INLINE void LOCAL(take_##side)(LOCAL(row_##side) * r, const ELEMENT *from,   \
                                 int64_t from_row) {                           \
    UNROLLED                                                                   \
    for (int k = 0; k < side; ++k)                                             \
      r[k] = *(const LOCAL(loose_##side) *)(from + k * from_row);              \
    EXCHANGE_##side                                                            \
  }                                                                            \
  INLINE void LOCAL(squares_##side)(                                           \
      ELEMENT * to, int64_t to_row, const ELEMENT *from, int64_t from_row,     \
      int64_t row, int64_t rows, int64_t column, int64_t columns) {            \
    AS_WRITTEN                                                                 \
    for (int64_t i = row; i < rows; i += side)                                 \
      AS_WRITTEN                                                               \
      for (int64_t j = column; j < columns; j += side) {                       \
        LOCAL(row_##side) r[side];                                             \
        LOCAL(take_##side)(r, from + j * from_row + i, from_row);              \
        UNROLLED                                                               \
        for (int k = 0; k < side; ++k)                                         \
          *(LOCAL(loose_##side) *)(to + (i + k) * to_row + j) = r[k];          \
      }                                                                        \
  }

// Lines are turned by an instruction that takes elements of two of them.
#if defined(__x86_64__)
typedef short shorts __attribute__((vector_size(LINE)));
typedef int ints __attribute__((vector_size(LINE)));
typedef long long longs __attribute__((vector_size(LINE)));
#endif

#define BITS 8
#define ELEMENT uint8_t
#include "compiler/kernel/library/transpose.inc"

#define BITS 16
#define ELEMENT uint16_t
#define SIDE 16
#define TAKE_LINES LOCAL(take_two)
#define TURN(x, index, y)                                                      \
  (LOCAL(line)) __builtin_ia32_vpermi2varhi512((shorts)x, (shorts)index,       \
                                               (shorts)y)
#include "compiler/kernel/library/transpose.inc"

#define BITS 32
#define ELEMENT uint32_t
#define SIDE 16
#define TAKE_LINES LOCAL(take_16)
#define TURN(x, index, y)                                                      \
  (LOCAL(line)) __builtin_ia32_vpermi2vard512((ints)x, (ints)index, (ints)y)
#include "compiler/kernel/library/transpose.inc"

#define BITS 64
#define ELEMENT uint64_t
#define SIDE 8
#define TAKE_LINES LOCAL(take_8)
#define TURN(x, index, y)                                                      \
  (LOCAL(line)) __builtin_ia32_vpermi2varq512((longs)x, (longs)index, (longs)y)
#include "compiler/kernel/library/transpose.inc"

typedef uint64_t two_words
    __attribute__((vector_size(16), aligned(8), may_alias));
#define BITS 128
#define ELEMENT two_words
#include "compiler/kernel/library/transpose.inc"
