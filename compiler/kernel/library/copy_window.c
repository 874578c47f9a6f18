#include "compiler/kernel/library/copy_window.h"
#include "compiler/kernel/library/code_forms.h"

#define WIDE 64

typedef char wide __attribute__((vector_size(WIDE), aligned(1), may_alias));
typedef char word __attribute__((vector_size(8), aligned(1), may_alias));

INLINE void copy_bytes(char *to, const char *from, int64_t bytes) {
  int64_t i = 0;
  AS_WRITTEN
  for (; i + WIDE <= bytes; i += WIDE)
    *(wide *)(to + i) = *(const wide *)(from + i);
  /* The rest together with bytes that are there already. */
  if (bytes >= WIDE) {
    *(wide *)(to + bytes - WIDE) = *(const wide *)(from + bytes - WIDE);
    return;
  }
  AS_WRITTEN
  for (; i + 8 <= bytes; i += 8)
    *(word *)(to + i) = *(const word *)(from + i);
  AS_WRITTEN
  for (; i < bytes; ++i)
    to[i] = from[i];
}

INLINE void clear_bytes(char *to, int64_t bytes) {
  int64_t i = 0;
  AS_WRITTEN
  for (; i + WIDE <= bytes; i += WIDE)
    *(wide *)(to + i) = (wide){0};
  AS_WRITTEN
  for (; i < bytes; ++i)
    to[i] = 0;
}

INLINE int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

void alula_copy_window(char *to, int64_t rows, int64_t columns, int64_t bytes,
                       const char *from, int64_t from_row, int64_t from_column,
                       int64_t first_row, int64_t row_limit,
                       int64_t first_column, int64_t column_limit) {
  int64_t first = clamp(-first_column, 0, columns);
  int64_t last = clamp(column_limit - first_column, first, columns);
  AS_WRITTEN
  for (int64_t i = 0; i < rows; ++i, to += columns * bytes) {
    int64_t row = first_row + i;
    if (row < 0 || row >= row_limit) {
      clear_bytes(to, columns * bytes);
      continue;
    }
    clear_bytes(to, first * bytes);
    clear_bytes(to + last * bytes, (columns - last) * bytes);
    const char *source = from + row * from_row + first_column * from_column;
    if (from_column == bytes) {
      copy_bytes(to + first * bytes, source + first * bytes,
                 (last - first) * bytes);
      continue;
    }
    AS_WRITTEN
    for (int64_t j = first; j < last; ++j)
      copy_bytes(to + j * bytes, source + j * from_column, bytes);
  }
}
