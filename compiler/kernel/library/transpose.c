// Transposes: squares of eight by eight go through registers, in three rounds
// that exchange single elements, pairs and quads between rows.
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/transpose.h"

#define SIDE 8

#define ONES(a, b)                                                             \
  x = r##a, y = r##b;                                                          \
  r##a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);             \
  r##b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
#define PAIRS(a, b)                                                            \
  x = r##a, y = r##b;                                                          \
  r##a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);              \
  r##b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
#define QUADS(a, b)                                                            \
  x = r##a, y = r##b;                                                          \
  r##a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);              \
  r##b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);

#define LOAD(i) row r##i = *(const row *)(from + i * from_row)
#define STORE(i) *(row *)(to + i * to_row) = r##i

#define TRANSPOSE(bits)                                                        \
  typedef uint##bits##_t element_##bits;                                       \
  typedef element_##bits row_##bits                                            \
      __attribute__((vector_size(SIDE * bits / 8), aligned(bits / 8),          \
                     may_alias));                                              \
  static inline __attribute__((always_inline)) void square_##bits(             \
      element_##bits *to, int64_t to_row, const element_##bits *from,          \
      int64_t from_row) {                                                      \
    typedef row_##bits row;                                                    \
    LOAD(0); LOAD(1); LOAD(2); LOAD(3); LOAD(4); LOAD(5); LOAD(6); LOAD(7);    \
    row x, y;                                                                  \
    ONES(0, 1) ONES(2, 3) ONES(4, 5) ONES(6, 7)                                \
    PAIRS(0, 2) PAIRS(1, 3) PAIRS(4, 6) PAIRS(5, 7)                            \
    QUADS(0, 4) QUADS(1, 5) QUADS(2, 6) QUADS(3, 7)                            \
    STORE(0); STORE(1); STORE(2); STORE(3);                                    \
    STORE(4); STORE(5); STORE(6); STORE(7);                                    \
  }                                                                            \
  void alula_transpose_##bits(element_##bits *to, int64_t to_row,              \
                              const element_##bits *from, int64_t from_row,    \
                              int64_t rows, int64_t columns) {                 \
    int64_t whole_rows = rows & -SIDE, whole_columns = columns & -SIDE;        \
    AS_WRITTEN                                                                 \
    for (int64_t i = 0; i < whole_rows; i += SIDE)                             \
      AS_WRITTEN                                                               \
      for (int64_t j = 0; j < whole_columns; j += SIDE)                        \
        square_##bits(to + i * to_row + j, to_row, from + j * from_row + i,    \
                      from_row);                                               \
    AS_WRITTEN                                                                 \
    for (int64_t i = 0; i < rows; ++i)                                         \
      AS_WRITTEN                                                               \
      for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)   \
        to[i * to_row + j] = from[j * from_row + i];                           \
  }

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
